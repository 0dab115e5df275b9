// Inside `solver`: what an UpdatedSolver keeps.
#pragma once

#include <memory>

#include "palmette/base/base.hpp"
#include "palmette/solver/capacitance.hpp"
#include "palmette/solver/inverse.hpp"
#include "palmette/solver/team_on_demand.hpp"
#include "palmette/solver/updated_solver.hpp"

namespace palmette {

/// A and its factor.
template <class T>
struct FactorOfMatrix {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  std::shared_ptr<const Inverse<T>> inverse;
  std::shared_ptr<const Capacitance<T>> undo;  ///< of replaced pivots; null: none to undo
  SolveMethod method = SolveMethod::automatic;
};

template <class T>
struct UpdatedSolver<T>::State {
  FactorOfMatrix<T> kept;
  LowRankChange<T> change;
  TeamOnDemand team;
  std::unique_ptr<Capacitance<T>> capacitance;
  UpdateReport report;

  State(FactorOfMatrix<T> factor, LowRankChange<T> of_matrix, int threads)
      : kept(std::move(factor)), change(std::move(of_matrix)), team(threads) {}
  /// x ← op(A)⁻¹·x
  void apply(Operation operation, DenseView<T> x);
  /// r ← b − op(A + U·Vᵀ)·x of one column. @returns its backward error
  double residual(Operation operation, DenseView<const T> b, DenseView<const T> x, DenseView<T> r) const;
  /// x ← x + op(A + U·Vᵀ)⁻¹·(b − op(A + U·Vᵀ)·x) until that gains nothing. @returns steps
  int refine(Operation operation, DenseView<const T> b, DenseView<T> x, UpdateReport& errors);
};

/// @throws DimensionError unless both are n × k; UsageError naming a value that is not finite
template <class T>
void check_change(index_t n, const SparseMatrix<T>& u, const SparseMatrix<T>& v);

/// @returns the solver, or numerically_singular if the capacitance matrix is
template <class T>
Outcome<UpdatedSolver<T>> make_updated(FactorOfMatrix<T> factor, LowRankChange<T> change, int threads);

}  // namespace palmette
