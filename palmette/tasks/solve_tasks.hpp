// Part of the door of `tasks`: both sweeps of a solve over ranks as one graph: the tasks of the programs of
// all ranks, their dependencies, and the messages between them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "palmette/tasks/solve_exchange.hpp"

namespace palmette {

enum class SolvePart : char {
  whole_forward,     ///< y of a whole subtree
  row_sum,           ///< add up contributions to a block row; on the diagonal's rank also y of the supernode
  forward_relay,     ///< a value arrives and is passed on: no work
  column_product,    ///< a portion of this rank's blocks below a supernode
  column_sum,
  backward_relay,
  row_product,
  whole_backward,
  layers_meet,       ///< add, receive or send rows that two layers hold
};
std::string_view name_of(SolvePart part);
/// Whether the part belongs to the forward sweep; not defined for layers_meet, which lies between the sweeps.
constexpr bool is_forward(SolvePart part) { return part <= SolvePart::column_product; }

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

/// @cost  solve_exchange for every rank; memory for all tasks and edges
SolveGraph solve_tasks(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees);

}  // namespace palmette
