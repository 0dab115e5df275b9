// The hall: the products in their order, the ladder of factorization kinds, and the verified answer.
#include "palmette/solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/columns_first.hpp"
#include "palmette/solver/complete_pattern.hpp"
#include "palmette/solver/inverse.hpp"
#include "palmette/solver/known_matrix.hpp"
#include "palmette/solver/team_on_demand.hpp"
#include "palmette/solver/timed_solve.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

/// The null space of one matrix, looked for when first somebody needs it.
template <class T>
class NullSpaceOnDemand {
 public:
  const NullSpace<T>& get(const SparseMatrix<T>& matrix, Symmetry symmetry, const ApplyInverse<T>& apply) {
    std::call_once(looked_for_, [&] { found_ = find_null_space(matrix, symmetry, apply); });
    return found_;
  }

 private:
  std::once_flag looked_for_;
  NullSpace<T> found_;
};

/// A matrix and what the phases before the solve have made of it: constant once made, replaced as a whole or
/// not at all.
template <class T>
struct Products {
  KnownMatrix<T> known;
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;   // null where `columns` factored
  std::shared_ptr<const PlanStructure> structure;   // of the solves, likewise
  std::shared_ptr<const ColumnFactor<T>> columns;   // null where supernodes did
  std::shared_ptr<const Inverse<T>> inverse;
  std::shared_ptr<NullSpaceOnDemand<T>> null_space;
  /// Where the pattern has no transversal: places that were filled for the factorization, which is then that
  /// of another matrix.
  std::vector<MatrixPlace> completion;
  Report report;

  std::shared_ptr<const SparseMatrix<T>> factored_matrix() const {
    return completion.empty() ? matrix_to_factor(known, kind) : completed(*known.matrix, completion);
  }
};

/// Factors below this many entries or bytes leave the memory figures of the process as good as unchanged.
constexpr offset_t bytes_worth_a_reading = 1 << 20;
std::int64_t known_resident_bytes(offset_t factor_entries) {
  return factor_entries < bytes_worth_a_reading / 16 ? recent_resident_memory_bytes()
                                                     : resident_memory_bytes();
}

/// Whether another factorization might give a better answer. Of a singular matrix none is verified, however
/// good it is.
bool asks_for_more(const Verification& verification) {
  if (!verification.singular_distance) return !verification.verified;
  return verification.least_squares_error.value_or(verification.backward_error) > verification.bound;
}

void check_same_pattern(const SparsityPattern& known, const SparsityPattern& given) {
  if (given.rows == known.rows && given.cols == known.cols && given.column_ptr == known.column_ptr &&
      given.row_index == known.row_index)
    return;
  throw UsageError("refactor needs the pattern that was analyzed (" + std::to_string(known.nnz()) +
                   " entries), this matrix has another (" + std::to_string(given.nnz()) +
                   " entries); make a new Solver for it");
}

}  // namespace

template <class T>
struct Solver<T>::State {
  const index_t n;
  const SolverOptions options;
  TeamOnDemand team;
  BandwidthMemory bandwidth;
  ProcessMutex memory_mutex;  // a structure that is only shown is factored without the writer's lock
  InverseMemory<T> memory;  // guarded by memory_mutex
  // one change of values or of kind at a time; solves go on with the products they have begun with
  ProcessMutex writer;

  State(index_t order, const SolverOptions& o)
      : n(order), options(o), team(o.threads), bandwidth(o.measure, o.cache_folder) {}

  std::shared_ptr<const Products<T>> products() const {
    const BriefLock lock(&products_);
    return products_;
  }
  void adopt(Products<T> made) {
    auto next = std::make_shared<const Products<T>>(std::move(made));
    const BriefLock lock(&products_);
    products_.swap(next);
  }

  void tell(std::string_view phase, double fraction) const {
    if (options.progress) options.progress(phase, fraction);
  }

  ScalarType factor_scalar() const {
    return options.mixed_precision ? ScalarTraits<with_precision_t<T, float>>::type : ScalarTraits<T>::type;
  }

  Outcome<Ordering> order_for(const SparseMatrix<T>& matrix, FactorKind kind) {
    tell("order", 0);
    OrderOptions order_options;
    order_options.method = options.ordering;
    order_options.pivot_need = pivot_need(kind);
    order_options.user = options.user_ordering;
    order_options.threads = team.size();
    Outcome<Ordering> found = order(matrix, order_options);
    tell("order", 1);
    return found;
  }

