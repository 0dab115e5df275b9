// Part of the door of `blocks`: one rank's part of a whole factor.
#pragma once

#include <memory>
#include <span>

#include "palmette/blocks/rank_factor.hpp"

namespace palmette {

/// A copy of the blocks that a rank owns, bit for bit as after a factorization over ranks. For solves over
/// ranks with a factor that was computed, or read, in one place, and for simulations.
/// @throws UsageError if there is no such rank; MemoryError
/// @cost   one pass over the rank's blocks
template <class T>
RankFactor<T> rank_part(const Factor<T>& factor, std::shared_ptr<const Placement> placement, index_t rank);

/// The same for some of the supernodes, as a structure of their own.
/// @param symbolic   its supernodes have the same rows below as those of factor.symbolic, or none
/// @param placement  of `symbolic`
/// @param supernode  length symbolic->num_supernodes(): number in factor.symbolic, ascending
/// @throws DimensionError if sizes differ
template <class T>
RankFactor<T> rank_part(const Factor<T>& factor, std::shared_ptr<const SymbolicFactor> symbolic,
                        std::shared_ptr<const Placement> placement, index_t rank,
                        std::span<const index_t> supernode);

}  // namespace palmette
