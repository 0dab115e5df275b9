// Woodbury's formula on a kept factor, refined and verified against A, U and V.
#include "palmette/solver/updated_solver.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/base/base.hpp"
#include "palmette/solver/checks.hpp"
#include "palmette/solver/long_products.hpp"
#include "palmette/solver/updated_state.hpp"

namespace palmette {
namespace {

constexpr int most_steps = 10;
/// A step must gain this much, or refinement ends.
constexpr double least_gain = 0.5;

}  // namespace

template <class T>
FactorOfMatrix<T> factor_on_one_machine(std::shared_ptr<const SparseMatrix<T>> matrix,
                                        std::shared_ptr<const Inverse<T>> inverse,
                                        std::shared_ptr<const Capacitance<T>> undo,
                                        const SolverOptions& options) {
  FactorOfMatrix<T> factor{*matrix, matrix, matrix->nnz(), inverse->cost(1).flops, {}};
  const auto team = std::make_shared<TeamOnDemand>(options.threads);
  factor.apply = [=, method = options.method](Operation operation, DenseView<T> x) {
    const double bytes = inverse->cost(1).bytes * std::max(1.0, x.cols / 4.0);
    const SolveRun run{method, team->for_work(bytes >= bytes_worth_a_team)};
    const ApplyInverse<T> factored = [&](Operation how, DenseView<T> y) {
      inverse->apply(how, DenseView<const T>(y), y, run);
    };
    if (undo) return undo->solve(operation, factored, x);
    factored(operation, x);
  };
  return factor;
}

template <class T>
double UpdatedSolver<T>::State::residual(Operation operation, DenseView<const T> b, DenseView<const T> x,
                                         DenseView<T> r) const {
  LongSums<T> sums(b.rows);
  for (index_t i = 0; i < b.rows; ++i) sums.add(i, LongScalar<T>(b(i, 0)), double(std::abs(b(i, 0))));
  kept.matrix.add_product({operation, -1}, x.data, sums);
  add_low_rank_product(change.u, change.v, {operation, -1}, x.data, sums);
  double largest = 0, size = 0;
  for (index_t i = 0; i < b.rows; ++i) {
    r(i, 0) = T(sums.sum[i]);
    const double modulus = double(std::abs(r(i, 0)));
    if (!(modulus <= largest)) largest = modulus;
    size = std::max(size, sums.moduli[i]);
  }
  if (!std::isfinite(largest)) return infinity;
  return largest > 0 ? largest / size : 0;
}

template <class T>
int UpdatedSolver<T>::State::refine(Operation operation, DenseView<const T> b, DenseView<T> x,
                                    UpdateReport& errors) const {
  DenseMatrix<T> r(b.rows, 1), better(b.rows, 1);
  double error = residual(operation, b, x, r.view());
  int step = 0;
  for (; step < most_steps && error > errors.bound; ++step) {
    capacitance->solve(operation, kept.apply, r.view());
    for (index_t i = 0; i < b.rows; ++i) better.view()(i, 0) = x(i, 0) + r.view()(i, 0);
    const double now = residual(operation, b, std::as_const(better).view(), r.view());
    if (!(now < error)) break;
    std::copy_n(better.values.data(), b.rows, x.column(0));
    const bool stalls = now > least_gain * error;
    error = now;
    if (stalls) {
      ++step;
      break;
    }
  }
  errors.backward_error = std::max(errors.backward_error, error);
  return step;
}

template <class T>
void check_change(index_t n, const SparseMatrix<T>& u, const SparseMatrix<T>& v) {
  for (const SparseMatrix<T>* part : {&u, &v}) {
    const std::string name = part == &u ? "U" : "V";
    if (part->rows() != n)
      throw DimensionError(name + " has " + std::to_string(part->rows()) +
                           " rows, but the matrix is of order " + std::to_string(n));
    check_matrix(*part);
  }
  if (u.cols() != v.cols())
    throw DimensionError("U has " + std::to_string(u.cols()) + " columns, but V " + std::to_string(v.cols()));
  if (u.cols() > n)
    throw UsageError("U and V have " + std::to_string(u.cols()) + " columns, more than the order " +
                     std::to_string(n) + " of the matrix; factorize the new matrix instead");
}

template <class T>
Outcome<UpdatedSolver<T>> make_updated(FactorOfMatrix<T> factor, LowRankChange<T> change) {
  const Stopwatch watch;
  auto state = std::make_unique<typename UpdatedSolver<T>::State>(
      typename UpdatedSolver<T>::State{std::move(factor), std::move(change), nullptr, {}});
  const FactorOfMatrix<T>& kept = state->kept;
  const CapacitanceCost cost = predicted_capacitance_cost<T>(kept.matrix.rows(), kept.nnz,
                                                             state->change.rank(), kept.solve_flops);
  state->capacitance = std::make_unique<Capacitance<T>>(
      Capacitance<T>::make({kept.matrix, kept.apply, false}, state->change));
  UpdateReport& report = state->report;
  report.rank = state->change.rank();
  report.flops = cost.flops;
  report.memory_bytes = cost.memory_bytes;
  report.reciprocal_condition = state->capacitance->reciprocal_condition();
  report.update_seconds = watch.seconds();
  report.bound = verification_bound(unit_roundoff<T>);
  if (!state->capacitance->is_singular()) return UpdatedSolver<T>(std::move(state));
  NumericalFailure failure;
  failure.kind = FailureKind::numerically_singular;
  failure.message = "A + U·V' is singular to working precision, or nearly: the capacitance matrix of order " +
                    std::to_string(report.rank) + " has a reciprocal condition of " +
                    scientific(report.reciprocal_condition) + "; factorize the new matrix instead";
  return failure;
}

template <class T>
UpdatedSolver<T>::UpdatedSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
UpdatedSolver<T>::UpdatedSolver(UpdatedSolver&&) noexcept = default;
template <class T>
UpdatedSolver<T>& UpdatedSolver<T>::operator=(UpdatedSolver&&) noexcept = default;
template <class T>
UpdatedSolver<T>::~UpdatedSolver() = default;

template <class T>
index_t UpdatedSolver<T>::size() const {
  return state_->kept.matrix.rows();
}
template <class T>
const UpdateReport& UpdatedSolver<T>::report() const {
  return state_->report;
}

template <class T>
UpdateReport UpdatedSolver<T>::solve(DenseView<const T> b, DenseView<T> x, Operation operation) const {
  return with_memory_errors("out of memory while an updated system was solved", [&] {
    check_right_hand_sides(size(), b, x);
    const Stopwatch watch;
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
    UpdateReport report = state_->report;
    for (index_t j = 0; j < b.cols; ++j) std::copy_n(rhs.column(j), b.rows, x.column(j));
    state_->capacitance->solve(operation, state_->kept.apply, x);
    for (index_t j = 0; j < b.cols; ++j)
      report.refine_steps = std::max(report.refine_steps,
                                     state_->refine(operation, rhs.columns(j, 1), x.columns(j, 1), report));
    report.verified = report.backward_error <= report.bound;
    if (!report.verified)
      report.notes.push_back("NOT VERIFIED: the backward error " + scientific(report.backward_error) +
                             " exceeds its bound " + scientific(report.bound) +
                             "; factorize the new matrix instead");
    report.solve_seconds = watch.seconds();
    return report;
  });
}

#define PALMETTE_INSTANTIATE(T)                                                        \
  template class UpdatedSolver<T>;                                                     \
  template void check_change(index_t, const SparseMatrix<T>&, const SparseMatrix<T>&); \
  template FactorOfMatrix<T> factor_on_one_machine(                                    \
      std::shared_ptr<const SparseMatrix<T>>, std::shared_ptr<const Inverse<T>>,       \
      std::shared_ptr<const Capacitance<T>>, const SolverOptions&);                    \
  template Outcome<UpdatedSolver<T>> make_updated(FactorOfMatrix<T>, LowRankChange<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
