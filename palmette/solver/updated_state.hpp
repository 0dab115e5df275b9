// Inside `solver`: what an UpdatedSolver keeps.
#pragma once

#include <memory>

#include "palmette/base/base.hpp"
#include "palmette/solver/capacitance.hpp"
#include "palmette/solver/inverse.hpp"
#include "palmette/solver/team_on_demand.hpp"
#include "palmette/solver/updated_solver.hpp"

namespace palmette {

/// A and its inverse. Over ranks every rank has one, and calls what uses it.
template <class T>
struct FactorOfMatrix {
  WholeOrShare<T> matrix;
  std::shared_ptr<const void> owner;  ///< keeps the matrix alive
  offset_t nnz = 0;                   ///< of A
  double solve_flops = 0;             ///< of one solve, as SolveCost
  ApplyInverse<T> apply;              ///< x ← op(A)⁻¹·x; keeps the factor alive
};

/// Of a Solver. @param undo  of replaced pivots; null: none to undo
template <class T>
FactorOfMatrix<T> factor_on_one_machine(std::shared_ptr<const SparseMatrix<T>> matrix,
                                        std::shared_ptr<const Inverse<T>> inverse,
                                        std::shared_ptr<const Capacitance<T>> undo,
                                        const SolverOptions& options);

template <class T>
struct UpdatedSolver<T>::State {
  FactorOfMatrix<T> kept;
  LowRankChange<T> change;
  std::unique_ptr<Capacitance<T>> capacitance;
  UpdateReport report;

  /// r ← b − op(A + U·Vᵀ)·x of one column. @returns its backward error
  double residual(Operation operation, DenseView<const T> b, DenseView<const T> x, DenseView<T> r) const;
  /// x ← x + op(A + U·Vᵀ)⁻¹·(b − op(A + U·Vᵀ)·x) until that gains nothing. @returns steps
  int refine(Operation operation, DenseView<const T> b, DenseView<T> x, UpdateReport& errors) const;
};

/// @throws DimensionError unless both are n × k; UsageError naming a value that is not finite
template <class T>
void check_change(index_t n, const SparseMatrix<T>& u, const SparseMatrix<T>& v);

/// @returns the solver, or numerically_singular if the capacitance matrix is
template <class T>
Outcome<UpdatedSolver<T>> make_updated(FactorOfMatrix<T> factor, LowRankChange<T> change);

}  // namespace palmette
