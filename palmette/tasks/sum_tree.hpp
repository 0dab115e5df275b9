// Inside `tasks`: the order in which the contributions to one block row (or column) are added, whatever ranks
// they come from.
#pragma once

#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Nodes are numbered so that children come before their parents. A leaf is a contribution; any other node is
/// the sum of its children from left to right. The result is the sum of `tops`, added from left to right.
/// Depends only on the structure.
struct SumTree {
  std::vector<index_t> contributor;      // length nodes: of a leaf; −1 for a sum
  std::vector<index_t> shape;            // length nodes: contributor whose rows the node has
  std::vector<index_t> child_ptr = {0};  // length nodes + 1
  std::vector<index_t> child;
  std::vector<index_t> tops;             // ascending

  index_t size() const { return static_cast<index_t>(contributor.size()); }
  index_t add_leaf(index_t which);
  /// @param children  ascending, two or more
  index_t add_sum(const std::vector<index_t>& children, index_t shape_of);
};

/// Forward: contributors are the nodes of a forest; a node's sum is that of its children and then its own
/// contribution, as in a
/// multifrontal solve. @param parent  length contributors: larger number, or −1: then it is a top
SumTree sum_along_forest(const std::vector<index_t>& parent);

/// Backward: contributors are row blocks, by number modulo 48: first those that agree modulo 3 and 16, in
/// ascending order, then pairs of classes modulo 16, 8, 4, 2, then the three modulo 3. So ranks in a cyclic
/// distribution over 2, 3, 4, 6, 8, … hold whole sums, at most three.
SumTree sum_by_classes(const std::vector<index_t>& row_block);

/// The sums that one participant can form from what it has.
struct PartialSums {
  std::vector<index_t> made;      ///< sums that it can add up, ascending
  std::vector<index_t> outgoing;  ///< remaining nodes, ascending
};
/// @param have  nodes, in any order, each once; no node and its ancestor both
PartialSums partial_sums(const SumTree& tree, const std::vector<index_t>& have);

}  // namespace palmette
