// Breadth-first searches from vertices far out, and the choice among their levels.
#include "palmette/order/distance_levels.hpp"

#include <numeric>
#include <utility>

#include "palmette/order/scramble.hpp"

namespace palmette::order_detail {
namespace {

constexpr int searches = 3;

}  // namespace

/// Fill `search_` with what can be reached from `start`.
void DistanceLevels::run(const LevelGraph& graph, index_t start) {
  seen_.assign(graph.n, 0);
  search_.reached.resize(graph.n);
  search_.begin.assign(1, 0);
  index_t* const reached = search_.reached.data();
  char* const seen = seen_.data();
  reached[0] = start;
  seen[start] = 1;
  std::size_t count = 1;
  for (std::size_t at = 0; at < count;) {
    const std::size_t end = count;
    search_.begin.push_back(end);
    for (; at < end; ++at)
      for (const index_t other : graph.neighbours(reached[at])) {
        if (seen[other]) continue;
        seen[other] = 1;
        reached[count++] = other;
      }
  }
  search_.reached.resize(count);
}

/// The best level of `search_`, if it is better than `chosen`. Vertices that were not reached count as
/// farther than all others.
/// @param total  weight of the graph
bool DistanceLevels::choose_level(const LevelGraph& graph, offset_t total, Level& chosen) const {
  bool found = false;
  Cut cut;
  for (std::size_t level = 0; level + 1 < search_.begin.size(); ++level) {
    const std::size_t begin = search_.begin[level], end = search_.begin[level + 1];
    cut.side_weight[0] += cut.separator_weight;
    cut.separator_weight = 0;
    for (std::size_t at = begin; at < end; ++at) cut.separator_weight += graph.weight[search_.reached[at]];
    cut.side_weight[1] = total - cut.side_weight[0] - cut.separator_weight;
    if (chosen.end > 0 && !is_better(cut, chosen.weights)) continue;
    chosen = {begin, end, cut};
    found = true;
  }
  return found;
}

Cut DistanceLevels::best_cut(const LevelGraph& graph, std::uint64_t name) {
  const offset_t total = std::accumulate(graph.weight.begin(), graph.weight.end(), offset_t{0});
  index_t start = static_cast<index_t>(scramble(name) % static_cast<std::uint64_t>(graph.n));
  Level chosen;
  for (int at = 0; at < searches; ++at) {
    run(graph, start);
    start = search_.reached.back();
    if (choose_level(graph, total, chosen)) std::swap(search_, best_);
  }
  Cut cut = std::move(chosen.weights);
  cut.side.assign(graph.n, Side::second);
  for (std::size_t at = 0; at < chosen.begin; ++at) cut.side[best_.reached[at]] = Side::first;
  for (std::size_t at = chosen.begin; at < chosen.end; ++at) cut.side[best_.reached[at]] = Side::separator;
  cut.separator.assign(best_.reached.begin() + static_cast<std::ptrdiff_t>(chosen.begin),
                       best_.reached.begin() + static_cast<std::ptrdiff_t>(chosen.end));
  return cut;
}

}  // namespace palmette::order_detail
