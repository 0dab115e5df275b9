// The hall: the products in their order, the ladder of factorization kinds, and the verified answer.
#include "palmette/solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <shared_mutex>

#include "palmette/solver/inverse.hpp"
#include "palmette/solver/timed_solve.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

template <class T>
bool has_positive_diagonal(const SparseMatrix<T>& matrix) {
  for (index_t j = 0; j < matrix.cols(); ++j) {
    const auto rows = matrix.pattern.column(j);
    const auto place = std::lower_bound(rows.begin(), rows.end(), j);
    if (place == rows.end() || *place != j) return false;
    const T value = matrix.values[matrix.pattern.column_ptr[j] + (place - rows.begin())];
    if (!(std::real(value) > 0) || std::imag(value) != 0) return false;
  }
  return true;
}

/// LLᵀ needs A = Aᴴ; LDLᵀ needs A = Aᵀ or A = Aᴴ.
template <class T>
bool kind_fits(FactorKind kind, Symmetry symmetry) {
  if (kind == FactorKind::lu) return true;
  if (symmetry == Symmetry::hermitian) return true;
  if (symmetry != Symmetry::symmetric) return false;
  return kind == FactorKind::ldlt || !is_complex_v<T>;
}

template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, const std::optional<FactorKind>& wanted) {
  if (wanted) {
    if (!kind_fits<T>(*wanted, matrix.symmetry))
      throw UsageError("a factorization of kind " + std::string(name_of(*wanted)) + " needs a " +
                       (is_complex_v<T> && *wanted == FactorKind::llt ? "Hermitian" : "symmetric") +
                       " matrix, this one is " + std::string(name_of(matrix.symmetry)) + "; use kind " +
                       (kind_fits<T>(FactorKind::ldlt, matrix.symmetry) ? "ldlt" : "lu"));
    return *wanted;
  }
  if (kind_fits<T>(FactorKind::llt, matrix.symmetry) && has_positive_diagonal(matrix)) return FactorKind::llt;
  return kind_fits<T>(FactorKind::ldlt, matrix.symmetry) ? FactorKind::ldlt : FactorKind::lu;
}

PivotNeed pivot_need(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return PivotNeed::none;
    case FactorKind::ldlt: return PivotNeed::indefinite;
    case FactorKind::lu: return PivotNeed::unsymmetric;
  }
  return PivotNeed::none;
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> with_known_symmetry(std::shared_ptr<const SparseMatrix<T>> matrix) {
  if (matrix->symmetry != Symmetry::general) return matrix;
  const Symmetry found = detect_symmetry(*matrix);
  if (found == Symmetry::general) return matrix;
  auto copy = std::make_shared<SparseMatrix<T>>(*matrix);
  copy->symmetry = found;
  return copy;
}

template <class T>
void check_options(const SparseMatrix<T>& matrix, const SolverOptions& options) {
  if (matrix.rows() != matrix.cols())
    throw DimensionError("a solve needs a square matrix, this one is " + std::to_string(matrix.rows()) + " x " +
                         std::to_string(matrix.cols()));
  if (options.threads < 0)
    throw UsageError("the number of threads is " + std::to_string(options.threads) + "; use 0 for all processors, or more");
  if (options.mixed_precision && std::is_same_v<real_t<T>, float>)
    throw UsageError("mixed precision needs a matrix in double precision: this one is in single precision already");
}

}  // namespace

template <class T>
struct Solver<T>::State {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  SolverOptions options;
  ThreadTeam team;
  BandwidthMemory bandwidth;
  FactorKind kind = FactorKind::llt;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Inverse<T>> inverse;
  Report report;
  std::shared_mutex products;  // solves share it; a change of kind or of values takes it alone

  State(std::shared_ptr<const SparseMatrix<T>> a, const SolverOptions& o)
      : matrix(std::move(a)), options(o), team(o.threads), bandwidth(o.measure, o.cache_folder) {
    report.matrix = {matrix->rows(), matrix->cols(), matrix->nnz(), ScalarTraits<T>::type, matrix->symmetry};
    report.version = version();
  }

