// Building and shrinking the graph of A + Aᵀ.
#include "palmette/order/graph.hpp"

#include <algorithm>
#include <cstdint>

#include "palmette/order/scramble.hpp"

namespace palmette::order_detail {
namespace {

/// The rows of a pattern, renumbered, as compressed lists of ascending columns.
SparsityPattern renumbered_rows(const SparsityPattern& pattern, const std::vector<index_t>& new_row) {
  SparsityPattern rows;
  rows.rows = pattern.cols;
  rows.cols = pattern.rows;
  rows.column_ptr.assign(pattern.rows + 1, 0);
  const auto renumber = [&](index_t row) { return new_row.empty() ? row : new_row[row]; };
  for (const index_t row : pattern.row_index) ++rows.column_ptr[renumber(row) + 1];
  for (index_t row = 0; row < pattern.rows; ++row) rows.column_ptr[row + 1] += rows.column_ptr[row];
  rows.row_index.resize(pattern.row_index.size());
  std::vector<offset_t> next(rows.column_ptr.begin(), rows.column_ptr.end() - 1);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column)) rows.row_index[next[renumber(row)]++] = column;
  return rows;
}

/// Append the union of two ascending lists, without `self`.
void append_union(std::span<const index_t> first, std::span<const index_t> second, index_t self,
                  std::vector<index_t>& out) {
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() || b != second.end()) {
    index_t next;
    if (b == second.end() || (a != first.end() && *a <= *b)) {
      if (b != second.end() && *a == *b) ++b;
      next = *a++;
    } else {
      next = *b++;
    }
    if (next != self) out.push_back(next);
  }
}

/// Sum of words over a vertex and its neighbours: equal for indistinguishable vertices.
std::vector<std::uint64_t> neighbourhood_hashes(const Graph& graph) {
  std::vector<std::uint64_t> word(graph.n), hash(graph.n);
  // scrambled, so that sums of words tell sets of vertices apart
  for (index_t vertex = 0; vertex < graph.n; ++vertex)
    word[vertex] = scramble(static_cast<std::uint64_t>(vertex));
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    std::uint64_t sum = word[vertex];
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
      sum += word[graph.neighbour[edge]];
    hash[vertex] = sum;
  }
  return hash;
}

/// True if every neighbour of `vertex` is marked with `mark`.
bool all_marked(const Graph& graph, index_t vertex, const std::vector<index_t>& marked, index_t mark) {
  for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
    if (marked[graph.neighbour[edge]] != mark) return false;
  return true;
}

}  // namespace

std::vector<index_t> Groups::group_of() const {
  std::vector<index_t> group(member.size());
  for (index_t g = 0; g < count(); ++g)
    for (index_t at = start[g]; at < start[g + 1]; ++at) group[member[at]] = g;
  return group;
}

std::vector<index_t> Groups::expand(const std::vector<index_t>& order) const {
  std::vector<index_t> expanded;
  expanded.reserve(member.size());
  for (const index_t g : order)
    expanded.insert(expanded.end(), member.begin() + start[g], member.begin() + start[g + 1]);
  return expanded;
}

Graph adjacency(const SparsityPattern& pattern, const std::vector<index_t>& new_row, bool symmetric) {
  Graph graph;
  graph.n = pattern.cols;
  if (symmetric && new_row.empty()) {
    graph.start.resize(graph.n + 1);
    graph.neighbour.resize(pattern.row_index.size());
    index_t* next = graph.neighbour.data();
    for (index_t column = 0; column < graph.n; ++column) {
      for (const index_t row : pattern.column(column))
        if (row != column) *next++ = row;
      graph.start[column + 1] = next - graph.neighbour.data();
    }
    graph.neighbour.resize(static_cast<std::size_t>(graph.start.back()));
    return graph;
  }
  graph.start.reserve(graph.n + 1);
  graph.neighbour.reserve(pattern.row_index.size());
  const SparsityPattern by_row = renumbered_rows(pattern, new_row);
  const SparsityPattern by_column = renumbered_rows(by_row, {});
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    append_union(by_row.column(vertex), by_column.column(vertex), vertex, graph.neighbour);
    graph.start.push_back(static_cast<offset_t>(graph.neighbour.size()));
  }
  return graph;
}

