// Both functions visit vertices in ascending order and append them to their neighbours' lists, which sorts every list
// without comparing.
#include "palmette/analyze/symmetric_graph.hpp"

#include <numeric>

namespace palmette {
namespace {

/// Lists of columns by row: for each new row, the new columns of its off-diagonal entries, ascending.
struct RowLists {
  std::vector<offset_t> ptr;
  std::vector<index_t> column;
};

RowLists rows_of(const SparsityPattern& pattern, const Permutation& row, const Permutation& column) {
  const index_t n = pattern.rows;
  const std::vector<index_t>& new_row = row.old_to_new();
  RowLists lists;
  lists.ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const index_t old_row : pattern.row_index) ++lists.ptr[new_row[old_row] + 1];
  std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
  lists.column.resize(pattern.row_index.size());
  std::vector<offset_t> next(lists.ptr.begin(), lists.ptr.end() - 1);
  for (index_t new_column = 0; new_column < n; ++new_column)
    for (const index_t old_row : pattern.column(column.new_to_old()[new_column]))
      lists.column[next[new_row[old_row]]++] = new_column;
  return lists;
}

}  // namespace

SymmetricGraph symmetric_graph(const SparsityPattern& pattern, const Permutation& row, const Permutation& column) {
  const index_t n = pattern.rows;
  const RowLists lists = rows_of(pattern, row, column);
  const std::vector<index_t>& new_row = row.old_to_new();
  // Row k of B and column k of B together, without duplicates: a stamp tells whether a vertex was seen for this k.
  std::vector<index_t> stamp(static_cast<std::size_t>(n), -1);
  std::vector<offset_t> degree(static_cast<std::size_t>(n) + 1, 0);
  std::vector<index_t> merged;
  merged.reserve(lists.column.size() * 2);
  for (index_t vertex = 0; vertex < n; ++vertex) {
    stamp[vertex] = vertex;
    const std::size_t before = merged.size();
    const auto add = [&](index_t other) {
      if (stamp[other] == vertex) return;
      stamp[other] = vertex;
      merged.push_back(other);
    };
    for (offset_t entry = lists.ptr[vertex]; entry < lists.ptr[vertex + 1]; ++entry) add(lists.column[entry]);
    for (const index_t old_row : pattern.column(column.new_to_old()[vertex])) add(new_row[old_row]);
    degree[vertex + 1] = static_cast<offset_t>(merged.size() - before);
  }
  SymmetricGraph graph;
  graph.n = n;
  graph.ptr = std::move(degree);
  std::partial_sum(graph.ptr.begin(), graph.ptr.end(), graph.ptr.begin());
  graph.neighbour.resize(merged.size());
  std::vector<offset_t> next(graph.ptr.begin(), graph.ptr.end() - 1);
  for (index_t vertex = 0; vertex < n; ++vertex)
    for (offset_t entry = graph.ptr[vertex]; entry < graph.ptr[vertex + 1]; ++entry)
      graph.neighbour[next[merged[entry]]++] = vertex;
  return graph;
}

SymmetricGraph renumber(const SymmetricGraph& graph, const Permutation& place) {
  SymmetricGraph result;
  result.n = graph.n;
  result.ptr.assign(static_cast<std::size_t>(graph.n) + 1, 0);
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    const index_t old = place.new_to_old()[vertex];
    result.ptr[vertex + 1] = result.ptr[vertex] + (graph.ptr[old + 1] - graph.ptr[old]);
  }
  result.neighbour.resize(graph.neighbour.size());
  std::vector<offset_t> next(result.ptr.begin(), result.ptr.end() - 1);
  for (index_t vertex = 0; vertex < graph.n; ++vertex)
    for (const index_t old : graph.neighbours(place.new_to_old()[vertex]))
      result.neighbour[next[place.old_to_new()[old]]++] = vertex;
  return result;
}

}  // namespace palmette
