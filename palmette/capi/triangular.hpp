// Inside `capi`: what triangles and given factors share on one machine and over ranks.
#pragma once

#include "palmette/capi/handle.hpp"

struct palmette_triangular {
  /// of ranks; outlives the solver. Null: one machine
  std::shared_ptr<palmette::Transport> transport;
  palmette::SolveRequest request;
  std::variant<palmette::TriangularSolver<double>, palmette::TriangularSolver<std::complex<double>>> solver;
};

namespace palmette::capi {

/// The triangle of a caller, and what it says of it. @throws UsageError
template <class T>
std::shared_ptr<const SparseMatrix<T>> triangle_from(const palmette_triangle* given,
                                                     TriangularSolverOptions& options);

/// The factors of a caller, and the matrix if there is one.
template <class T>
struct GivenFactors {
  std::shared_ptr<OwnFactors<T>> factors;
  std::shared_ptr<const SparseMatrix<T>> matrix;
};
/// @throws UsageError
template <class T>
GivenFactors<T> factors_from(const palmette_factors* given, TriangularSolverOptions& options);

/// *out ← a handle of what was made, or NULL. @returns PALMETTE_OK, or the failure recorded
template <class T>
palmette_status keep(Outcome<TriangularSolver<T>> made, std::shared_ptr<Transport> transport,
                     const SolveRequest& request, palmette_triangular** out) {
  if (!made) return record(made.failure());
  *out = new palmette_triangular{std::move(transport), request, std::move(made).value()};
  return PALMETTE_OK;
}

}  // namespace palmette::capi