Graph quotient(const Graph& graph, const Groups& groups, bool alike) {
  Graph smaller;
  smaller.n = groups.count();
  smaller.start.reserve(smaller.n + 1);
  smaller.weight.assign(smaller.n, 0);
  const std::vector<index_t> group_of = groups.group_of();
  std::vector<index_t> seen_by(smaller.n, -1);
  for (index_t group = 0; group < smaller.n; ++group) {
    seen_by[group] = group;
    for (index_t at = groups.start[group]; at < groups.start[group + 1]; ++at) {
      const index_t vertex = groups.member[at];
      smaller.weight[group] += graph.weight_of(vertex);
      if (alike && at > groups.start[group]) continue;
      for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge) {
        const index_t other = group_of[graph.neighbour[edge]];
        if (seen_by[other] == group) continue;
        seen_by[other] = group;
        smaller.neighbour.push_back(other);
      }
    }
    smaller.start.push_back(static_cast<offset_t>(smaller.neighbour.size()));
  }
  return smaller;
}

double sampled_twins(const Graph& graph) {
  constexpr index_t samples = 256;
  if (graph.n < 16 * samples) return 1;
  std::vector<index_t> marked(graph.n, -1);
  index_t found = 0;
  for (index_t sample = 0; sample < samples; ++sample) {
    // anywhere in its share of the vertices: even distances could meet the same unknown of each point
    const auto share = static_cast<index_t>(offset_t(graph.n) * sample / samples);
    const std::uint64_t within = scramble(static_cast<std::uint64_t>(sample)) % (graph.n / samples);
    const index_t vertex = share + static_cast<index_t>(within);
    const auto begin = graph.neighbour.begin() + graph.start[vertex],
               end = graph.neighbour.begin() + graph.start[vertex + 1];
    marked[vertex] = vertex;
    std::for_each(begin, end, [&](index_t other) { marked[other] = vertex; });
    found += std::any_of(begin, end, [&](index_t other) {
      return graph.degree(other) == graph.degree(vertex) && all_marked(graph, other, marked, vertex);
    });
  }
  return static_cast<double>(found) / samples;
}

Groups indistinguishable(const Graph& graph) {
  const std::vector<std::uint64_t> hash = neighbourhood_hashes(graph);
  std::vector<index_t> marked(graph.n, -1);
  std::vector<char> taken(graph.n, 0);
  Groups groups;
  groups.member.reserve(graph.n);
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    if (taken[vertex]) continue;
    groups.member.push_back(vertex);
    bool is_marked = false;  // the neighbours of `vertex` are marked only when there is a candidate
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge) {
      const index_t other = graph.neighbour[edge];
      if (taken[other] || other < vertex || hash[other] != hash[vertex] ||
          graph.degree(other) != graph.degree(vertex))
        continue;
      if (!is_marked) {
        marked[vertex] = vertex;
        for (offset_t at = graph.start[vertex]; at < graph.start[vertex + 1]; ++at)
          marked[graph.neighbour[at]] = vertex;
        is_marked = true;
      }
      if (!all_marked(graph, other, marked, vertex)) continue;
      taken[other] = 1;
      groups.member.push_back(other);
    }
    groups.start.push_back(static_cast<index_t>(groups.member.size()));
  }
  return groups;
}

Graph induced(const Graph& graph, const std::vector<index_t>& vertices, const std::vector<index_t>& place) {
  Graph part;
  part.n = static_cast<index_t>(vertices.size());
  part.start.assign(vertices.size() + 1, 0);
  offset_t most = 0;
  for (const index_t vertex : vertices) most += graph.degree(vertex);
  part.neighbour.reserve(static_cast<std::size_t>(most));
  for (index_t at = 0; at < part.n; ++at) {
    const index_t vertex = vertices[at];
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
      if (place[graph.neighbour[edge]] >= 0) part.neighbour.push_back(place[graph.neighbour[edge]]);
    part.start[at + 1] = static_cast<offset_t>(part.neighbour.size());
    if (!graph.weight.empty()) part.weight.push_back(graph.weight[vertex]);
  }
  return part;
}

}  // namespace palmette::order_detail
