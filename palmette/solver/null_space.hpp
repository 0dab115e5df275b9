// The left and right null spaces of a matrix, up to rounding.
#pragma once

#include <mutex>

#include "palmette/refine/refine.hpp"
#include "palmette/solver/thin_basis.hpp"

namespace palmette {

/// The largest dimension of a null space that is computed.
inline constexpr index_t most_null_directions = 16;

/// Orthonormal bases of the directions that A and Aᴴ map to rounding level.
template <class T>
struct NullSpace {
  DenseMatrix<T> right;  ///< n × k: A·right ≈ 0
  /// n × k: Aᴴ·left ≈ 0; equal to right for symmetric and Hermitian A (conjugated for complex symmetric A)
  DenseMatrix<T> left;
  /// k × k: the inverse of leftᴴ·A·right, none of its singular values above 1/(u·‖A‖∞). right·growth·leftᴴ·b
  /// is the part of A⁻¹·b along the null vectors; Hermitian (symmetric) where A is.
  DenseMatrix<with_precision_t<T, double>> growth;
  double distance = 1;     ///< smallest ‖S·z‖∞ / (‖S‖∞·‖z‖∞) found, S being A equilibrated
  /// column of the largest entry of the weakest direction, equilibrated: it depends on the other columns
  index_t column = -1;
  index_t row = -1;        ///< likewise from the left
  bool too_large = false;  ///< more than most_null_directions: both bases are empty then

  index_t dimension() const { return right.cols; }
};

/// Find them; none if A is regular to working precision. The result depends only on A and its inverse, not on
/// a right-hand side.
///
/// A solution y of A·y = A·z that is found without using z differs from z by a null vector. For a few
/// patternless z, these differences for the refined solver span the null space of a matrix whose pivots had
/// to be replaced. Inverse iteration adds the directions that it finds; the singular vectors of A within the
/// span of all of them are then separated by the size of their images. The number of z grows until some of
/// them add nothing new.
/// @param matrix  n × n; symmetry: its own, if only up to rounding @param apply  A⁻¹, possibly of a slightly
///   perturbed A
/// @cost  for each side and z about 5 solves and 20·n flops for each other z; symmetric matrices have one
///   side
/// @source [Golub and Van Loan 2013], §7.6.1 (inverse iteration), §8.1 (Rayleigh–Ritz)
template <class T>
NullSpace<T> find_null_space(const SparseMatrix<T>& matrix, Symmetry symmetry, const ApplyInverse<T>& apply);
/// The same for a matrix that is distributed over several processes. Every process must call it, with an
/// `apply` that all call together, and all get the same result, with the bits of the whole matrix and the
/// same `apply`.
template <class T>
NullSpace<T> find_null_space(const MatrixShare<T>& matrix, Symmetry symmetry, const ApplyInverse<T>& apply);

/// Vectors that A maps to rounding level.
template <class T>
struct NullBasis {
  DenseMatrix<T> basis;  ///< n × k, orthonormal
  double residual = 0;   ///< largest ‖A·z‖∞ / (‖A‖∞·‖z‖∞) of the columns
  double bound = 0;      ///< for `verified`
  bool verified = false;
  /// relative distance of A, equilibrated, to a singular matrix; more than the bound if there is no column
  double singular_distance = 1;

  index_t dimension() const { return basis.cols; }
};
/// The right null space, verified against A. @param matrix  whole, or a share: then every process must call
/// @returns it; or numerically_singular if it is too large
template <class T, class Matrix>
Outcome<NullBasis<T>> verified_basis(const NullSpace<T>& found, const Matrix& matrix);

/// The null space of one matrix, computed when it is first needed.
template <class T>
class NullSpaceOnDemand {
 public:
  /// @param matrix  whole, or a share of it
  template <class Matrix>
  const NullSpace<T>& get(const Matrix& matrix, Symmetry symmetry, const ApplyInverse<T>& apply) {
    std::call_once(looked_for_, [&] { found_ = find_null_space(matrix, symmetry, apply); });
    return found_;
  }

 private:
  std::once_flag looked_for_;
  NullSpace<T> found_;
};

}  // namespace palmette
