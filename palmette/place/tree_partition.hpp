// Part of the door of `place`: groups of supernodes that are whole subtrees, and single supernodes above
// them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "palmette/analyze/analyze.hpp"

namespace palmette {

/// Supernodes grouped into whole subtrees of at most `max_weight` and single supernodes above them. Depends
/// on the structure and the weights alone, never on the number of threads, so results keep their bits.
struct TreePartition {
  std::vector<index_t> group_begin = {0};  // length num_groups + 1: supernodes of a group are consecutive
  // length num_groups: group of the parent of the group's last supernode, −1
  std::vector<index_t> parent;
  index_t num_groups() const { return static_cast<index_t>(parent.size()); }
  /// The group of supernode s. @cost O(log num_groups)
  index_t group_of(index_t s) const {
    const auto after = std::upper_bound(group_begin.begin(), group_begin.end(), s);
    return static_cast<index_t>(after - group_begin.begin()) - 1;
  }
};
/// @param weight  length num_supernodes, ≥ 0
TreePartition partition_tree(const SymbolicFactor& symbolic, std::span<const double> weight,
                             double max_weight);

/// Adjacent small whole subtrees under one parent (or roots) become one group of at most `max_weight`: a
/// forest of thousands of tiny trees must not become thousands of tasks.
/// @param weight  length num_supernodes, as partition_tree had it
TreePartition join_small_siblings(const TreePartition& cut, std::span<const double> weight,
                                  double max_weight);

/// Number of entries that one sweep of a solve reads for each supernode, in its triangle and its rows below;
/// length num_supernodes.
std::vector<double> sweep_entries(const SymbolicFactor& symbolic);

/// The groups of solves: subtrees that hold up to 1/64 of the factor, between 2^11 and 2^16 scalars, unless
/// told otherwise.
/// @param max_entries  largest subtree that is one group; 0: the default, which depends on the structure
///   alone
/// @param apart        empty, or length num_supernodes: marks supernodes that are groups of their own, as
///   must be all above them
TreePartition sweep_groups(const SymbolicFactor& symbolic, double max_entries = 0,
                           std::span<const char> apart = {});

}  // namespace palmette
