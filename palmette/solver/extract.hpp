// The factors L, D and U as plain sparse matrices, for inspection and for use elsewhere.
#pragma once

#include "palmette/blocks/blocks.hpp"

namespace palmette {

/// L·U = A permuted: (L·U)(i, j) = A(row.new_to_old[i], column.new_to_old[j]), scalings undone.
template <class T>
struct ExtractedLu {
  SparseMatrix<T> lower;  ///< unit lower triangular, the diagonal stored
  SparseMatrix<T> upper;  ///< upper triangular
  Permutation row;        ///< length n: ordering, postorder, and the pivoting inside supernodes
  Permutation column;     ///< length n
};

/// Extract L and U from a factor.
///
/// The factor holds P·R·A·C·Qᵀ = L·U with scalings R and C. Let D be the diagonal of R in the order of the
/// pivoted rows; then L' = D⁻¹·L·D is unit lower triangular, U' = D⁻¹·U·C⁻¹, and L'·U' = P·A·Qᵀ. R and C hold
/// powers of two, so nothing is rounded. Entries that are exactly zero are omitted, including those of
/// relaxed supernodes. If pivots were replaced, L'·U' is the matrix that was factored instead of A.
/// @throws UsageError if the factor is not of kind LU
/// @cost  O(panel entries) time; the result and one more copy of L and of U in memory
template <class T>
ExtractedLu<T> extract_lu(const Factor<T>& factor);

/// L·D·Lᴴ = A permuted (LLᵀ: D = 1; complex symmetric LDLᵀ: L·D·Lᵀ): (L·D·Lᴴ)(i, j) = A(order.new_to_old[i],
/// order.new_to_old[j]).
template <class T>
struct ExtractedLdl {
  SparseMatrix<T> lower;     ///< lower triangular, the diagonal stored: ones for LDLᵀ
  SparseMatrix<T> diagonal;  ///< D: diagonal but for pivots of two rows
  Permutation order;         ///< length n: ordering, postorder, and the pivoting inside supernodes
};

/// Extract L and D from a factor of kind LLᵀ or LDLᵀ. Scalings are undone as in extract_lu: L' = R⁻¹·L·R, D'
/// = R⁻¹·D·R⁻¹.
/// @throws UsageError if the factor is of kind LU
/// @cost  as extract_lu
template <class T>
ExtractedLdl<T> extract_ldl(const Factor<T>& factor);

/// Row and column orders of the factors: row i and column j of their product are row.new_to_old[i] and
/// column.new_to_old[j] of A. The same for LLᵀ and LDLᵀ.
struct FactorOrder {
  Permutation row;
  Permutation column;
};
template <class T>
FactorOrder order_of(const Factor<T>& factor);

}  // namespace palmette
