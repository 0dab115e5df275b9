// Part of the door of `tasks`: both sweeps of a solve over ranks, in one layer or in several, as one graph:
// the tasks of all ranks, their dependencies, and the messages between them.
#pragma once

#include <span>
#include <vector>

#include "palmette/tasks/rank_graph.hpp"

namespace palmette {

struct SolveTask : FactorWork {
  SolvePart part = SolvePart::whole_forward;
  index_t rank = 0;
  index_t number = 0;   ///< supernode; for a whole subtree, the last one
  double urgency = 0;   ///< as Urgency; exchanges of layers run before all other tasks
};

/// From one task to a later one; between two ranks it is one message.
struct SolveEdge {
  index_t from = 0;
  index_t to = 0;
  offset_t message_rows = 0;  ///< 0 on one rank
};

/// Tasks are numbered so that every edge goes to a larger number. Constant after construction.
struct SolveGraph {
  index_t num_ranks = 1;
  std::vector<SolveTask> tasks;
  std::vector<offset_t> out_ptr = {0};  // length num_tasks + 1
  std::vector<SolveEdge> edges;         // by `from`

  index_t num_tasks() const { return static_cast<index_t>(tasks.size()); }
  std::span<const SolveEdge> out(index_t task) const {
    const auto at = static_cast<std::size_t>(task);
    return {edges.data() + out_ptr[at], static_cast<std::size_t>(out_ptr[at + 1] - out_ptr[at])};
  }
};

/// The same tasks, their edges by `from` and then `to`, and out_ptr.
SolveGraph with_sorted_edges(SolveGraph tasks);

/// @cost  solve_exchange and rank_graph for every rank; memory for all tasks and edges
SolveGraph solve_tasks(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees);

/// Both sweeps of all layers, and their exchanges in between (one_sync_3d) or at each level of the cut
/// (baseline_3d). Ranks are numbered in the whole run, supernodes in the whole structure. Each exchange of a
/// rank is a task for each direction, which reads and writes its rows once.
/// @param systems  of all layers, from layer_systems
/// @throws UsageError if there are none
/// @cost   solve_tasks for every layer
SolveGraph layered_solve_tasks(const std::vector<LayerSystem>& systems, TreeShape trees);

}  // namespace palmette
