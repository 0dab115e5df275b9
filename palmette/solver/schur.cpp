// The boundary's Schur complement: order, analyze, factorize up to the boundary, check S against A.
#include "palmette/solver/schur.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/hall.hpp"
#include "palmette/solver/known_matrix.hpp"
#include "palmette/solver/long_products.hpp"
#include "palmette/solver/schur_factor.hpp"
#include "palmette/solver/team_on_demand.hpp"

namespace palmette {
namespace {

template <class T>
DenseMatrix<T> in_order(const Permutation& order, DenseView<const T> b) {
  DenseMatrix<T> permuted(b.rows, b.cols);
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t i = 0; i < b.rows; ++i) permuted.view()(i, j) = b(order.new_to_old()[i], j);
  return permuted;
}

}  // namespace

template <class T>
struct SchurSolver<T>::State {
  KnownMatrix<T> known;
  std::vector<index_t> boundary;
  std::vector<char> on_boundary;  // length n
  SparseMatrix<T> interior;       // n × n: diag(A_II, 1)
  SparseMatrix<T> coupling;       // n × m: A_IB
  TeamOnDemand team;
  SchurReport report;
  DenseMatrix<T> complement;
  FactorKind kind = FactorKind::llt;
  bool adjoint = false;  // L·D·Lᴴ, not L·D·Lᵀ
  FactorOrder order;
  SolvePlan<T> plan;
  double solve_bytes = 0;

  State(KnownMatrix<T> matrix, std::vector<index_t> unknowns, const SchurOptions& options)
      : known(std::move(matrix)),
        boundary(std::move(unknowns)),
        on_boundary(marked(known.matrix->rows(), boundary)),
        team(options.threads) {
    coupling = coupling_of<T>(*known.matrix, boundary, on_boundary);
    report.size = n();
    report.boundary = num_boundary();
  }
  index_t n() const { return known.matrix->rows(); }
  index_t num_boundary() const { return static_cast<index_t>(boundary.size()); }
  SolveRun run(index_t num_rhs) {
    const double sweeps = std::max(1.0, num_rhs / 4.0);
    return {SolveMethod::automatic, team.for_work(solve_bytes * sweeps >= bytes_worth_a_team)};
  }

  std::shared_ptr<const SymbolicFactor> analyzed(const Ordering& ordering, const SchurOptions& options) {
    const Stopwatch watch;
    AnalyzeOptions how = options.analyze;
    how.columns_last = num_boundary();
    how.symmetric_pattern = known.symmetry != Symmetry::general;
    auto symbolic = std::make_shared<const SymbolicFactor>(
        analyze(with_full_boundary(known.matrix->pattern, boundary), ordering, how));
    report.analyze_seconds = watch.seconds();
    report.flops = flops_before_boundary(*symbolic, kind, num_boundary());
    const offset_t square = offset_t(num_boundary()) * num_boundary();
    report.nnz_factor = factor_entries_before_boundary(*symbolic, kind, num_boundary());
    report.memory_bytes_predicted = predicted_peak_bytes(*symbolic, {kind, ScalarTraits<T>::type, team.size(),
                                                                     1, resident_memory_bytes()}) +
                                    square * static_cast<offset_t>(sizeof(T));
    return symbolic;
  }

  Outcome<void> make(FactorKind wanted, const SchurOptions& options) {
    kind = wanted;
    const std::shared_ptr<const SparseMatrix<T>> matrix = matrix_to_factor(known, kind);
    interior = interior_of(*matrix, on_boundary);
    OrderOptions how;
    how.method = options.ordering;
    how.pivot_need = pivot_need(kind);
    how.threads = team.size();
    Outcome<Ordering> found = palmette::order(interior, how);
    if (!found) return found.failure();
    const Ordering ordering =
        boundary_last<T>(std::move(found).value(), *matrix, matrix->symmetry, boundary, on_boundary);
    report.kind = kind;
    report.ordering = ordering.method;
    report.order_seconds = ordering.seconds;
    std::shared_ptr<const SymbolicFactor> symbolic = analyzed(ordering, options);
    FactorizeOptions factorize_options;
    factorize_options.kind = kind;
    factorize_options.columns_last = num_boundary();
    factorize_options.progress = options.progress;
    factorize_options.team = team.for_work(report.flops * (is_complex_v<T> ? 4 : 1) >= flops_worth_a_team);
    auto made = factorize<T>(*matrix, symbolic, ordering, factorize_options);
    if (!made) return made.failure();
    keep(std::make_shared<Factor<T>>(std::move(made).value()), factorize_options.team);
    return {};
  }

