// Inside `factorize`: the updates of a panel by its descendants.
#pragma once

#include "palmette/factorize/work.hpp"

namespace palmette::factorizing {

/// Subtract from rows `range` of the panel of s what every descendant owes them, descendants in ascending order; for LU
/// from the upper panel's rows too. scratch.mapped == s.
template <class T>
void gather_updates(const Work<T>& work, Scratch<T>& scratch, index_t s, RowRange range);

}  // namespace palmette::factorizing
