// Inside `solver`: answers to systems whose matrix is singular to working precision.
#pragma once

#include "palmette/solver/null_space.hpp"
#include "palmette/solver/solve_request.hpp"

namespace palmette {

/// A system and what is known of its matrix. Refers to the caller's objects.
template <class T>
struct SingularSystem {
  const SparseMatrix<T>& matrix;
  const NullSpace<T>& null_space;  ///< of the matrix, not empty
  const ApplyInverse<T>& apply;
  DenseView<const T> b;
  bool pivots_replaced = false;  ///< in the factor behind `apply`
};

/// x ← A⁺·b for `least_norm`; for `warn` besides what A⁻¹·b has along the null vectors (see
/// NullSpace::growth): a linear function of b, of backward error about u, huge where b is out of A's range.
/// Inverse iteration and shift-invert live on that.
///
/// The inverse is used between two projections: b loses what no A·x can reach, x what A does not see. On
/// these complements A is regular. For `warn` x comes in with the usual answer, whose columns stay where no
/// pivot was replaced and their residuals are smaller by a digit.
/// @param x  n × k; for `warn` in: the answer without projections; out: the answer
/// @returns the errors; `verified` is false
/// @cost  one solve, and refinement as for regular matrices; 16·n flops for each null vector and projection
template <class T>
Verification answer_singular(const SingularSystem<T>& system, const SolveRequest& request,
                             SingularAnswer wanted, const RefineOptions& options, DenseView<T> x);

}  // namespace palmette