  void analyze_into(Products<T>& made) {
    tell("analyze", 0);
    const Stopwatch watch;
    AnalyzeOptions analyze_options = options.analyze;
    analyze_options.symmetric_pattern = made.completion.empty() && made.known.symmetry != Symmetry::general;
    made.symbolic = std::make_shared<const SymbolicFactor>(
        analyze(made.completion.empty() ? made.known.matrix->pattern : made.factored_matrix()->pattern,
                *made.ordering, analyze_options));
    AnalyzeReport analyzed;
    analyzed.seconds = watch.seconds();
    analyzed.nnz_factor = factor_entries(*made.symbolic, made.kind);
    analyzed.flops = factorization_flops(*made.symbolic, made.kind);
    analyzed.supernodes = made.symbolic->num_supernodes();
    const offset_t before = known_resident_bytes(made.symbolic->panel_entries());
    made.structure = plan_structure(made.symbolic, factor_scalar());
    analyzed.memory_bytes_predicted = predicted_peak_bytes(
        *made.symbolic, *made.structure, {made.kind, factor_scalar(), team.size(), 1, before});
    made.report.analyze = analyzed;
    tell("analyze", 1);
  }

  /// Factor `matrix`, that is made.factored_matrix(), with the ordering and structure in `made`.
  /// @param at_most  threads; 0: as the options say
  Outcome<void> factorize_into(Products<T>& made, const SparseMatrix<T>& matrix, int at_most = 0) {
    InverseOptions inverse_options;
    inverse_options.mixed_precision = options.mixed_precision;
    inverse_options.structure = made.structure;
    inverse_options.factorize.kind = made.kind;
    inverse_options.factorize.tiny_pivot = options.tiny_pivot;
    inverse_options.factorize.team =
        team.for_work(made.report.analyze->flops * (is_complex_v<T> ? 4 : 1) >= flops_worth_a_team, at_most);
    inverse_options.factorize.progress = options.progress;
    const bool left_behind = memory_mutex.lock();
    const std::lock_guard alone(memory_mutex, std::adopt_lock);
    // somebody factorizes in it, in the process that this one comes from
    if (left_behind) memory = InverseMemory<T>();
    auto inverse = make_inverse(matrix, made.symbolic, *made.ordering, inverse_options, memory);
    if (!inverse) return inverse.failure();
    made.inverse = std::move(inverse).value();
    const ThreadTeam* used = inverse_options.factorize.team;
    report_factor(made, used != nullptr ? used->size() : 1);
    return {};
  }

  static void report_factor(Products<T>& made, int threads) {
    FactorizeReport& factorized = made.report.factorize.emplace();
    made.null_space = std::make_shared<NullSpaceOnDemand<T>>();
    factorized.kind = made.kind;
    factorized.structural_deficiency = static_cast<index_t>(made.completion.size());
    factorized.scalar = made.inverse->factor_scalar();
    factorized.threads = threads;
    factorized.seconds = made.inverse->factor_seconds();
    const double real_flops = (is_complex_v<T> ? 4 : 1) * made.report.analyze->flops;
    factorized.gflops = factorized.seconds > 0 ? real_flops / factorized.seconds / 1e9 : 0;
    factorized.pivots = made.inverse->pivots();
    factorized.memory_bytes = made.inverse->factor_bytes();
    made.report.notes.clear();
    if (made.known.up_to_rounding() && made.kind != FactorKind::lu)
      made.report.notes.push_back(note_on_symmetry(made.known));
    if (factorized.pivots.perturbed > 0)
      made.report.notes.push_back(
          std::to_string(factorized.pivots.perturbed) +
          " tiny pivots were replaced; the first stands in column " +
          std::to_string(factorized.pivots.perturbed_columns.front() + 1) +
          (made.kind == FactorKind::ldlt ? "; the inertia counts them as zero, that is as undecided" : ""));
  }

  static std::string note_on_symmetry(const KnownMatrix<T>& known) {
    char part[32];
    std::snprintf(part, sizeof(part), "%.1e", known.asymmetry);
    const std::string turned = known.symmetry == Symmetry::hermitian ? "A^H" : "A^T";
    return std::string(name_of(known.symmetry)) + " up to rounding: |A - " + turned + "| <= " + part +
           " |A| in every entry; (A + " + turned + ") / 2 was factored, answers are verified against A";
  }

