// The tasks of a tree partition.
#include "palmette/tasks/tasks.hpp"

namespace palmette {

TaskGraph tree_tasks(const TreePartition& partition, std::span<const double> cost) {
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  for (index_t group = 0; group < partition.num_groups(); ++group) {
    tasks.push_back(
        {TaskKind::subtree, partition.group_begin[group], partition.group_begin[group + 1], 0, cost[group]});
    if (partition.parent[group] != -1) edges.push_back({group, partition.parent[group]});
  }
  return make_task_graph(std::move(tasks), std::move(edges));
}

}  // namespace palmette