  void tell(std::string_view phase, double fraction) const {
    if (options.progress) options.progress(phase, fraction);
  }

  Outcome<bool> order_and_analyze(FactorKind wanted) {
    tell("order", 0);
    OrderOptions order_options;
    order_options.method = options.ordering;
    order_options.pivot_need = pivot_need(wanted);
    order_options.user = options.user_ordering;
    order_options.threads = team.size();
    Outcome<Ordering> found = order(*matrix, order_options);
    if (!found) return found.failure();
    tell("order", 1);
    tell("analyze", 0);
    const Stopwatch watch;
    ordering = std::move(found).value();
    symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix->pattern, ordering, options.analyze));
    kind = wanted;
    report.order = OrderReport{ordering.method, ordering.matched, ordering.seconds};
    AnalyzeReport analyzed;
    analyzed.seconds = watch.seconds();
    analyzed.nnz_factor = factor_entries(*symbolic, kind);
    analyzed.flops = factorization_flops(*symbolic, kind);
    analyzed.supernodes = symbolic->num_supernodes();
    analyzed.memory_bytes_predicted =
        predicted_peak_bytes(*symbolic, {kind, factor_scalar(), team.size(), 1, resident_memory_bytes()});
    report.analyze = analyzed;
    tell("analyze", 1);
    return true;
  }

  ScalarType factor_scalar() const {
    return options.mixed_precision ? ScalarTraits<with_precision_t<T, float>>::type : ScalarTraits<T>::type;
  }

  /// Factor `values` with the products at hand. The former inverse stays where this fails.
  Outcome<bool> factorize_values(const SparseMatrix<T>& values) {
    InverseOptions inverse_options;
    inverse_options.mixed_precision = options.mixed_precision;
    inverse_options.factorize.kind = kind;
    inverse_options.factorize.tiny_pivot = options.tiny_pivot;
    inverse_options.factorize.team = &team;
    inverse_options.factorize.progress = options.progress;
    auto made = make_inverse(values, symbolic, ordering, inverse_options);
    if (!made) return made.failure();
    inverse = std::move(made).value();
    FactorizeReport factorized;
    factorized.kind = kind;
    factorized.scalar = inverse->factor_scalar();
    factorized.seconds = inverse->factor_seconds();
    const double real_flops = (is_complex_v<T> ? 4 : 1) * report.analyze->flops;
    factorized.gflops = factorized.seconds > 0 ? real_flops / factorized.seconds / 1e9 : 0;
    factorized.pivots = inverse->pivots();
    factorized.memory_bytes = inverse->factor_bytes();
    report.factorize = factorized;
    if (factorized.pivots.perturbed > 0)
      report.notes.push_back(std::to_string(factorized.pivots.perturbed) +
                             " tiny pivots were replaced; the first stands in column " +
                             std::to_string(factorized.pivots.perturbed_columns.front() + 1));
    return true;
  }

  Outcome<bool> prepare(FactorKind wanted) {
    report.notes.clear();
    inverse.reset();
    Outcome<bool> analyzed = order_and_analyze(wanted);
    return analyzed ? factorize_values(*matrix) : analyzed;
  }

  Outcome<bool> prepare_first() {
    const FactorKind first = choose_kind(*matrix, options.kind);
    Outcome<bool> made = prepare(first);
    const bool another_way = !options.kind && first == FactorKind::llt && !made &&
                             made.failure().kind == FailureKind::not_positive_definite;
    if (!another_way) return made;
    const std::string reason = made.failure().message;
    made = prepare(FactorKind::ldlt);
    if (made) report.notes.push_back("LDL' instead of LL': " + reason);
    return made;
  }

  /// LDLᵀ could not be verified: pivots inside supernodes alone were too weak for this matrix.
  Outcome<bool> change_to_lu() {
    const std::unique_lock alone(products);
    if (kind != FactorKind::ldlt) return true;  // another thread was here first
    const Outcome<bool> made = prepare(FactorKind::lu);
    if (made) report.notes.push_back("LU instead of LDL': the answer of LDL' could not be verified");
    return made;
  }

  Outcome<Report> answer(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    AnswerSource<T> source;
    source.matrix = matrix.get();
    source.apply = [this](Operation operation, DenseView<const T> in, DenseView<T> out) {
      return inverse->apply(operation, in, out, {options.method, &team});
    };
    source.cost = inverse->cost(b.cols);
    source.guarded_blocks = inverse->guarded_blocks();
    source.bandwidth = &bandwidth;
    source.mixed_precision = options.mixed_precision;
    source.factored = true;
    source.pivots_replaced = inverse->pivots().perturbed > 0;
    tell("solve", 0);
    Outcome<Report> result = make_answer(source, report, b, x, request);
    tell("solve", 1);
    return result;
  }
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
Outcome<Solver<T>> Solver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix, const SolverOptions& options) {
  check_options(*matrix, options);
  check_matrix(*matrix);
  auto state = std::make_unique<State>(with_known_symmetry(std::move(matrix)), options);
  const Outcome<bool> made = state->prepare_first();
  if (!made) return made.failure();
  return Solver(std::move(state));
}