  void keep(const std::shared_ptr<Factor<T>>& factor, ThreadTeam* with) {
    complement = take_complement(*factor, num_boundary());
    order = order_of(*factor);
    adjoint = kind == FactorKind::llt || factor->hermitian;
    PlanOptions how;
    how.team = with;
    plan = plan_solve<T>(factor, how);
    solve_bytes = plan.cost(1).bytes;
    report.threads = with != nullptr ? with->size() : 1;
    report.factorize_seconds = factor->seconds;
    report.perturbed_pivots = factor->pivots.perturbed;
    report.memory_bytes = factor->memory_bytes() + plan.memory_bytes() +
                          static_cast<offset_t>(complement.values.size() * sizeof(T));
  }

  /// S against A, by a vector without pattern on the boundary.
  void check() {
    const DenseMatrix<T> v = trial_vector<T>(num_boundary());
    DenseMatrix<T> b(n(), 1), x(n(), 1);
    extend(std::as_const(b).view(), v.view(), x.view());
    for (index_t i = 0; i < num_boundary(); ++i) {
      LongScalar<T> sum(0);
      for (index_t j = 0; j < num_boundary(); ++j)
        sum += LongScalar<T>(complement.view()(i, j)) * LongScalar<T>(v.values[j]);
      b.values[boundary[i]] = T(sum);
    }
    const Verification found =
        verify<T>(*known.matrix, Operation::plain, std::as_const(b).view(), std::as_const(x).view());
    note_check(report, found, {});
  }

  /// x ← diag(A_II, 0)⁻¹·x: the boundary becomes zero, whatever it held.
  void apply(DenseView<T> x) {
    DenseMatrix<T> y = in_order<T>(order.row, x);
    const auto half = [&](FactorPart part, Operation operation) {
      plan.solve_part(part, operation, std::as_const(y).view(), y.view(), run(x.cols));
    };
    half(FactorPart::lower, Operation::plain);
    for (index_t j = 0; j < y.cols; ++j)
      std::fill_n(y.view().column(j) + n() - num_boundary(), num_boundary(), T(0));
    if (kind == FactorKind::ldlt) half(FactorPart::diagonal, Operation::plain);
    if (kind == FactorKind::lu)
      half(FactorPart::upper, Operation::plain);
    else
      half(FactorPart::lower, adjoint ? Operation::adjoint : Operation::transpose);
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = 0; i < x.rows; ++i) x(order.column.new_to_old()[i], j) = y.view()(i, j);
  }

  Verification solve_interior(DenseView<const T> b, DenseView<T> x) {
    DenseMatrix<T> inside(b.rows, b.cols);
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i) inside.view()(i, j) = on_boundary[i] ? T(0) : b(i, j);
    const ApplyInverse<T> inverse = [this](Operation, DenseView<T> y) { apply(y); };
    for (index_t j = 0; j < b.cols; ++j) std::copy_n(inside.view().column(j), b.rows, x.column(j));
    inverse(Operation::plain, x);
    return refine<T>(interior, Operation::plain, inverse, std::as_const(inside).view(), x);
  }

  Verification extend(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x) {
    DenseMatrix<T> rest(b.rows, b.cols);
    for (index_t j = 0; j < b.cols; ++j) std::copy_n(b.column(j), b.rows, rest.view().column(j));
    multiply_add<T>(coupling, Operation::plain, T(-1), boundary_part, rest.view());
    const Verification found = solve_interior(std::as_const(rest).view(), x);
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = 0; i < num_boundary(); ++i) x(boundary[i], j) = boundary_part(i, j);
    return found;
  }
};