  static Products<T> begun(const KnownMatrix<T>& known, FactorKind kind) {
    Products<T> made;
    const SparseMatrix<T>& matrix = *known.matrix;
    made.report.matrix = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type, known.symmetry};
    made.report.version = version();
    made.known = known;
    made.kind = kind;
    return made;
  }

  /// Whatever the options ask for beyond the usual is the supernodes' business.
  bool leaves_the_way_open() const {
    AnalyzeOptions analyze_options = options.analyze;
    analyze_options.symmetric_pattern = false;  // set by the hall itself
    return options.ordering == OrderingMethod::automatic && options.method == SolveMethod::automatic &&
           !options.mixed_precision && options.tiny_pivot == 0 && analyze_options == AnalyzeOptions();
  }

  /// The way by columns; nothing where the factor is not thin or a pivot is doubtful: then supernodes go on
  /// from the beginning.
  std::optional<Products<T>> make_column_products(const KnownMatrix<T>& known, FactorKind kind) {
    const SparsityPattern& pattern = known.matrix->pattern;
    if (kind == FactorKind::ldlt || !leaves_the_way_open() || !may_be_thin(pattern)) return std::nullopt;
    tell("order", 0);
    const Stopwatch watch;
    std::optional<BlockOrdering> order = order_by_columns(pattern, kind == FactorKind::llt);
    if (!order || !is_thin(*order)) return std::nullopt;
    OrderReport ordered{order->dense ? OrderingMethod::natural : OrderingMethod::amd, false, watch.seconds()};
    tell("order", 1);
    std::optional<Products<T>> made(begun(known, kind));
    made->report.order = ordered;
    made->report.analyze.emplace().diagonal_blocks = order->num_blocks();
    if (!factorize_by_columns(*made, std::make_shared<const BlockOrdering>(std::move(*order))))
      return std::nullopt;
    return made;
  }

  /// @returns false where a pivot is doubtful
  bool factorize_by_columns(Products<T>& made, std::shared_ptr<const BlockOrdering> order) {
    tell("factorize", 0);
    const Stopwatch watch;
    const auto matrix = matrix_to_factor(made.known, made.kind);
    std::shared_ptr<const ColumnFactor<T>> factor;
    if (made.columns) factor = made.columns->refactor(*matrix);
    if (!factor) factor = ColumnFactor<T>::create(*matrix, std::move(order), made.kind);
    if (!factor) return false;
    made.columns = factor;
    AnalyzeReport& analyzed = *made.report.analyze;
    analyzed.nnz_factor = factor->entries();
    analyzed.flops = factor->flops();
    made.inverse = inverse_by_columns<T>(std::move(factor), watch.seconds());
    analyzed.memory_bytes_predicted =
        known_resident_bytes(analyzed.nnz_factor) + made.inverse->factor_bytes();
    report_factor(made, 1);
    tell("factorize", 1);
    return true;
  }

  Outcome<Products<T>> make_products(const KnownMatrix<T>& known, FactorKind kind) {
    Products<T> made = begun(known, kind);
    auto matrix = made.factored_matrix();
    Outcome<Ordering> found = order_for(*matrix, kind);
    if (!found && options.singular != SingularAnswer::raise &&
        options.kind.value_or(FactorKind::lu) == FactorKind::lu) {
      made.completion = places_to_complete(found.failure(), most_null_directions);
      if (!made.completion.empty()) {
        made.kind = FactorKind::lu;
        matrix = made.factored_matrix();
        found = order_for(*matrix, made.kind);
      }
    }
    if (!found) return found.failure();
    made.ordering = std::make_shared<const Ordering>(std::move(found).value());
    made.report.order = OrderReport{made.ordering->method, made.ordering->matched, made.ordering->seconds};
    analyze_into(made);
    const Outcome<void> factored = factorize_into(made, *matrix);
    if (!factored) return factored.failure();
    return made;
  }

  Outcome<void> adopt_if_made(Outcome<Products<T>> made, const std::string& note) {
    if (!made) return made.failure();
    if (!note.empty()) made.value().report.notes.push_back(note);
    adopt(std::move(made).value());
    return {};
  }

  Outcome<void> prepare_first(const KnownMatrix<T>& known) {
    // The matrix's symmetry has been looked for: general is certain here.
    const bool must_be_lu = !options.kind && known.symmetry == Symmetry::general;
    const FactorKind first =
        must_be_lu ? FactorKind::lu : choose_kind(*known.matrix, known.symmetry, options.kind);
    if (std::optional<Products<T>> thin = make_column_products(known, first)) {
      adopt(*std::move(thin));
      return {};
    }
    Outcome<Products<T>> made = make_products(known, first);
    const bool another_way = !options.kind && first == FactorKind::llt && !made &&
                             made.failure().kind == FailureKind::not_positive_definite;
    if (!another_way) return adopt_if_made(std::move(made), "");
    return adopt_if_made(make_products(known, FactorKind::ldlt),
                         "LDL' instead of LL': " + made.failure().message);
  }

  /// LDLᵀ could not be verified: pivots inside supernodes alone were too weak for this matrix.
  Outcome<void> change_to_lu() {
    const std::lock_guard alone(writer);
    const auto now = products();
    if (now->kind != FactorKind::ldlt) return {};  // another thread was here first
    return adopt_if_made(make_products(now->known, FactorKind::lu),
                         "LU instead of LDL': the answer of LDL' could not be verified");
  }

  /// The answer by columns could not be verified: matching, scaling and static pivoting may do better.
  Outcome<void> change_to_supernodes() {
    const std::lock_guard alone(writer);
    const auto now = products();
    if (!now->columns) return {};  // another thread was here first
    return adopt_if_made(make_products(now->known, now->kind),
                         "by supernodes: the answer by columns could not be verified");
  }

  /// The products of supernodes, for those who want to see structure and factor; made when first asked for.
  Outcome<std::shared_ptr<const Products<T>>> supernodal() {
    auto now = products();
    if (!now->columns) return now;
    const std::lock_guard alone(shown_mutex_);
    if (!shown_ || shown_->known.matrix != now->known.matrix) {
      Outcome<Products<T>> made = make_products(now->known, now->kind);
      if (!made) return made.failure();
      shown_ = std::make_shared<const Products<T>>(std::move(made).value());
    }
    return shown_;
  }

  Outcome<void> refactor(const KnownMatrix<T>& known, int at_most) {
    const std::lock_guard alone(writer);
    Products<T> made = *products();
    check_same_pattern(made.known.matrix->pattern, known.matrix->pattern);
    if (!kind_fits<T>(made.kind, known.symmetry))
      throw UsageError("refactor keeps the kind " + std::string(name_of(made.kind)) +
                       ", but the new values are " + std::string(name_of(known.symmetry)) +
                       "; make a new Solver for them");
    made.known = known;
    made.report.matrix.symmetry = known.symmetry;
    if (made.columns && !factorize_by_columns(made, made.columns->structure().order))
      return adopt_if_made(make_products(made.known, made.kind), "");
    const Outcome<void> factored =
        made.columns ? Outcome<void>() : factorize_into(made, *made.factored_matrix(), at_most);
    if (factored) adopt(std::move(made));
    return factored;
  }

  /// Null where `automatic` would leave the solve to one thread anyway: then no thread needs to be there.
  ThreadTeam* team_for_solve(const Inverse<T>& inverse, index_t num_rhs, int at_most) {
    const double sweeps = std::max(1.0, num_rhs / 4.0);
    return team.for_work(
        options.method != SolveMethod::automatic || inverse.cost(1).bytes * sweeps >= bytes_worth_a_team,
        at_most);
  }

  Outcome<Report> answer(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    const auto now = products();
    const Inverse<T>& inverse = *now->inverse;
    AnswerSource<T> source;
    source.matrix = now->known.matrix.get();
    source.apply = [&](Operation operation, DenseView<const T> in, DenseView<T> out) {
      return inverse.apply(operation, in, out,
                           {options.method, team_for_solve(inverse, in.cols, request.threads)});
    };
    source.cost = inverse.cost(b.cols);
    source.guarded_blocks = inverse.guarded_blocks();
    source.bandwidth = &bandwidth;
    source.small = inverse.factor_bytes() < bytes_worth_a_reading;
    source.mixed_precision = options.mixed_precision;
    source.factored = true;
    source.pivots_replaced = inverse.pivots().perturbed > 0 || !now->completion.empty();
    // Rounding leaves about so much of a pivot that should be zero; regular matrices in mixed units have
    // pivots that are larger, and small.
    source.has_weak_pivot =
        inverse.pivots().smallest_pivot <= 1e3 * unit_roundoff<T> * inverse.pivots().largest_pivot;
    source.singular = options.singular;
    source.null_space = [&](const ApplyInverse<T>& apply) -> const NullSpace<T>& {
      return now->null_space->get(*now->known.matrix, now->known.symmetry, apply);
    };
    tell("solve", 0);
    Outcome<Report> result = make_answer(source, now->report, b, x, request);
    tell("solve", 1);
    return result;
  }

 private:
  std::shared_ptr<const Products<T>> products_;  // under a brief lock
  ProcessMutex shown_mutex_;
  std::shared_ptr<const Products<T>> shown_;  // of the same matrix as products_, or of an earlier one
};

