// Inside `factorize`: the updates of a panel by its descendants.
#pragma once

#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

/// Subtract from `target`, rows of the panel of s, the updates of every descendant, in ascending order.
/// scratch.mapped == s.
template <class T>
void gather_updates(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target);

/// The update by one descendant alone.
template <class T>
void gather_update(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target,
                   const Updater& updater);

/// The descendant's rows that fall into rows `range` of the panel of s: places in its row list.
RowRange rows_within(const SymbolicFactor& symbolic, index_t s, RowRange range, const Updater& updater);

}  // namespace palmette::factorize_detail
