// Inside `factorize`: the diagonal block of a panel, then the rows below it.
#pragma once

#include "palmette/factorize/pivot_tally.hpp"
#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

/// The place at which a factorization cannot continue.
struct BadPivot {
  index_t supernode = -1;
  index_t column = -1;  ///< of the permuted matrix, LDLᵀ's pivoting undone
  bool finite = true;   ///< finite but not positive (LLᵀ), or not finite
};

/// The failure that this describes, in the numbering of the user's matrix.
NumericalFailure failure_at(const BadPivot& bad, const SymbolicFactor& symbolic);

/// The parts of a panel that finishing it needs, wherever its rows lie.
template <class T>
struct PanelParts {
  FactorKind kind = FactorKind::llt;
  bool adjoint = false;          ///< products use the conjugate transpose
  real_t<T> tiny = 0;            ///< pivots below this are replaced
  index_t supernode = 0;
  index_t first_column = 0;      ///< of the permuted matrix
  bool has_rows_below = false;   ///< on any rank
  DenseView<T> block;            ///< the diagonal block
  std::span<T> d;                ///< LDLᵀ only
  std::span<T> d_below;
  std::span<index_t> place;      ///< LDLᵀ and LU only
  std::span<T> columns;          ///< LDLᵀ only: workspace of width·(width + 1) scalars; empty: allocated
};

/// Factor the diagonal block and add its pivots to the tally.
/// @returns supernode −1 if all is well
template <class T>
BadPivot finish_diagonal(const PanelParts<T>& panel, PivotTally& tally);

/// Finish rows below the diagonal block, those of L and (LU) those of Uᵀ. @param spare  slab_rows scalars
template <class T>
void finish_rows(const PanelParts<T>& panel, DenseView<T> lower, DenseView<T> upper, std::vector<T>& spare);

/// The diagonal block of s holds L in its lower triangle (LLᵀ): clear the other and add up the pivots.
template <class T>
void finish_factored_diagonal(const Work<T>& work, index_t s, PivotTally& tally);

/// Factor the diagonal block of s, add its pivots to the tally, and leave Uᵀ of LU in `upper` too.
/// @returns supernode −1 if all is well
template <class T>
BadPivot finish_diagonal(const Work<T>& work, Scratch<T>& scratch, index_t s, PivotTally& tally);

/// Finish the rows of `range` that lie below the diagonal block of s.
template <class T>
void finish_rows(const Work<T>& work, Scratch<T>& scratch, index_t s, RowRange range);

/// Replaced pivots in the numbering and scaling of the user's matrix. Scales are powers of two, so nothing is
/// rounded.
/// @param factor  a Factor or RankFactor with structure and scales
template <class AnyFactor>
std::vector<ReplacedPivot> in_users_matrix(std::vector<ReplacedPivot> replaced, const AnyFactor& factor) {
  for (ReplacedPivot& pivot : replaced) {
    pivot.row = factor.symbolic->row.new_to_old()[pivot.row];
    pivot.column = factor.symbolic->column.new_to_old()[pivot.column];
    if (!factor.row_scale.empty()) pivot.change /= factor.row_scale[pivot.row];
    if (!factor.column_scale.empty()) pivot.change /= factor.column_scale[pivot.column];
  }
  return replaced;
}

}  // namespace palmette::factorize_detail