template <class T>
Solver<T>::Solver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
Solver<T>::Solver(Solver&&) noexcept = default;
template <class T>
Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;
template <class T>
Solver<T>::~Solver() = default;

template <class T>
Outcome<Solver<T>> Solver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                     const SolverOptions& options) {
  return with_memory_errors("out of memory while the matrix was ordered, analyzed or factorized",
                            [&]() -> Outcome<Solver<T>> {
                              check_system(matrix, options);
                              auto state = std::make_unique<State>(matrix->rows(), options);
                              const Outcome<void> made = state->prepare_first(know_matrix(std::move(matrix)));
                              if (!made) return made.failure();
                              return Solver(std::move(state));
                            });
}

template <class T>
Outcome<Report> Solver<T>::solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  return with_memory_errors("out of memory while a system was solved", [&]() -> Outcome<Report> {
    check_right_hand_sides(size(), b, x);
    check_threads(request.threads);
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
    Outcome<Report> answer = state_->answer(rhs, x, request);
    if (answer && asks_for_more(*answer.value().verify) && request.max_refine_steps != 0 &&
        state_->products()->columns) {
      const Outcome<void> made = state_->change_to_supernodes();
      if (made) answer = state_->answer(rhs, x, request);
      else
        answer.value().notes.push_back("supernodes were tried as well and failed: " + made.failure().message);
    }
    const bool try_lu = answer && asks_for_more(*answer.value().verify) && request.max_refine_steps != 0 &&
                        !state_->options.kind && answer.value().factorize->kind == FactorKind::ldlt;
    if (!try_lu) return answer;
    const Outcome<void> made = state_->change_to_lu();
    if (made) return state_->answer(rhs, x, request);
    answer.value().notes.push_back("LU was tried as well and failed: " + made.failure().message);
    return answer;
  });
}

