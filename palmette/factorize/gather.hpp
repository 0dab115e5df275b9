// Inside `factorize`: the updates of a panel by its descendants.
#pragma once

#include "palmette/factorize/work.hpp"

namespace palmette::factorizing {

/// Subtract from `target`, rows of the panel of s, the updates of every descendant, in ascending order.
/// scratch.mapped == s.
template <class T>
void gather_updates(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target);

}  // namespace palmette::factorizing
