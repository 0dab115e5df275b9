// Tests whether the matrix itself is singular to working precision. Replaced pivots alone do not prove it:
// static pivoting meets zero pivots in regular matrices too, and the factor of a singular matrix looks
// regular after the replacement.
#pragma once

#include "palmette/matrix/matrix.hpp"
#include "palmette/refine/refine.hpp"

namespace palmette {

/// The distance of A from a singular matrix, and a dependent row and column.
struct Singularity {
  double distance = 1;  ///< smallest ‖S·z‖∞ / (‖S‖∞·‖z‖∞) found, S being A with rows and columns equilibrated
  index_t column = -1;  ///< column of the largest entry of that z: it depends on the other columns
  index_t row = -1;     ///< the same for the left null direction: this row depends on the others
};

/// Look for a direction that A maps to rounding level: there is one exactly if A is within that distance of a
/// singular matrix. A is equilibrated first, so that bad scaling alone does not count as singularity.
///
/// One step of inverse iteration finds the weakest direction z of the factored (perhaps perturbed) matrix M;
/// corrections z − M⁻¹·A·z then remove from it what M and A do not share, and leave a null vector of A
/// unchanged. A solution x that is huge compared with its b is such a direction itself, so it is tried first;
/// the difference of two solutions of one system is tried last. Every candidate proves an upper bound of the
/// distance, so a regular matrix cannot be reported as singular.
/// @param x  a solution of op(A)·x = b, n × 1
/// @cost iterates while the distance decreases: usually six solves and five products with A, at most 22 and
///   20, and one refined solve
/// @source [Golub and Van Loan 2013], §7.6.1 (inverse iteration)
template <class T>
Singularity find_singularity(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x);
/// The same for a matrix that is distributed over several processes. Every process must call it, and all get
/// the same result.
template <class T>
Singularity find_singularity(const MatrixShare<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x);

/// Below this distance the matrix counts as singular to working precision.
template <class T>
inline constexpr double singular_distance = 20 * unit_roundoff<T>;

}  // namespace palmette
