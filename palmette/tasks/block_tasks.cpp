// Parts by entries, orders by the paths ahead.
#include "palmette/tasks/block_tasks.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace palmette {
namespace {

/// 64 KB of doubles, which a block reads in about two microseconds: as long as it takes to begin with a task.
constexpr offset_t entries_of_part = 8192;
/// Waiting, gathering and publishing, in entries that could be read meanwhile.
constexpr double entries_of_start = 8192;

index_t parts_of(const SymbolicFactor& symbolic, index_t s) {
  const offset_t rows = symbolic.leading_dimension(s), entries = rows * symbolic.width(s);
  const offset_t most = std::max<offset_t>(1, rows / 16);
  return static_cast<index_t>(std::clamp<offset_t>(entries / entries_of_part, 1, most));
}

/// Tasks by descending value of their supernodes; those of one supernode stay together.
std::vector<index_t> descending(const BlockTasks& tasks, const std::vector<double>& value) {
  std::vector<index_t> order(tasks.supernode_of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](index_t left, index_t right) {
    return value[tasks.supernode_of[left]] > value[tasks.supernode_of[right]];
  });
  return order;
}

void order_by_paths(const SymbolicFactor& symbolic, BlockTasks& tasks) {
  const index_t count = symbolic.num_supernodes();
  std::vector<double> up(count), down(count, 0);
  const auto cost = [&](index_t s) {
    const auto entries = static_cast<double>(symbolic.leading_dimension(s) * symbolic.width(s));
    return entries_of_start + entries / tasks.parts(s);
  };
  for (index_t s = count - 1; s >= 0; --s)
    up[s] = cost(s) + (symbolic.parent[s] >= 0 ? up[symbolic.parent[s]] : 0);
  for (index_t s = 0; s < count; ++s) {
    down[s] += cost(s);
    if (const index_t parent = symbolic.parent[s]; parent >= 0)
      down[parent] = std::max(down[parent], down[s]);
  }
  tasks.forward = descending(tasks, up);
  tasks.backward = descending(tasks, down);
}

/// By supernode.
std::vector<char> small_supernodes(const SymbolicFactor& symbolic) {
  std::vector<char> small(symbolic.num_supernodes(), 1);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (symbolic.width(s) > small_width || symbolic.leading_dimension(s) > small_rows) small[s] = 0;
    if (small[s] == 0 && symbolic.parent[s] >= 0) small[symbolic.parent[s]] = 0;
  }
  return small;
}

/// Those of small supernodes to the front of forward and to the end of backward.
void set_small_apart(const SymbolicFactor& symbolic, BlockTasks& tasks) {
  tasks.is_small = small_supernodes(symbolic);
  const auto is_small = [&](index_t task) { return tasks.is_small[tasks.supernode_of[task]] != 0; };
  const auto others = std::stable_partition(tasks.forward.begin(), tasks.forward.end(), is_small);
  std::stable_partition(tasks.backward.begin(), tasks.backward.end(), std::not_fn(is_small));
  tasks.num_small = static_cast<index_t>(others - tasks.forward.begin());
}

void order_by_levels(const SymbolicFactor& symbolic, BlockTasks& tasks) {
  const index_t count = symbolic.num_supernodes();
  std::vector<double> below(count, 0);  // minus the height
  for (index_t s = 0; s < count; ++s)
    if (const index_t parent = symbolic.parent[s]; parent >= 0)
      below[parent] = std::min(below[parent], below[s] - 1);
  tasks.by_level = descending(tasks, below);
  tasks.level_begin.assign(1, 0);
  for (index_t k = 1; k <= tasks.num_tasks(); ++k)
    if (k == tasks.num_tasks() ||
        below[tasks.supernode_of[tasks.by_level[k]]] != below[tasks.supernode_of[tasks.by_level[k - 1]]])
      tasks.level_begin.push_back(k);
}

}  // namespace

BlockTasks block_tasks(const SymbolicFactor& symbolic) {
  BlockTasks tasks;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    tasks.supernode_of.insert(tasks.supernode_of.end(), parts_of(symbolic, s), s);
    tasks.task_ptr.push_back(tasks.num_tasks());
  }
  order_by_paths(symbolic, tasks);
  set_small_apart(symbolic, tasks);
  order_by_levels(symbolic, tasks);
  return tasks;
}

}  // namespace palmette
