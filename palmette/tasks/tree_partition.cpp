// Groups of supernodes: whole subtrees below a weight limit, single supernodes above.
#include <algorithm>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

/// Weight of each supernode's subtree, length num_supernodes.
std::vector<double> subtree_weights(const SymbolicFactor& symbolic, std::span<const double> weight) {
  std::vector<double> total(weight.begin(), weight.end());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    if (symbolic.parent[s] != -1) total[symbolic.parent[s]] += total[s];
  return total;
}

}  // namespace

TreePartition partition_tree(const SymbolicFactor& symbolic, std::span<const double> weight, double max_weight) {
  const index_t count = symbolic.num_supernodes();
  const std::vector<double> total = subtree_weights(symbolic, weight);
  TreePartition partition;
  std::vector<index_t> group_of(static_cast<std::size_t>(count));
  // A supernode ends its group when its subtree is within the limit and its parent's is not; above, each stands alone.
  for (index_t s = 0; s < count; ++s) {
    const bool small = total[s] <= max_weight;
    const bool parent_small = symbolic.parent[s] != -1 && total[symbolic.parent[s]] <= max_weight;
    group_of[s] = static_cast<index_t>(partition.group_begin.size()) - 1;
    if (!small || !parent_small) partition.group_begin.push_back(s + 1);
  }
  const index_t groups = static_cast<index_t>(partition.group_begin.size()) - 1;
  partition.parent.resize(static_cast<std::size_t>(groups));
  for (index_t group = 0; group < groups; ++group) {
    const index_t above = symbolic.parent[partition.group_begin[group + 1] - 1];
    partition.parent[group] = above == -1 ? -1 : group_of[above];
  }
  return partition;
}

TaskGraph tree_tasks(const TreePartition& partition, std::span<const double> cost) {
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  for (index_t group = 0; group < partition.num_groups(); ++group) {
    tasks.push_back({TaskKind::subtree, partition.group_begin[group], partition.group_begin[group + 1], 0, cost[group]});
    if (partition.parent[group] != -1) edges.push_back({group, partition.parent[group]});
  }
  return make_task_graph(std::move(tasks), std::move(edges));
}

}  // namespace palmette
