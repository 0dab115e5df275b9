// A schedule for each candidate.
#include "palmette/predict/choose_grid.hpp"

#include <algorithm>
#include <cstdlib>

#include "palmette/predict/schedule.hpp"

namespace palmette {

std::vector<GridChoice> ranked_grids(const GridQuestion& question, const Cluster& cluster) {
  check(cluster);
  if (question.num_ranks < 1) throw UsageError("a grid of " + std::to_string(question.num_ranks) + " ranks; there must be at least 1");
  if (question.maps.empty()) throw UsageError("no map to choose a grid for; give at least one");
  std::vector<GridChoice> choices;
  for (index_t rows = 1; rows <= question.num_ranks; ++rows) {
    if (question.num_ranks % rows != 0) continue;
    const ProcessGrid grid{rows, question.num_ranks / rows};
    for (const PlacementMap map : question.maps) {
      const Placement placement = place(question.symbolic, grid, map, question.whole);
      const SolveTasks tasks = solve_tasks(question.symbolic, placement, question.trees);
      const RankRates rates = rank_rates(tasks, cluster, question.num_rhs, question.scalar_bytes);
      choices.push_back({grid, map, schedule_solve(question.symbolic, tasks, rates).seconds});
    }
  }
  const auto length = [](const GridChoice& one) { return std::abs(one.grid.rows - one.grid.cols); };
  std::stable_sort(choices.begin(), choices.end(), [&](const GridChoice& a, const GridChoice& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : length(a) < length(b);
  });
  return choices;
}

}  // namespace palmette
