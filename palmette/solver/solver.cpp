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

/// Readers and one writer, the writer first in line: without the gate a stream of solves would keep a refactorization
/// waiting for ever.
class ProductsLock {
 public:
  std::shared_lock<std::shared_mutex> share() {
    const std::lock_guard in_line(gate_);
    return std::shared_lock(mutex_);
  }
  std::unique_lock<std::shared_mutex> take_alone() {
    const std::lock_guard in_line(gate_);
    return std::unique_lock(mutex_);
  }

 private:
  std::mutex gate_;
  std::shared_mutex mutex_;
};

/// What the phases before the solve have made: replaced as a whole, or not at all.
template <class T>
struct Products {
  FactorKind kind = FactorKind::llt;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Inverse<T>> inverse;
  Report report;
};

}  // namespace

template <class T>
struct Solver<T>::State {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  SolverOptions options;
  ThreadTeam team;
  BandwidthMemory bandwidth;
  Products<T> products;
  mutable ProductsLock lock;  // solves share the products; a change of kind or of values takes them alone

  State(std::shared_ptr<const SparseMatrix<T>> a, const SolverOptions& o)
      : matrix(std::move(a)), options(o), team(o.threads), bandwidth(o.measure, o.cache_folder) {}

  void tell(std::string_view phase, double fraction) const {
    if (options.progress) options.progress(phase, fraction);
  }

  ScalarType factor_scalar() const {
    return options.mixed_precision ? ScalarTraits<with_precision_t<T, float>>::type : ScalarTraits<T>::type;
  }

  Outcome<Ordering> order_for(FactorKind kind) {
    tell("order", 0);
    OrderOptions order_options;
    order_options.method = options.ordering;
    order_options.pivot_need = pivot_need(kind);
    order_options.user = options.user_ordering;
    order_options.threads = team.size();
    Outcome<Ordering> found = order(*matrix, order_options);
    tell("order", 1);
    return found;
  }

  void analyze_into(Products<T>& made) {
    tell("analyze", 0);
    const Stopwatch watch;
    made.symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix->pattern, made.ordering, options.analyze));
    AnalyzeReport analyzed;
    analyzed.seconds = watch.seconds();
    analyzed.nnz_factor = factor_entries(*made.symbolic, made.kind);
    analyzed.flops = factorization_flops(*made.symbolic, made.kind);
    analyzed.supernodes = made.symbolic->num_supernodes();
    analyzed.memory_bytes_predicted =
        predicted_peak_bytes(*made.symbolic, {made.kind, factor_scalar(), team.size(), 1, resident_memory_bytes()});
    made.report.analyze = analyzed;
    tell("analyze", 1);
  }

  /// Factor `values` with the ordering and structure in `made`; its inverse and report are replaced only on success.
  Outcome<bool> factorize_into(Products<T>& made, const SparseMatrix<T>& values) {
    InverseOptions inverse_options;
    inverse_options.mixed_precision = options.mixed_precision;
    inverse_options.factorize.kind = made.kind;
    inverse_options.factorize.tiny_pivot = options.tiny_pivot;
    inverse_options.factorize.team = &team;
    inverse_options.factorize.progress = options.progress;
    auto inverse = make_inverse(values, made.symbolic, made.ordering, inverse_options);
    if (!inverse) return inverse.failure();
    made.inverse = std::move(inverse).value();
    FactorizeReport factorized;
    factorized.kind = made.kind;
    factorized.scalar = made.inverse->factor_scalar();
    factorized.seconds = made.inverse->factor_seconds();
    const double real_flops = (is_complex_v<T> ? 4 : 1) * made.report.analyze->flops;
    factorized.gflops = factorized.seconds > 0 ? real_flops / factorized.seconds / 1e9 : 0;
    factorized.pivots = made.inverse->pivots();
    factorized.memory_bytes = made.inverse->factor_bytes();
    made.report.factorize = factorized;
    made.report.notes.clear();
    if (factorized.pivots.perturbed > 0)
      made.report.notes.push_back(std::to_string(factorized.pivots.perturbed) +
                                  " tiny pivots were replaced; the first stands in column " +
                                  std::to_string(factorized.pivots.perturbed_columns.front() + 1));
    return true;
  }

  Outcome<Products<T>> make_products(FactorKind kind) {
    Outcome<Ordering> found = order_for(kind);
    if (!found) return found.failure();
    Products<T> made;
    made.kind = kind;
    made.ordering = std::move(found).value();
    made.report.matrix = {matrix->rows(), matrix->cols(), matrix->nnz(), ScalarTraits<T>::type, matrix->symmetry};
    made.report.version = version();
    made.report.order = OrderReport{made.ordering.method, made.ordering.matched, made.ordering.seconds};
    analyze_into(made);
    const Outcome<bool> factored = factorize_into(made, *matrix);
    if (!factored) return factored.failure();
    return made;
  }

  Outcome<bool> adopt(Outcome<Products<T>> made, const std::string& note) {
    if (!made) return made.failure();
    products = std::move(made).value();
    if (!note.empty()) products.report.notes.push_back(note);
    return true;
  }

  Outcome<bool> prepare_first() {
    const FactorKind first = choose_kind(*matrix, options.kind);
    Outcome<Products<T>> made = make_products(first);
    const bool another_way = !options.kind && first == FactorKind::llt && !made &&
                             made.failure().kind == FailureKind::not_positive_definite;
    if (!another_way) return adopt(std::move(made), "");
    return adopt(make_products(FactorKind::ldlt), "LDL' instead of LL': " + made.failure().message);
  }

  /// LDLᵀ could not be verified: pivots inside supernodes alone were too weak for this matrix.
  Outcome<bool> change_to_lu() {
    const auto alone = lock.take_alone();
    if (products.kind != FactorKind::ldlt) return true;  // another thread was here first
    return adopt(make_products(FactorKind::lu), "LU instead of LDL': the answer of LDL' could not be verified");
  }

  Outcome<Report> answer(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    const auto shared = lock.share();
    const Inverse<T>& inverse = *products.inverse;
    AnswerSource<T> source;
    source.matrix = matrix.get();
    source.apply = [&](Operation operation, DenseView<const T> in, DenseView<T> out) {
      return inverse.apply(operation, in, out, {options.method, &team});
    };
    source.cost = inverse.cost(b.cols);
    source.guarded_blocks = inverse.guarded_blocks();
    source.bandwidth = &bandwidth;
    source.mixed_precision = options.mixed_precision;
    source.factored = true;
    source.pivots_replaced = inverse.pivots().perturbed > 0;
    tell("solve", 0);
    Outcome<Report> result = make_answer(source, products.report, b, x, request);
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
  Outcome<Report> answer = state_->answer(rhs, x, request);
  const bool try_lu = answer && !answer.value().verify->verified && request.max_refine_steps != 0 &&
                      !state_->options.kind && answer.value().factorize->kind == FactorKind::ldlt;
  if (!try_lu) return answer;
  const Outcome<bool> made = state_->change_to_lu();
  if (!made) return made.failure();
  return state_->answer(rhs, x, request);
}

