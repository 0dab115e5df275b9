// Breadth-first searches from vertices far out, and the choice among their levels.
#include "palmette/order/distance_levels.hpp"

#include <numeric>
#include <utility>

#include "palmette/order/scramble.hpp"
#include "palmette/order/vertex_queue.hpp"

namespace palmette::order_detail {
namespace {

constexpr int searches = 3;

/// A place in the queue of a search: the vertices of one distance.
struct Level {
  index_t begin = 0, end = 0;
  Cut weights;  // without lists
};

/// Search from the vertex in the queue, and take the best level if it is better than `chosen`. Vertices that
/// are not reached count as farther than all others.
/// @param total  weight of the graph
/// @returns whether one was taken
bool choose_level(const LevelGraph& graph, offset_t total, VertexQueue<LevelGraph>& queue, Level& chosen) {
  bool found = false;
  Cut cut;
  for (index_t begin = 0; queue.is_waiting();) {
    const index_t end = queue.count();
    cut.side_weight[0] += cut.separator_weight;
    cut.separator_weight = 0;
    for (index_t at = begin; at < end; ++at) cut.separator_weight += graph.weight[queue[at]];
    cut.side_weight[1] = total - cut.side_weight[0] - cut.separator_weight;
    if (chosen.end == 0 || is_better(cut, chosen.weights)) {
      chosen = {begin, end, cut};
      found = true;
    }
    queue.advance();
    begin = end;
  }
  return found;
}

}  // namespace

Cut cut_by_distance(const LevelGraph& graph, std::uint64_t name) {
  const offset_t total = std::accumulate(graph.weight.begin(), graph.weight.end(), offset_t{0});
  VertexQueue queue(graph), best(graph);
  Level chosen;
  index_t start = scrambled_index(name, graph.n);
  for (int search = 0; search < searches; ++search) {
    queue.clear();
    queue.push(start);
    const bool found = choose_level(graph, total, queue, chosen);
    start = queue.last();
    if (found) std::swap(queue, best);
  }
  Cut cut = std::move(chosen.weights);
  cut.side.assign(graph.n, Side::second);
  for (index_t at = 0; at < chosen.begin; ++at) cut.side[best[at]] = Side::first;
  for (index_t at = chosen.begin; at < chosen.end; ++at) {
    cut.side[best[at]] = Side::separator;
    cut.separator.push_back(best[at]);
  }
  return cut;
}

}  // namespace palmette::order_detail
