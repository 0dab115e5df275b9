// Tree, postorder and counts, each near-linear and without recursion: trees of chains may be n deep.
#include "palmette/analyze/elimination_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace palmette {

std::vector<index_t> elimination_tree(const EliminationGraph& graph) {
  std::vector<index_t> parent(graph.size(), -1);
  // path-compressed way towards the root
  std::vector<index_t> ancestor(graph.size(), -1);
  for (index_t column = 0; column < graph.size(); ++column)
    for (index_t vertex : graph.earlier(column))
      while (vertex != column) {
        const index_t next = std::exchange(ancestor[vertex], column);
        if (next == -1) {
          parent[vertex] = column;
          break;
        }
        vertex = next;
      }
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

std::vector<index_t> postorder(const std::vector<index_t>& parent, const std::vector<index_t>& rank) {
  const index_t n = static_cast<index_t>(parent.size());
  // Lists of children with the lowest rank in front, built by inserting at the front in descending rank.
  // Entry n is the head of the list of roots.
  std::vector<index_t> first_child(parent.size() + 1, -1), next_sibling(parent.size());
  const auto insert = [&](index_t vertex) {
    const index_t above = parent[vertex] == -1 ? n : parent[vertex];
    next_sibling[vertex] = std::exchange(first_child[above], vertex);
  };
  if (rank.empty()) {
    for (index_t vertex = n; vertex-- > 0;) insert(vertex);
  } else {
    const std::vector<index_t> by_rank = sorted_by(rank);
    std::for_each(by_rank.rbegin(), by_rank.rend(), insert);
  }
  std::vector<index_t> order(parent.size());
  index_t place = 0;
  for (index_t vertex = first_child[n]; vertex != -1;) {
    for (index_t child = first_child[vertex]; child != -1; child = first_child[vertex]) vertex = child;
    // Without children left, then a sibling is next, or the parent, whose children are done.
    order[place++] = vertex;
    const index_t above = parent[vertex];
    vertex = next_sibling[vertex];
    if (vertex == -1 && above != -1) first_child[vertex = above] = -1;
  }
  return order;
}

namespace {

/// Finds, for the entries of one row taken in postorder of their columns, which are leaves of the row's
/// subtree, and where the path from a new leaf meets the subtree of the earlier ones.
class RowSubtrees {
 public:
  RowSubtrees(const std::vector<index_t>& parent, const std::vector<index_t>& post)
      : first_(parent.size(), -1), leaves_(parent.size()), ancestor_(parent.size()) {
    std::iota(ancestor_.begin(), ancestor_.end(), 0);
    for (index_t when = 0; when < static_cast<index_t>(post.size()); ++when)
      for (index_t vertex = post[when]; vertex != -1 && first_[vertex] == -1; vertex = parent[vertex])
        first_[vertex] = when;
  }
  /// Place in the postorder of the column's first descendant.
  index_t first_descendant(index_t column) const { return first_[column]; }
  /// Whether `column`, with this first descendant, is a leaf of row's subtree; `meeting` is then the least
  /// common ancestor with the previous leaf, or −1.
  bool is_leaf(index_t row, index_t column, index_t first, index_t& meeting) {
    Leaves& leaves = leaves_[row];
    if (first <= leaves.largest_first) return false;
    leaves.largest_first = first;
    const index_t previous = std::exchange(leaves.previous, column);
    meeting = previous == -1 ? -1 : root_of(previous);
    return true;
  }
  /// The subtree of `column` is complete: paths may now lead through it.
  void close(index_t column, index_t parent) { ancestor_[column] = parent; }

 private:
  struct Leaves {  // of a row's subtree, so far
    index_t largest_first = -1;
    index_t previous = -1;
  };
  index_t root_of(index_t vertex) {
    index_t root = vertex;
    while (ancestor_[root] != root) root = ancestor_[root];
    while (vertex != root) vertex = std::exchange(ancestor_[vertex], root);
    return root;
  }
  std::vector<index_t> first_;     // by column
  std::vector<Leaves> leaves_;     // by row
  std::vector<index_t> ancestor_;  // union-find
};

}  // namespace

std::vector<index_t> column_counts(const EliminationGraph& graph, const std::vector<index_t>& parent,
                                   const std::vector<index_t>& post) {
  RowSubtrees subtrees(parent, post);
  std::vector<index_t> count(parent.size(), 0);
  for (index_t when = 0; when < static_cast<index_t>(post.size()); ++when) {
    const index_t column = post[when], first = subtrees.first_descendant(column);
    index_t gained = first == when ? 1 : 0;  // a leaf of the tree
    for (const index_t row : graph.later(column)) {
      index_t meeting = -1;
      if (!subtrees.is_leaf(row, column, first, meeting)) continue;
      ++gained;
      if (meeting != -1) --count[meeting];
    }
    count[column] += gained;
    if (parent[column] == -1) continue;
    --count[parent[column]];
    subtrees.close(column, parent[column]);
  }
  for (const index_t column : post)
    if (parent[column] != -1) count[parent[column]] += count[column];
  return count;
}

}  // namespace palmette
