// Part of the door of `place`: the tree along which the ranks that share a row or a column of blocks pass
// values on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

enum class TreeShape {
  binary,  ///< depth ⌈log2⌉, two messages for each rank
  flat,    ///< the root exchanges messages with each rank
};
inline constexpr TreeShape tree_shapes[] = {TreeShape::binary, TreeShape::flat};
std::string_view name_of(TreeShape shape);
/// @throws UsageError listing the names
TreeShape tree_shape(std::string_view name);

/// Ranks, beginning with the root; a parent precedes its children. A broadcast goes down, a reduction up.
struct CommunicationTree {
  TreeShape shape = TreeShape::binary;
  std::vector<index_t> ranks;  ///< the root, then ascending

  index_t size() const { return static_cast<index_t>(ranks.size()); }
  /// Position of the parent of the rank at this position; −1 for the root.
  index_t parent(index_t position) const {
    return position == 0 ? -1 : shape == TreeShape::flat ? 0 : (position - 1) / 2;
  }
  index_t first_child(index_t position) const {
    return shape == TreeShape::flat ? (position == 0 ? 1 : size()) : 2 * position + 1;
  }
  index_t end_child(index_t position) const {
    return shape == TreeShape::flat ? size() : std::min<index_t>(2 * position + 3, size());
  }
  /// −1 if the rank takes no part.
  index_t position_of(index_t rank) const {
    if (ranks[0] == rank) return 0;
    const auto found = std::lower_bound(ranks.begin() + 1, ranks.end(), rank);
    return found == ranks.end() || *found != rank ? -1 : static_cast<index_t>(found - ranks.begin());
  }
};

/// @param members  with or without the root, in any order, repetitions allowed
CommunicationTree communication_tree(TreeShape shape, index_t root, std::vector<index_t> members);

}  // namespace palmette