template <class T>
Outcome<bool> Solver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix) {
  const auto alone = state_->lock.take_alone();
  const SparsityPattern& known = state_->matrix->pattern;
  if (matrix->rows() != known.rows || matrix->cols() != known.cols || matrix->pattern.column_ptr != known.column_ptr ||
      matrix->pattern.row_index != known.row_index)
    throw UsageError("refactor needs the pattern that was analyzed (" + std::to_string(known.nnz()) +
                     " entries), this matrix has another (" + std::to_string(matrix->nnz()) +
                     " entries); make a new Solver for it");
  check_matrix(*matrix);
  matrix = with_known_symmetry(std::move(matrix));
  const FactorKind kind = state_->products.kind;
  if (!kind_fits<T>(kind, matrix->symmetry))
    throw UsageError("refactor keeps the kind " + std::string(name_of(kind)) + ", but the new values are " +
                     std::string(name_of(matrix->symmetry)) + "; make a new Solver for them");
  const Outcome<bool> made = state_->factorize_into(state_->products, *matrix);
  if (made) state_->matrix = std::move(matrix);
  return made;
}

template <class T>
index_t Solver<T>::size() const {
  return state_->matrix->rows();
}
template <class T>
Report Solver<T>::report() const {
  const auto shared = state_->lock.share();
  return state_->products.report;
}
template <class T>
std::shared_ptr<const SymbolicFactor> Solver<T>::symbolic() const {
  const auto shared = state_->lock.share();
  return state_->products.symbolic;
}
template <class T>
std::pair<std::complex<double>, double> Solver<T>::slogdet() const {
  const auto shared = state_->lock.share();
  const PivotReport& pivots = state_->products.inverse->pivots();
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia Solver<T>::inertia() const {
  const auto shared = state_->lock.share();
  if (state_->products.kind == FactorKind::lu)
    throw UsageError("LU gives no inertia; factorize a symmetric matrix with kind ldlt");
  if (is_complex_v<T> && !state_->products.inverse->hermitian())
    throw UsageError("a complex symmetric matrix has no inertia: its eigenvalues are not real");
  return state_->products.inverse->pivots().inertia;
}
template <class T>
std::shared_ptr<const Factor<T>> Solver<T>::factor() const {
  const auto shared = state_->lock.share();
  std::shared_ptr<const Factor<T>> factor = state_->products.inverse->factor();
  if (!factor) throw UsageError("in mixed precision there is no factor in working precision");
  return factor;
}

#define PALMETTE_INSTANTIATE(T) template class Solver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
