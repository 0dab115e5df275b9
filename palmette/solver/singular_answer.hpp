// Inside `solver`: solutions of systems whose matrix is singular to working precision.
#pragma once

#include "palmette/solver/null_space.hpp"
#include "palmette/solver/solve_request.hpp"

namespace palmette {

/// A system and the null space of its matrix. Refers to the caller's objects. @tparam Matrix  SparseMatrix<T>
/// or MatrixShare<T>: then every process must call what uses this
template <class T, class Matrix>
struct SingularSystem {
  const Matrix& matrix;
  const NullSpace<T>& null_space;  ///< of the matrix, not empty
  const ApplyInverse<T>& apply;
  DenseView<const T> b;
  bool pivots_replaced = false;  ///< in the factor behind `apply`
};

/// x ← A⁺·b for `least_norm`; `warn` adds the part of A⁻¹·b along the null vectors (see NullSpace::growth).
/// That is a linear function of b with a backward error of about u, and huge if b is not in the range of A,
/// as inverse iteration and shift-invert require.
///
/// The inverse is applied between two projections: one removes from b its part outside the range of A, the
/// other removes from x its part in the null space. On these complements A is regular. For `warn`, x holds
/// the usual solution on entry; its columns are kept if no pivot was replaced and their residuals are smaller
/// by a digit.
/// @param x  n × k; on entry, for `warn`: the solution without projections; on return: the solution
/// @returns the errors; `verified` is false
/// @cost  one solve, and refinement as for regular matrices; 16·n flops for each null vector and projection
template <class T, class Matrix>
Verification answer_singular(const SingularSystem<T, Matrix>& system, const SolveRequest& request,
                             SingularAnswer wanted, const RefineOptions& options, DenseView<T> x);

}  // namespace palmette
