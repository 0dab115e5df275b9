// Part of the door of `tasks`: the tasks of one rank in a solve, and what each of them waits for. The rank's
// program runs them as they are here; predictions and simulated schedules join the graphs of all ranks.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "palmette/tasks/layer_exchange.hpp"
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
/// Whether a message is all that the part takes: no rank chooses when to run it.
constexpr bool is_relay(SolvePart part) {
  return part == SolvePart::forward_relay || part == SolvePart::backward_relay;
}

/// What a message holds, and so the task that it reaches: a sum that of the same name, a value a relay, and
/// the rows of another layer the exchange at the same node.
enum class SolveMessage : char { row_sum, forward_value, column_sum, backward_value, layer_up, layer_down };
/// Messages of these kinds stay within a layer.
constexpr std::int64_t num_messages_within = 4;

struct LocalMessage {
  SolveMessage kind = SolveMessage::row_sum;
  index_t rank = 0;     ///< of the layer; between layers, of the whole run
  offset_t rows = 0;
};

struct LocalTask {
  SolvePart part = SolvePart::whole_forward;
  /// Of SolveExchange::tops; of a whole subtree, of `wholes`; of an exchange of layers, of RankGraph::steps.
  index_t number = 0;
  index_t portion = -1;    ///< of products: number in SolveExchange::portions
  index_t supernode = 0;   ///< of a whole subtree, the last; of an exchange of layers, the first
  double urgency = 0;      ///< as Urgency; exchanges of layers run before all other tasks
  index_t num_waits = 0;   ///< tasks of this rank and messages
  ArrayPart next;          ///< of RankGraph::next: tasks of this rank that wait for this one
  ArrayPart messages;      ///< of RankGraph::messages: sent as the task ends
};

/// Constant after construction. Equally urgent tasks run in the order of their numbers.
struct RankGraph {
  std::vector<LocalTask> tasks;
  std::vector<index_t> next;
  std::vector<LocalMessage> messages;
  /// Length tops, for each kind of message within a layer: the task that it reaches, −1 if there is none.
  std::vector<std::array<index_t, num_messages_within>> receiver;
  std::vector<index_t> supernode_of_top;     // ascending
  /// Length tops: another layer sweeps the supernode. Here contributions are only added up, and its solution
  /// is given.
  std::vector<char> is_given;
  std::vector<LayerStep> steps;              // exchanges with other layers, deepest node first
  index_t first_meeting = 0;                 // task of the first step upwards
  index_t first_whole_backward = 0;          // task of the first whole subtree; forward, they are the first
  // Length tops: the first of its products; those of its portions follow.
  std::vector<index_t> first_column_product, first_row_product;

  index_t num_tasks() const { return static_cast<index_t>(tasks.size()); }
  index_t receiver_at(index_t top, SolveMessage kind) const { return receiver[top][static_cast<int>(kind)]; }
  std::span<const index_t> next_of(index_t task) const { return SolveExchange::of(next, tasks[task].next); }
  std::span<const LocalMessage> messages_of(index_t task) const {
    return SolveExchange::of(messages, tasks[task].messages);
  }
  /// Tasks of a step.
  index_t meeting_up(index_t step) const { return first_meeting + 2 * step; }
  index_t meeting_down(index_t step) const { return first_meeting + 2 * step + 1; }
  bool is_meeting(index_t task) const { return task >= first_meeting; }
  bool is_up(index_t meeting) const { return (meeting - first_meeting) % 2 == 0; }
  /// Whether a meeting waits for a message.
  bool receives(index_t meeting) const {
    return steps[tasks[meeting].number].receives_up == is_up(meeting);
  }
  /// Task that a message within the layer reaches.
  index_t receiver_of(SolveMessage kind, index_t supernode) const;
  offset_t memory_bytes() const;
};

/// @param layer  that the rank belongs to; null: there is only one
/// @cost   O(contributions of the rank + tasks); with a layer, layer_steps
RankGraph rank_graph(const SolveExchange& exchange, const SymbolicFactor& symbolic,
                     const LayerSystem* layer = nullptr);

/// What a task reads. A meeting reads and writes its rows once.
FactorWork work_of(const SolveExchange& exchange, const RankGraph& graph, index_t task);

}  // namespace palmette