template <class T>
SchurSolver<T>::SchurSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
SchurSolver<T>::SchurSolver(SchurSolver&&) noexcept = default;
template <class T>
SchurSolver<T>& SchurSolver<T>::operator=(SchurSolver&&) noexcept = default;
template <class T>
SchurSolver<T>::~SchurSolver() = default;

template <class T>
Outcome<SchurSolver<T>> SchurSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                               std::vector<index_t> boundary, const SchurOptions& options) {
  return with_memory_errors(
      "out of memory while a Schur complement was computed", [&]() -> Outcome<SchurSolver<T>> {
        SolverOptions checked;
        checked.kind = options.kind;
        checked.ordering = options.ordering;
        checked.threads = options.threads;
        checked.analyze = options.analyze;
        check_system(matrix, checked);
        if (options.ordering == OrderingMethod::user)
          throw UsageError("the order of a Schur complement's interior cannot be given; name a method");
        auto state = std::make_unique<State>(know_matrix(std::move(matrix)), std::move(boundary), options);
        Outcome<void> made;
        const FactorKind first = choose_kind(*state->known.matrix, state->known.symmetry, options.kind);
        for (const FactorKind kind : kinds_to_try(first, options.kind.has_value())) {
          made = state->make(kind, options);
          if (made) state->check();
          if (made && state->report.verified) break;
          if (!made && made.failure().kind != FailureKind::not_positive_definite) break;
        }
        if (!made) return made.failure();
        return SchurSolver(std::move(state));
      });
}

template <class T>
index_t SchurSolver<T>::size() const {
  return state_->n();
}
template <class T>
const std::vector<index_t>& SchurSolver<T>::boundary() const {
  return state_->boundary;
}
template <class T>
DenseView<const T> SchurSolver<T>::complement() const {
  return std::as_const(state_->complement).view();
}
template <class T>
const SchurReport& SchurSolver<T>::report() const {
  return state_->report;
}

template <class T>
Verification SchurSolver<T>::solve_interior(DenseView<const T> b, DenseView<T> x) const {
  return with_memory_errors("out of memory while the interior was solved", [&] {
    check_right_hand_sides(size(), b, x);
    return state_->solve_interior(b, x);
  });
}

template <class T>
void SchurSolver<T>::condense(DenseView<const T> b, DenseView<T> g) const {
  with_memory_errors("out of memory while a right-hand side was condensed", [&] {
    const index_t m = state_->num_boundary(), n = size();
    check_right_hand_sides(n, b, DenseView<T>{nullptr, b.rows, b.cols, b.ld});
    check_boundary_part("the condensed right-hand side", {g.rows, g.cols}, {m, b.cols});
    DenseMatrix<T> y = in_order<T>(state_->order.row, b);
    state_->plan.solve_part(FactorPart::lower, Operation::plain, std::as_const(y).view(), y.view(),
                            state_->run(b.cols));
    for (index_t j = 0; j < b.cols; ++j) std::copy_n(y.view().column(j) + n - m, m, g.column(j));
  });
}

template <class T>
Verification SchurSolver<T>::expand(DenseView<const T> b, DenseView<const T> boundary_part,
                                    DenseView<T> x) const {
  return with_memory_errors("out of memory while a solution was expanded", [&] {
    check_right_hand_sides(size(), b, x);
    check_boundary_part("the boundary's part of x", {boundary_part.rows, boundary_part.cols},
                        {state_->num_boundary(), b.cols});
    check_finite(boundary_part);
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
    Verification inside = state_->extend(rhs, boundary_part, x);
    Verification whole = verify<T>(*state_->known.matrix, Operation::plain, rhs, DenseView<const T>(x));
    whole.refine_steps = inside.refine_steps;
    return whole;
  });
}

#define PALMETTE_INSTANTIATE(T) template class SchurSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
