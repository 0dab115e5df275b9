// One queue of vertices serves all searches.
#include "palmette/order/breadth_first.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "palmette/order/scramble.hpp"
#include "palmette/order/vertex_queue.hpp"

namespace palmette::order_detail {
namespace {

constexpr std::size_t deep = 60;  // distances of a graph of which a third tells how it grows
constexpr index_t fewest_scattered = 100000;  // vertices; smaller graphs lie in the caches
constexpr index_t far_apart = 8192;  // a second-level cache holds the edges of several times as many vertices
constexpr index_t samples = 256;
constexpr int near_steps = 3, far_steps = 6;  // radii of the balls around a vertex
constexpr int most_balls = 64, fewest_balls = 8;
constexpr offset_t most_in_balls = 20000;  // vertices of all balls; those of a plane's mesh have 8,000

/// A search from one vertex.
struct Sweep {
  std::vector<index_t> within;  // number of vertices within each distance of the first one
  index_t last = 0;             // a vertex that was reached last
};

/// @param most  distances to visit
Sweep sweep_from(index_t start, const Graph& graph, std::size_t most) {
  VertexQueue queue(graph);
  queue.push(start);
  Sweep sweep;
  sweep.within.push_back(1);
  while (sweep.within.size() < most) {
    queue.advance();
    if (queue.count() == sweep.within.back()) break;
    sweep.within.push_back(queue.count());
  }
  sweep.last = queue.last();
  return sweep;
}

}  // namespace

/// The second search begins far from the first one's start, at a border. It goes through a deep graph no
/// further than needed.
double growth_dimension(const Graph& graph) {
  if (graph.n == 0) return 0;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const Sweep first = sweep_from(0, graph, all);
  if (first.within.back() < graph.n / 2) return 0;
  std::size_t depth = first.within.size() - 1;
  const bool is_deep = depth >= deep;
  const Sweep second = sweep_from(first.last, graph, is_deep ? depth / 3 + 1 : all);
  if (!is_deep) depth = second.within.size() - 1;
  const std::size_t near = depth / 6, far = depth / 3;
  if (near == 0) return 0;
  return std::log(double(second.within[far]) / second.within[near]) /
         std::log((static_cast<double>(far) + 0.5) / (static_cast<double>(near) + 0.5));
}

/// The median of all balls: some meshes have a few edges that are far longer than the others.
double local_dimension(const Graph& graph) {
  if (graph.n == 0) return 0;
  VertexQueue queue(graph);
  std::vector<double> growth;
  offset_t visited = 0;
  for (int ball = 0; ball < most_balls && (ball < fewest_balls || visited < most_in_balls); ++ball) {
    queue.clear();
    queue.push(scrambled_index(static_cast<std::uint64_t>(ball), graph.n));
    index_t near = 1;
    for (int step = 1; step <= far_steps; ++step) {
      queue.advance();
      if (step == near_steps) near = queue.count();
    }
    if (queue.count() > graph.n / 4) return 0;
    growth.push_back(static_cast<double>(queue.count()) / near);
    visited += queue.count();
  }
  const auto middle = growth.begin() + static_cast<std::ptrdiff_t>(growth.size() / 2);
  std::nth_element(growth.begin(), middle, growth.end());
  return std::log(*middle) / std::log((far_steps + 0.5) / (near_steps + 0.5));
}

bool is_scattered(const Graph& graph) {
  if (graph.n < fewest_scattered) return false;
  offset_t edges = 0, long_edges = 0;
  for (index_t sample = 0; sample < samples; ++sample) {
    const index_t vertex = scrambled_index(static_cast<std::uint64_t>(sample), graph.n);
    edges += graph.degree(vertex);
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
      long_edges += std::abs(graph.neighbour[edge] - vertex) > far_apart;
  }
  return 2 * long_edges > edges;
}

std::vector<index_t> breadth_first_order(const Graph& graph) {
  VertexQueue queue(graph);
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    if (queue.has_seen(vertex)) continue;
    queue.push(vertex);
    while (queue.is_waiting()) queue.advance();
  }
  return queue.take();
}

Graph renumbered(const Graph& graph, const std::vector<index_t>& order, ThreadTeam& team) {
  Graph result;
  result.n = graph.n;
  result.start.resize(graph.n + 1);
  std::vector<index_t> place(graph.n);
  for (index_t at = 0; at < graph.n; ++at) {
    place[order[at]] = at;
    result.start[at + 1] = result.start[at] + graph.degree(order[at]);
  }
  result.neighbour.resize(graph.neighbour.size());
  if (!graph.weight.empty()) result.weight.resize(graph.n);
  over_ranges(&team, graph.n, [&](std::int64_t first, std::int64_t end) {
    for (auto at = static_cast<index_t>(first); at < end; ++at) {
      prefetch_lists(graph, order.data(), at, graph.n);
      const index_t vertex = order[at];
      index_t* const begin = result.neighbour.data() + result.start[at];
      index_t* next = begin;
      for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
        *next++ = place[graph.neighbour[edge]];
      std::sort(begin, next);
      if (!graph.weight.empty()) result.weight[at] = graph.weight[vertex];
    }
  });
  return result;
}

}  // namespace palmette::order_detail
