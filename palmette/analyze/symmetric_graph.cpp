// Rows are listed by bucketing; a stamp then tells which neighbours have been seen when rows and columns are
// merged.
#include "palmette/analyze/symmetric_graph.hpp"

#include <numeric>

namespace palmette {
namespace {

/// For each vertex, the columns that have an entry in its row.
struct RowLists {
  std::vector<offset_t> ptr;
  std::vector<index_t> column;
};

RowLists rows_of(const SparsityPattern& pattern, const std::vector<index_t>& vertex_of_row) {
  RowLists lists;
  lists.ptr.assign(pattern.rows + 1, 0);
  for (const index_t row : pattern.row_index) ++lists.ptr[vertex_of_row[row] + 1];
  std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
  lists.column.resize(pattern.row_index.size());
  std::vector<offset_t> next(lists.ptr.begin(), lists.ptr.end() - 1);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column)) lists.column[next[vertex_of_row[row]]++] = column;
  return lists;
}

}  // namespace

SymmetricGraph symmetric_graph(const SparsityPattern& pattern, const Permutation& row,
                               const Permutation& column, bool is_symmetric) {
  const index_t n = pattern.rows;
  SymmetricGraph graph;
  graph.n = n;
  if (is_symmetric && row.new_to_old() == column.new_to_old()) {
    graph.ptr = pattern.column_ptr;
    graph.neighbour = pattern.row_index;
    return graph;
  }
  std::vector<index_t> vertex_of_row(n), stamp(n, -1);
  for (index_t place = 0; place < n; ++place)
    vertex_of_row[row.new_to_old()[place]] = column.new_to_old()[place];
  const RowLists lists = rows_of(pattern, vertex_of_row);
  graph.own_ptr.reserve(n + 1);
  graph.own_ptr.push_back(0);
  graph.own_neighbour.reserve(2 * lists.column.size());
  for (index_t vertex = 0; vertex < n; ++vertex) {
    stamp[vertex] = vertex;
    const auto add = [&](index_t other) {
      if (stamp[other] == vertex) return;
      stamp[other] = vertex;
      graph.own_neighbour.push_back(other);
    };
    for (offset_t entry = lists.ptr[vertex]; entry < lists.ptr[vertex + 1]; ++entry) add(lists.column[entry]);
    for (const index_t old_row : pattern.column(vertex)) add(vertex_of_row[old_row]);
    graph.own_ptr.push_back(static_cast<offset_t>(graph.own_neighbour.size()));
  }
  graph.ptr = graph.own_ptr;
  graph.neighbour = graph.own_neighbour;
  return graph;
}

}  // namespace palmette