template <class T>
Outcome<Report> Solver<T>::solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  check_right_hand_sides(size(), b, x);
  const DenseMatrix<T> kept = copy_if_aliased(b, x);
  const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
  std::shared_lock shared(state_->products);
  Outcome<Report> answer = state_->answer(rhs, x, request);
  const bool try_lu = answer && !answer.value().verify->verified && request.max_refine_steps != 0 &&
                      !state_->options.kind && state_->kind == FactorKind::ldlt;
  if (!try_lu) return answer;
  shared.unlock();
  const Outcome<bool> made = state_->change_to_lu();
  if (!made) return made.failure();
  shared.lock();
  return state_->answer(rhs, x, request);
}

template <class T>
Outcome<bool> Solver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix) {
  const std::unique_lock alone(state_->products);
  const SparsityPattern& known = state_->matrix->pattern;
  if (matrix->rows() != known.rows || matrix->cols() != known.cols || matrix->pattern.column_ptr != known.column_ptr ||
      matrix->pattern.row_index != known.row_index)
    throw UsageError("refactor needs the pattern that was analyzed (" + std::to_string(known.nnz()) +
                     " entries), this matrix has another (" + std::to_string(matrix->nnz()) +
                     " entries); make a new Solver for it");
  check_matrix(*matrix);
  matrix = with_known_symmetry(std::move(matrix));
  if (!kind_fits<T>(state_->kind, matrix->symmetry))
    throw UsageError("refactor keeps the kind " + std::string(name_of(state_->kind)) + ", but the new values are " +
                     std::string(name_of(matrix->symmetry)) + "; make a new Solver for them");
  state_->report.notes.clear();
  const Outcome<bool> made = state_->factorize_values(*matrix);
  if (!made) return made;
  state_->matrix = std::move(matrix);
  return true;
}

template <class T>
index_t Solver<T>::size() const {
  return state_->matrix->rows();
}
template <class T>
const Report& Solver<T>::report() const {
  return state_->report;
}
template <class T>
const SymbolicFactor& Solver<T>::symbolic() const {
  return *state_->symbolic;
}
template <class T>
std::pair<std::complex<double>, double> Solver<T>::slogdet() const {
  const PivotReport& pivots = state_->inverse->pivots();
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia Solver<T>::inertia() const {
  if (state_->kind == FactorKind::lu)
    throw UsageError("LU gives no inertia; factorize a symmetric matrix with kind ldlt");
  if (is_complex_v<T> && !state_->inverse->hermitian())
    throw UsageError("a complex symmetric matrix has no inertia: its eigenvalues are not real");
  return state_->inverse->pivots().inertia;
}
template <class T>
std::shared_ptr<const Factor<T>> Solver<T>::factor() const {
  std::shared_ptr<const Factor<T>> factor = state_->inverse->factor();
  if (!factor) throw UsageError("in mixed precision there is no factor in working precision");
  return factor;
}

#define PALMETTE_INSTANTIATE(T) template class Solver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
