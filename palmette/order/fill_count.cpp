// Column counts from the leaves of row subtrees, for weighted vertices.
#include "palmette/order/fill_count.hpp"

#include <algorithm>

namespace palmette::order_detail {

/// Paths are compressed through `ancestor`.
std::vector<index_t> elimination_tree(const Graph& graph, const std::vector<index_t>& order,
                                      const std::vector<index_t>& place) {
  std::vector<index_t> parent(order.size(), -1), ancestor(order.size(), -1);
  for (index_t column = 0; column < graph.n; ++column) {
    const index_t vertex = order[column];
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge) {
      index_t row = place[graph.neighbour[edge]];
      while (row >= 0 && row < column) {
        const index_t next = ancestor[row];
        ancestor[row] = column;
        if (next < 0) parent[row] = column;
        row = next;
      }
    }
  }
  return parent;
}

namespace {

/// A postorder of the forest, without recursion; children in ascending order.
std::vector<index_t> postorder(const std::vector<index_t>& parent) {
  const index_t n = static_cast<index_t>(parent.size());
  std::vector<index_t> child(parent.size(), -1), sibling(parent.size(), -1), stack, post;
  post.reserve(parent.size());
  for (index_t node = n - 1; node >= 0; --node)
    if (parent[node] >= 0) {
      sibling[node] = child[parent[node]];
      child[parent[node]] = node;
    }
  for (index_t root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const index_t node = stack.back();
      if (child[node] >= 0) {
        stack.push_back(child[node]);
        child[node] = sibling[child[node]];
      } else {
        stack.pop_back();
        post.push_back(node);
      }
    }
  }
  return post;
}

/// Finds the leaves of the row subtrees while columns are visited in postorder.
class RowSubtrees {
 public:
  explicit RowSubtrees(std::size_t n)
      : first_(n, -1), largest_first_(n, -1), previous_leaf_(n, -1), ancestor_(n) {
    for (std::size_t node = 0; node < n; ++node) ancestor_[node] = static_cast<index_t>(node);
  }
  /// The first descendant of each node in postorder. @returns for each node whether it is a leaf of the
  /// forest
  std::vector<char> number(const std::vector<index_t>& post, const std::vector<index_t>& parent) {
    std::vector<char> is_leaf(post.size(), 0);
    for (index_t when = 0; when < static_cast<index_t>(post.size()); ++when) {
      index_t node = post[when];
      is_leaf[node] = first_[node] < 0;
      for (; node >= 0 && first_[node] < 0; node = parent[node]) first_[node] = when;
    }
    return is_leaf;
  }
  /// Is `column` a leaf of the subtree of `row`? If it is not the first one, `meet` becomes the least common
  /// ancestor of this leaf and the one before, else −1.
  bool is_leaf(index_t row, index_t column, index_t& meet) {
    meet = -1;
    if (first_[column] <= largest_first_[row]) return false;
    largest_first_[row] = first_[column];
    const index_t before = previous_leaf_[row];
    previous_leaf_[row] = column;
    if (before >= 0) meet = find(before);
    return true;
  }
  void climb(index_t column, index_t parent) { ancestor_[column] = parent; }

 private:
  index_t find(index_t node) {
    index_t root = node;
    while (ancestor_[root] != root) root = ancestor_[root];
    while (node != root) {
      const index_t next = ancestor_[node];
      ancestor_[node] = root;
      node = next;
    }
    return root;
  }
  std::vector<index_t> first_, largest_first_, previous_leaf_, ancestor_;
};

/// Number of unknowns in the structure of each column, including the column's own vertex.
std::vector<offset_t> column_counts(const Graph& graph, const std::vector<index_t>& order,
                                    const std::vector<index_t>& place, const std::vector<index_t>& parent) {
  RowSubtrees subtrees(order.size());
  const std::vector<index_t> post = postorder(parent);
  const std::vector<char> is_tree_leaf = subtrees.number(post, parent);
  std::vector<offset_t> count(order.size(), 0);
  for (index_t column = 0; column < graph.n; ++column)
    if (is_tree_leaf[column]) count[column] = graph.weight_of(order[column]);
  for (const index_t column : post) {
    const index_t vertex = order[column];
    if (parent[column] >= 0) count[parent[column]] -= graph.weight_of(vertex);
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge) {
      const index_t other = graph.neighbour[edge];
      const index_t row = place[other];
      index_t meet;
      if (row <= column || !subtrees.is_leaf(row, column, meet)) continue;
      count[column] += graph.weight_of(other);
      if (meet >= 0) count[meet] -= graph.weight_of(other);
    }
    if (parent[column] >= 0) subtrees.climb(column, parent[column]);
  }
  for (index_t column = 0; column < graph.n; ++column)
    if (parent[column] >= 0) count[parent[column]] += count[column];
  return count;
}

}  // namespace

FillCount fill_count(const Graph& graph, const std::vector<index_t>& order) {
  std::vector<index_t> place(order.size());
  for (index_t at = 0; at < graph.n; ++at) place[order[at]] = at;
  const std::vector<index_t> parent = elimination_tree(graph, order, place);
  const std::vector<offset_t> count = column_counts(graph, order, place, parent);
  FillCount total;
  for (index_t column = 0; column < graph.n; ++column) {
    const index_t width = graph.weight_of(order[column]);
    for (index_t unknown = 0; unknown < width; ++unknown) {
      const double length = static_cast<double>(count[column] - unknown);
      total.entries += length;
      total.flops += length * length;
    }
  }
  return total;
}

}  // namespace palmette::order_detail
