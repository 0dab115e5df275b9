// Is the matrix itself singular to working precision? Replaced pivots alone do not prove it: static pivoting
// meets zero pivots in regular matrices, and the factor of a singular one looks regular after the
// replacement.
#pragma once

#include "palmette/matrix/matrix.hpp"
#include "palmette/refine/refine.hpp"

namespace palmette {

/// How near A is to a singular matrix, and which row and column tell.
struct Singularity {
  double distance = 1;  ///< smallest ‖S·z‖∞ / (‖S‖∞·‖z‖∞) found, S being A with rows and columns equilibrated
  index_t column = -1;  ///< of the largest entry of that z: this column depends on the others
  index_t row = -1;     ///< likewise for the left null direction: this row depends on the others
};

/// Look for a direction that A maps to rounding level: there is one exactly if A is within that distance of a
/// singular matrix. Equilibration keeps bad scaling alone from being taken for singularity.
///
/// One step of inverse iteration finds the weakest direction z of the factored (perhaps perturbed) matrix M;
/// corrections z − M⁻¹·A·z then remove from it what M and A do not share, and keep a null vector of A as it
/// is. An answer x that is huge beside its b is such a direction itself, so it is looked at first; the
/// difference of two solutions of one system comes last. Every candidate proves an upper bound of the
/// distance, so that none can make a regular matrix singular.
/// @param x  a solution of op(A)·x = b, n × 1
/// @cost as long as the distance falls: usually six solves and five products with A, at most 22 and 20, and
///   one refined solve
/// @source [Golub and Van Loan 2013], §7.6.1 (inverse iteration)
template <class T>
Singularity find_singularity(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x);
/// The same for a matrix that several processes hold; every process must call it, and gets the same.
template <class T>
Singularity find_singularity(const MatrixShare<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x);

/// Below this distance the matrix counts as singular to working precision.
template <class T>
inline constexpr double singular_distance = 20 * unit_roundoff<T>;

}  // namespace palmette
