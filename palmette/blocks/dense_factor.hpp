// Dense factorizations of one diagonal block, with static pivoting inside the block: tiny pivots are replaced
// and counted.
#pragma once

#include <algorithm>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Lower triangle of the w × w block A ← L with L·Lᴴ = A (LLᵀ for real); parts of the strict upper triangle
/// may be overwritten.
/// @returns −1, or the column k whose pivot is not positive (or not finite); block(k, k) then holds that
///   pivot, the rest of the block is undefined
/// @cost w³/3 flops
template <class T>
index_t factor_llt(DenseView<T> block);

/// Invert a triangular w × w block in place (strict other triangle untouched). @returns −1 or the first zero
/// diagonal.
template <class T>
index_t invert_triangle(bool lower, bool unit_diagonal, DenseView<T> block);

/// What pivoting did in a block. Places are counted within the block.
struct BlockPivots {
  std::vector<index_t> perturbed;  ///< places (after pivoting) of the replaced pivots
  std::vector<std::complex<double>> change;  ///< what was added to each of them
  /// Smallest and largest modulus of a pivot before replacement (for a 2 × 2 pivot, of its eigenvalues).
  double smallest_modulus = infinity;
  double largest_modulus = 0;
  bool odd_permutation = false;  ///< LU: the row exchanges form an odd permutation
  /// At the first replacement, the whole remaining column was exactly zero: the block is singular.
  bool exactly_singular = false;

  void count(double modulus) {
    smallest_modulus = std::min(smallest_modulus, modulus);
    largest_modulus = std::max(largest_modulus, modulus);
  }
  void replaced(index_t place_of_pivot, std::complex<double> added, bool column_is_zero) {
    if (perturbed.empty()) exactly_singular = column_is_zero;
    perturbed.push_back(place_of_pivot);
    change.push_back(added);
  }
};

/// Storage for D, and workspace.
template <class T>
struct PairStorage {
  std::span<T> d;        ///< length w: diagonal of D
  std::span<T> d_below;  ///< length w: subdiagonal of D; nonzero at k exactly where (k, k+1) is a 2 × 2 pivot
  std::span<T> columns = {};  ///< w·(w + 1) scalars of workspace; if empty, it is allocated
};

/// Factor the lower triangle of a w × w symmetric (or Hermitian) block: P·A·Pᵀ = L·D·Lᵀ (or Lᴴ), by bounded
/// Bunch–Kaufman (rook) pivoting over the whole block; D has 1 × 1 and 2 × 2 blocks. No entry of L exceeds
/// 2.79 in modulus (4.0 for complex scalars, whose moduli are |re| + |im|), except below replaced pivots.
///
/// On return the strict lower triangle holds unit L. A 1 × 1 pivot whose modulus is below `tiny` is replaced
/// by tiny with its own sign (complex symmetric: its own phase; zero counts as positive) and recorded. 2 × 2
/// pivots have a subdiagonal of at least `tiny` and are never replaced.
/// @param block     in: lower triangle of A; out: L below the diagonal (diagonal and upper triangle
///   undefined)
/// @param pairs     out: D
/// @param place     length w, out: row k of P·A is row place[k] of A
/// @cost w³/3 flops, up to twice that where many pivots must be searched for; see PairStorage for the
///   workspace
/// @source [Ashcraft et al. 1998], §2; xLASYF_ROOK of [Anderson et al. 1999] for the arrangement;
///         the constants are those of [Bunch and Kaufman 1977]
template <class T>
BlockPivots factor_ldlt(bool hermitian, real_t<T> tiny, DenseView<T> block, const PairStorage<T>& pairs,
                        std::span<index_t> place);

/// P·A = L·U with partial pivoting inside the w × w block; L unit lower and U upper overwrite the block.
/// A pivot whose modulus is below `tiny` is replaced by tiny times its sign and recorded.
/// @param place  length w, out: row k of P·A is row place[k] of A
/// @cost 2w³/3 flops
template <class T>
BlockPivots factor_lu(real_t<T> tiny, DenseView<T> block, std::span<index_t> place);

}  // namespace palmette
