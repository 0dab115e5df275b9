// Tree, postorder and counts, each near-linear and without recursion: trees of chains may be n deep.
#include "palmette/analyze/elimination_tree.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {

std::vector<index_t> elimination_tree(const EliminationGraph& graph) {
  std::vector<index_t> parent(graph.size(), -1);
  // path-compressed way towards the root
  std::vector<index_t> ancestor(graph.size(), -1);
  for (index_t column = 0; column < graph.size(); ++column)
    graph.for_each_neighbour(column, [&](index_t vertex) {
      while (vertex != -1 && vertex < column) {
        const index_t next = ancestor[vertex];
        ancestor[vertex] = column;
        if (next == -1) parent[vertex] = column;
        vertex = next;
      }
    });
  return parent;
}

namespace {

/// The indices of `rank` in ascending rank, equal ones in ascending order.
std::vector<index_t> sorted_by(const std::vector<index_t>& rank) {
  std::vector<index_t> start(rank.size() + 2, 0), sorted(rank.size());
  for (const index_t r : rank) ++start[r + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::size_t vertex = 0; vertex < rank.size(); ++vertex)
    sorted[start[rank[vertex]]++] = static_cast<index_t>(vertex);
  return sorted;
}

}  // namespace

Permutation postorder(const std::vector<index_t>& parent, const std::vector<index_t>& rank) {
  const index_t n = static_cast<index_t>(parent.size());
  const std::vector<index_t> by_rank = sorted_by(rank);
  // Lists of children with the lowest rank in front, built by inserting at the front in descending rank.
  // Entry n is the head of the list of roots.
  std::vector<index_t> first_child(parent.size() + 1, -1), next_sibling(parent.size(), -1);
  for (auto vertex = by_rank.rbegin(); vertex != by_rank.rend(); ++vertex) {
    const index_t above = parent[*vertex] == -1 ? n : parent[*vertex];
    next_sibling[*vertex] = first_child[above];
    first_child[above] = *vertex;
  }
  std::vector<index_t> order, path;
  order.reserve(parent.size());
  path.push_back(n);
  while (!path.empty()) {
    const index_t vertex = path.back();
    const index_t child = first_child[vertex];
    if (child != -1) {
      first_child[vertex] = next_sibling[child];
      path.push_back(child);
    } else {
      path.pop_back();
      if (vertex != n) order.push_back(vertex);
    }
  }
  return Permutation(std::move(order));
}

namespace {

/// Finds, for the entries of one row taken in postorder of their columns, which are leaves of the row's
/// subtree, and where the path from a new leaf meets the subtree of the earlier ones.
class RowSubtrees {
 public:
  explicit RowSubtrees(const std::vector<index_t>& parent)
      : parent_(parent),
        first_(parent.size(), -1),
        largest_first_(parent.size(), -1),
        previous_leaf_(parent.size(), -1),
        ancestor_(parent.size()) {
    std::iota(ancestor_.begin(), ancestor_.end(), 0);
    for (index_t column = 0; column < static_cast<index_t>(parent.size()); ++column)
      for (index_t vertex = column; vertex != -1 && first_[vertex] == -1; vertex = parent[vertex])
        first_[vertex] = column;
  }
  bool is_tree_leaf(index_t column) const { return first_[column] == column; }
  /// True if `column` is a leaf of row's subtree; `meeting` is the least common ancestor with the previous
  /// leaf, or −1.
  bool is_leaf(index_t row, index_t column, index_t& meeting) {
    meeting = -1;
    if (first_[column] <= largest_first_[row]) return false;
    largest_first_[row] = first_[column];
    const index_t previous = previous_leaf_[row];
    previous_leaf_[row] = column;
    if (previous != -1) meeting = root_of(previous);
    return true;
  }
  /// The subtree of `column` is complete: paths may now lead through it.
  void close(index_t column) {
    if (parent_[column] != -1) ancestor_[column] = parent_[column];
  }

 private:
  index_t root_of(index_t vertex) {
    index_t root = vertex;
    while (ancestor_[root] != root) root = ancestor_[root];
    while (vertex != root) vertex = std::exchange(ancestor_[vertex], root);
    return root;
  }
  const std::vector<index_t>& parent_;
  std::vector<index_t> first_;          // first descendant in postorder
  std::vector<index_t> largest_first_;  // by row: largest first_ of its leaves so far
  std::vector<index_t> previous_leaf_;  // by row
  std::vector<index_t> ancestor_;       // union-find
};

}  // namespace

std::vector<index_t> column_counts(const EliminationGraph& graph, const std::vector<index_t>& parent) {
  RowSubtrees subtrees(parent);
  std::vector<index_t> count(parent.size());
  for (index_t column = 0; column < graph.size(); ++column)
    count[column] = subtrees.is_tree_leaf(column) ? 1 : 0;
  for (index_t column = 0; column < graph.size(); ++column) {
    if (parent[column] != -1) --count[parent[column]];
    graph.for_each_neighbour(column, [&](index_t row) {
      index_t meeting = -1;
      if (row <= column || !subtrees.is_leaf(row, column, meeting)) return;
      ++count[column];
      if (meeting != -1) --count[meeting];
    });
    subtrees.close(column);
  }
  for (index_t column = 0; column < graph.size(); ++column)
    if (parent[column] != -1) count[parent[column]] += count[column];
  return count;
}

}  // namespace palmette
