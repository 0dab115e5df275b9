// Inside `factorize`: the diagonal block of a panel, then the rows below it.
#pragma once

#include "palmette/factorize/pivot_tally.hpp"
#include "palmette/factorize/work.hpp"

namespace palmette::factorizing {

/// Where a factorization cannot go on.
struct BadPivot {
  index_t supernode = -1;
  index_t column = -1;  ///< of the permuted matrix, LDLᵀ's pivoting undone
  bool finite = true;   ///< finite but not positive (LLᵀ), or not finite
};

/// Factor the diagonal block of s and add its pivots to the tally.
/// @returns supernode −1 if all is well
template <class T>
BadPivot finish_diagonal(const Work<T>& work, Scratch<T>& scratch, index_t s, PivotTally& tally);

/// Finish the rows of `range` that lie below the diagonal block of s.
template <class T>
void finish_rows(const Work<T>& work, Scratch<T>& scratch, index_t s, RowRange range);

}  // namespace palmette::factorizing
