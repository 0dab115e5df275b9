// Trees of sums, and which sums a participant can form.
#include "palmette/tasks/sum_tree.hpp"

#include <algorithm>

namespace palmette {

index_t SumTree::add_leaf(index_t which) {
  contributor.push_back(which);
  shape.push_back(which);
  child_ptr.push_back(static_cast<index_t>(child.size()));
  return size() - 1;
}

index_t SumTree::add_sum(const std::vector<index_t>& children, index_t shape_of) {
  contributor.push_back(-1);
  shape.push_back(shape_of);
  child.insert(child.end(), children.begin(), children.end());
  child_ptr.push_back(static_cast<index_t>(child.size()));
  return size() - 1;
}

SumTree sum_along_forest(const std::vector<index_t>& parent) {
  SumTree tree;
  std::vector<std::vector<index_t>> below(parent.size());
  for (std::size_t at = 0; at < parent.size(); ++at) {
    index_t node = tree.add_leaf(static_cast<index_t>(at));
    if (!below[at].empty()) {
      below[at].push_back(node);
      node = tree.add_sum(below[at], static_cast<index_t>(at));
    }
    (parent[at] == -1 ? tree.tops : below[parent[at]]).push_back(node);
  }
  return tree;
}

namespace {

constexpr index_t thirds = 3, powers = 16;

/// Replaces several nodes by one; a single node stays as it is.
index_t joined(SumTree& tree, const std::vector<index_t>& nodes) {
  std::vector<index_t> some;
  for (const index_t node : nodes)
    if (node != -1) some.push_back(node);
  if (some.empty()) return -1;
  return some.size() == 1 ? some[0] : tree.add_sum(some, tree.shape[some[0]]);
}

}  // namespace

SumTree sum_by_classes(const std::vector<index_t>& row_block) {
  SumTree tree;
  std::vector<std::vector<index_t>> members(thirds * powers);
  for (std::size_t at = 0; at < row_block.size(); ++at) {
    const index_t node = tree.add_leaf(static_cast<index_t>(at));
    members[row_block[at] % thirds * powers + row_block[at] % powers].push_back(
        node);
  }
  std::vector<index_t> third;
  for (index_t a = 0; a < thirds; ++a) {
    std::vector<index_t> level;
    for (index_t b = 0; b < powers; ++b)
      level.push_back(joined(tree, members[a * powers + b]));
    while (level.size() > 1) {
      const std::size_t half = level.size() / 2;
      for (std::size_t b = 0; b < half; ++b) level[b] = joined(tree, {level[b], level[b + half]});
      level.resize(half);
    }
    third.push_back(level[0]);
  }
  const index_t root = joined(tree, third);
  if (root != -1) tree.tops.push_back(root);
  return tree;
}

PartialSums partial_sums(const SumTree& tree, const std::vector<index_t>& have) {
  std::vector<char> there(tree.size(), 0);
  for (const index_t node : have) there[node] = 1;
  PartialSums result;
  for (index_t node = 0; node < tree.size(); ++node) {
    const auto at = static_cast<std::size_t>(node);
    const auto begin = tree.child.begin() + tree.child_ptr[at],
               end = tree.child.begin() + tree.child_ptr[at + 1];
    if (begin == end ||
        !std::all_of(begin, end, [&](index_t one) { return there[one] != 0; }))
      continue;
    std::for_each(begin, end, [&](index_t one) { there[one] = 0; });
    there[at] = 1;
    result.made.push_back(node);
  }
  for (index_t node = 0; node < tree.size(); ++node)
    if (there[node] != 0) result.outgoing.push_back(node);
  return result;
}

}  // namespace palmette
