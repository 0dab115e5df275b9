// The task graph of a factorization: subtrees as single tasks, row chunks of panels above them.
#include <algorithm>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

/// A subtree is one task if it has at most this fraction of all flops; small enough that eight threads find
/// work, large enough that tasks outlast their bookkeeping.
constexpr double largest_subtree_fraction = 1.0 / 64;
constexpr double smallest_subtree_flops = 2e6;

/// Flops of each supernode: its own factorization and the updates that it receives.
std::vector<double> supernode_flops(const SymbolicFactor& symbolic, FactorKind kind) {
  std::vector<double> flops(symbolic.num_supernodes(), 0);
  const double triangles = kind == FactorKind::lu ? 2 : 1;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s), below = symbolic.num_rows_below(s);
    flops[s] += triangles * (width * width * width / 3 + width * width * below);
    for (const Block& block : symbolic.blocks_of(s))
      flops[block.row_supernode] += triangles * 2 * width * block.count * (below - block.first);
  }
  return flops;
}

/// Collects the tasks of one factorization in elimination order.
class FactorizationBuilder {
 public:
  FactorizationBuilder(const SymbolicFactor& symbolic, FactorKind kind, RowChunks chunks)
      : symbolic_(symbolic), flops_(supernode_flops(symbolic, kind)) {
    result_.chunks = std::move(chunks);
  }

  FactorizationTasks build() {
    double total = 0;
    for (const double flops : flops_) total += flops;
    result_.partition =
        partition_tree(symbolic_, flops_, std::max(total * largest_subtree_fraction, smallest_subtree_flops));
    const index_t groups = result_.partition.num_groups();
    children_.resize(groups);
    for (index_t group = 0; group < groups; ++group) {
      const index_t first = result_.partition.group_begin[group],
                    last = result_.partition.group_begin[group + 1];
      const std::vector<index_t> ends =
          children_[group].empty() ? add_subtree(first, last) : add_panel(group, first);
      const index_t above = result_.partition.parent[group];
      if (above != -1) children_[above].insert(children_[above].end(), ends.begin(), ends.end());
      children_[group].clear();
    }
    result_.graph = make_task_graph(std::move(tasks_), std::move(edges_));
    return std::move(result_);
  }

 private:
  index_t add_task(TaskKind kind, index_t first, index_t last, index_t chunk, double cost) {
    tasks_.push_back({kind, first, last, chunk, cost});
    return static_cast<index_t>(tasks_.size()) - 1;
  }
  std::vector<index_t> add_subtree(index_t first, index_t last) {
    double cost = 0;
    for (index_t s = first; s < last; ++s) cost += flops_[s];
    return {add_task(TaskKind::subtree, first, last, 0, cost)};
  }
  /// Update chunks, diagonal and panel chunks of the single supernode of a group above the subtrees.
  std::vector<index_t> add_panel(index_t group, index_t s) {
    const index_t chunks = result_.chunks.count(symbolic_, s);
    const double width = symbolic_.width(s), below = symbolic_.num_rows_below(s);
    const double diagonal = width * width * width / 3, panel = width * width * below;
    const double update = std::max(0.0, flops_[s] - diagonal - panel);
    std::vector<index_t> updates, panels;
    for (index_t chunk = 0; chunk < chunks; ++chunk) {
      updates.push_back(add_task(TaskKind::update, s, s + 1, chunk, update / chunks));
      for (const index_t before : children_[group]) edges_.push_back({before, updates.back()});
    }
    const index_t factored = add_task(TaskKind::diagonal, s, s + 1, 0, diagonal);
    for (const index_t before : updates) edges_.push_back({before, factored});
    const index_t parts = result_.chunks.finishes_whole(s) ? 1 : chunks;
    for (index_t part = 0; part < parts; ++part) {
      panels.push_back(add_task(TaskKind::panel, s, s + 1, part, panel / parts));
      edges_.push_back({factored, panels.back()});
    }
    return panels;
  }

  const SymbolicFactor& symbolic_;
  std::vector<double> flops_;
  FactorizationTasks result_;
  std::vector<std::vector<index_t>> children_;  // by group: tasks that end its children
  std::vector<Task> tasks_;
  std::vector<Edge> edges_;
};

}  // namespace

FactorizationTasks factorization_tasks(const SymbolicFactor& symbolic, const Placement& placement,
                                       FactorKind kind, RowChunks chunks) {
  if (placement.grid.num_ranks() != 1)
    throw UsageError("this version factorizes on one rank, the placement has " +
                     std::to_string(placement.grid.num_ranks()));
  return FactorizationBuilder(symbolic, kind, std::move(chunks)).build();
}

}  // namespace palmette
