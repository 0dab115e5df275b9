// Rows are listed by bucketing; a stamp then tells which neighbours have been seen when rows and columns are
// merged. Renumbering reads the graph at random, once; all later passes read it in their order.
#include "palmette/analyze/symmetric_graph.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

constexpr index_t places_ahead = 8;  // of the request for a vertex's neighbours

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

EliminationGraph::EliminationGraph(const SymmetricGraph& graph, const Permutation& order, ThreadTeam* team)
    : start_(graph.n + 1), num_earlier_(graph.n), num_later_(graph.n) {
  const std::vector<index_t>& vertex = order.new_to_old();
  for (index_t place = 0; place < graph.n; ++place)
    start_[place + 1] = start_[place] + graph.ptr[vertex[place] + 1] - graph.ptr[vertex[place]];
  // not cleared, so that its pages are touched first by the threads that fill them
  neighbour_ = std::make_unique_for_overwrite<index_t[]>(static_cast<std::size_t>(start_.back()));
  over_ranges(team, graph.n, [&](std::int64_t first, std::int64_t end) {
    for (auto place = static_cast<index_t>(first); place < end; ++place) {
      const index_t soon = vertex[std::min(place + places_ahead, graph.n - 1)];
      __builtin_prefetch(graph.neighbour.data() + graph.ptr[soon]);
      place_neighbours(graph, order, place);
    }
  });
  const offset_t earlier = std::accumulate(num_earlier_.begin(), num_earlier_.end(), offset_t{0}),
                 later = std::accumulate(num_later_.begin(), num_later_.end(), offset_t{0});
  if (earlier != later)
    throw UsageError("analyze: the pattern is not symmetric, as symmetric_pattern promises (" +
                     std::to_string(earlier) + " and " + std::to_string(later) +
                     " entries on the two sides of the diagonal, in the order of elimination); pass both "
                     "triangles, or do not set symmetric_pattern");
}

void EliminationGraph::place_neighbours(const SymmetricGraph& graph, const Permutation& order,
                                        index_t place) {
  index_t* const first = neighbour_.get() + start_[place];
  index_t* const end = neighbour_.get() + start_[place + 1];
  index_t *earlier = first, *later = end;
  for (const index_t other : graph.neighbours(order.new_to_old()[place])) {
    // Which end it belongs to is as good as random: both places are free, so it is written to both.
    const index_t at = order.old_to_new()[other];
    *earlier = at;
    later[-1] = at;
    earlier += at < place;
    later -= at > place;
  }
  num_earlier_[place] = static_cast<index_t>(earlier - first);
  num_later_[place] = static_cast<index_t>(end - later);
}

}  // namespace palmette