template <class T>
Outcome<void> Solver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix, int threads) {
  return with_memory_errors("out of memory while new values were factorized", [&]() -> Outcome<void> {
    check_threads(threads);
    check_system(matrix, state_->options);
    return state_->refactor(know_matrix(std::move(matrix)), threads);
  });
}

template <class T>
Outcome<void> Solver<T>::refactor_values(std::vector<T> values, int threads) {
  const SparsityPattern& pattern = state_->products()->known.matrix->pattern;
  if (static_cast<offset_t>(values.size()) != pattern.nnz())
    throw DimensionError("there are " + std::to_string(values.size()) + " values, but the matrix has " +
                         std::to_string(pattern.nnz()) + " entries");
  return refactor(std::make_shared<const SparseMatrix<T>>(SparseMatrix<T>{pattern, std::move(values)}),
                  threads);
}

template <class T>
index_t Solver<T>::size() const {
  return state_->n;
}
template <class T>
std::shared_ptr<const SparseMatrix<T>> Solver<T>::matrix() const {
  return state_->products()->known.matrix;
}
template <class T>
Report Solver<T>::report() const {
  return state_->products()->report;
}
template <class T>
std::shared_ptr<const SymbolicFactor> Solver<T>::symbolic() const {
  return state_->supernodal().value()->symbolic;
}
template <class T>
std::pair<std::complex<double>, double> Solver<T>::slogdet() const {
  const auto now = state_->products();
  const PivotReport& pivots = now->inverse->pivots();
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia Solver<T>::inertia() const {
  const auto now = state_->products();
  if (now->kind == FactorKind::lu)
    throw UsageError("LU gives no inertia; factorize a symmetric matrix with kind ldlt");
  if (is_complex_v<T> && !now->inverse->hermitian())
    throw UsageError("a complex symmetric matrix has no inertia: its eigenvalues are not real");
  return now->inverse->pivots().inertia;
}
template <class T>
void Solver<T>::solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x) const {
  with_memory_errors("out of memory while a system was solved with one factor", [&] {
    check_right_hand_sides(size(), b, x);
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const std::shared_ptr<const Products<T>> now = state_->supernodal().value();
    const Inverse<T>& inverse = *now->inverse;
    inverse.solve_part(part, operation, kept.values.empty() ? b : kept.view(), x,
                       {state_->options.method, state_->team_for_solve(inverse, b.cols, 0)});
  });
}
template <class T>
std::shared_ptr<const Factor<T>> Solver<T>::factor() const {
  std::shared_ptr<const Factor<T>> factor = state_->supernodal().value()->inverse->factor();
  if (!factor) throw UsageError("in mixed precision there is no factor in working precision");
  return factor;
}

#define PALMETTE_INSTANTIATE(T) template class Solver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
