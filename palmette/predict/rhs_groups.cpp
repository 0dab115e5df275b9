// Groups of right-hand sides as copies of all tasks.
#include "palmette/predict/rhs_groups.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {
namespace {

double largest_urgency(const SolveGraph& tasks) {
  double largest = 0;
  for (const SolveTask& one : tasks.tasks)
    if (std::isfinite(one.urgency)) largest = std::max(largest, one.urgency);
  return largest;
}

}  // namespace

SolveGraph tasks_in_groups(const SolveGraph& tasks, index_t groups) {
  if (groups < 1)
    throw UsageError(std::to_string(groups) + " groups of right-hand sides; there must be at least 1");
  SolveGraph all;
  all.num_ranks = tasks.num_ranks;
  const double above = largest_urgency(tasks) + 1;
  for (index_t group = 0; group < groups; ++group) {
    const index_t first = group * tasks.num_tasks();
    const offset_t edges = static_cast<offset_t>(all.edges.size());
    for (SolveTask one : tasks.tasks) {
      one.urgency += (groups - 1 - group) * above;
      all.tasks.push_back(one);
    }
    for (const SolveEdge& one : tasks.edges)
      all.edges.push_back({one.from + first, one.to + first, one.message_rows});
    for (index_t task = 1; task <= tasks.num_tasks(); ++task)
      all.out_ptr.push_back(edges + tasks.out_ptr[task]);
  }
  return all;
}

GroupChoice choose_rhs_groups(const SolveGraph& tasks, const RankRates& rates) {
  constexpr double least_gain = 1.05;
  constexpr index_t least_bytes = 64;
  const double plain = schedule_solve(tasks, rates).seconds;
  GroupChoice choice{1, plain, plain};
  for (const index_t groups : {2, 4, 8}) {
    RankRates of_group = rates;
    of_group.num_rhs = (rates.num_rhs + groups - 1) / groups;
    if (of_group.num_rhs * rates.scalar_bytes < least_bytes) break;
    const double seconds = schedule_solve(tasks_in_groups(tasks, groups), of_group).seconds;
    if (least_gain * seconds < plain && seconds < choice.seconds) choice = {groups, plain, seconds};
  }
  return choice;
}

}  // namespace palmette
