// Finds vertices with nearly the same neighbours.
#include <algorithm>
#include <array>
#include <cstdint>

#include "palmette/order/graph.hpp"
#include "palmette/order/scramble.hpp"

namespace palmette::order_detail {
namespace {

constexpr offset_t fewest_neighbours = 12;
constexpr double least_overlap = 0.6;      // common ÷ all neighbours of two, each counted as its own
constexpr int least_equal_hashes = 5;      // equal hashes of 8 that make two vertices worth comparing
constexpr index_t samples = 64;
constexpr double least_sampled = 0.5;      // fraction of the samples that must find a similar neighbour
constexpr index_t largest_group = 8;
constexpr offset_t largest_sampled = 512;  // most neighbours of a vertex that is worth sampling

using Sketch = std::array<std::uint16_t, 8>;

/// Eight hashes of a vertex.
Sketch hashes(index_t vertex) {
  Sketch sketch;
  std::uint64_t word = static_cast<std::uint64_t>(vertex);
  for (std::size_t half = 0; half < 2; ++half) {
    word = scramble(word);
    for (std::size_t at = 0; at < 4; ++at)
      sketch[4 * half + at] = static_cast<std::uint16_t>(word >> (16 * at));
  }
  return sketch;
}

/// By vertex: the smallest value of each hash over the vertex and its neighbours.
std::vector<Sketch> sketches(const Graph& graph) {
  std::vector<Sketch> own(graph.n), least(own.size());
  for (index_t vertex = 0; vertex < graph.n; ++vertex) own[vertex] = hashes(vertex);
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    Sketch sketch = own[vertex];
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge) {
      const Sketch& other = own[graph.neighbour[edge]];
      for (std::size_t at = 0; at < 8; ++at) sketch[at] = std::min(sketch[at], other[at]);
    }
    least[vertex] = sketch;
  }
  return least;
}

bool are_like(const Sketch& a, const Sketch& b) {
  int equal = 0;
  for (std::size_t at = 0; at < 8; ++at) equal += a[at] == b[at];
  return equal >= least_equal_hashes;
}

/// Compares vertices with one whose neighbours are marked.
class Comparison {
 public:
  explicit Comparison(const Graph& graph) : graph_(graph), marked_(graph.n, -1) {}
  bool overlap(index_t vertex, index_t other) {
    if (marked_[vertex] != vertex) {
      marked_[vertex] = vertex;
      for (offset_t at = graph_.start[vertex]; at < graph_.start[vertex + 1]; ++at)
        marked_[graph_.neighbour[at]] = vertex;
    }
    offset_t common = 1;  // `other` itself, a neighbour of `vertex`
    for (offset_t at = graph_.start[other]; at < graph_.start[other + 1]; ++at)
      common += marked_[graph_.neighbour[at]] == vertex;
    const offset_t all = graph_.degree(vertex) + graph_.degree(other) + 2 - common;
    return static_cast<double>(common) >= least_overlap * static_cast<double>(all);
  }

 private:
  const Graph& graph_;
  std::vector<index_t> marked_;  // by vertex: the last vertex in whose neighbourhood it was found
};

bool sample_is_promising(const Graph& graph) {
  Comparison comparison(graph);
  index_t tried = 0, found = 0;
  const index_t step = std::max<index_t>(graph.n / samples, 1);
  for (index_t vertex = step / 2; vertex < graph.n; vertex += step) {
    ++tried;
    if (graph.degree(vertex) < fewest_neighbours || graph.degree(vertex) > largest_sampled) continue;
    const auto begin = graph.neighbour.begin() + graph.start[vertex],
               end = graph.neighbour.begin() + graph.start[vertex + 1];
    found += std::any_of(begin, end, [&](index_t other) {
      return graph.degree(other) <= 2 * graph.degree(vertex) && comparison.overlap(vertex, other);
    });
  }
  return found >= least_sampled * tried;
}

Groups every_vertex_alone(index_t n) {
  Groups groups;
  for (index_t vertex = 0; vertex < n; ++vertex) {
    groups.member.push_back(vertex);
    groups.start.push_back(vertex + 1);
  }
  return groups;
}

}  // namespace

Groups nearly_indistinguishable(const Graph& graph) {
  if (graph.n == 0 || !sample_is_promising(graph)) return every_vertex_alone(graph.n);
  const std::vector<Sketch> sketch = sketches(graph);
  Comparison comparison(graph);
  std::vector<char> taken(graph.n, 0);
  Groups groups;
  groups.member.reserve(graph.n);
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    if (taken[vertex]) continue;
    taken[vertex] = 1;
    groups.member.push_back(vertex);
    index_t size = graph.degree(vertex) < fewest_neighbours ? largest_group : 1;
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1] && size < largest_group;
         ++edge) {
      const index_t other = graph.neighbour[edge];
      if (taken[other] || !are_like(sketch[vertex], sketch[other]) || !comparison.overlap(vertex, other))
        continue;
      taken[other] = 1;
      groups.member.push_back(other);
      ++size;
    }
    groups.start.push_back(static_cast<index_t>(groups.member.size()));
  }
  return groups;
}

}  // namespace palmette::order_detail
