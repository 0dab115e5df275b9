// Part of the door of `tasks`: what is left of a rank's tasks and messages if a solve visits only part of the
// tree.
#pragma once

#include <vector>

#include "palmette/tasks/rank_graph.hpp"
#include "palmette/tasks/solve_reach.hpp"

namespace palmette {

/// Tasks of a RankGraph that a solve with this reach runs, and what they wait for.
///
/// Every rank finds the same for a message, without asking: a value goes down the column of a visited
/// supernode to all, since all rows below it are visited; a sum goes up its row if a contributor is visited,
/// without the parts that are zero; backward, a value goes along its row where a column is visited.
struct ReachedGraph {
  std::vector<index_t> num_waits;  // by task: tasks and messages; −1: it does not run
  std::vector<index_t> tasks;      // that run, in no order
  std::vector<offset_t>
      message_rows;  // by message of RankGraph::messages, if its task runs; 0: it is not sent

  /// Messages of this rank, and rows in them.
  std::int64_t num_messages = 0;
  offset_t sent_rows = 0;
};

/// @param units  of the placement
/// @param reach  with the same groups; if `graph` is of a layer, all supernodes that layers share must be
///   visited in both sweeps
/// @cost  O(tasks of the rank) bytes, and the tasks, contributions and messages that are left
ReachedGraph reached_graph(const SolveExchange& exchange, const RankGraph& graph, const TreePartition& units,
                           const SolveReach& reach);

/// The rows of a sum that is not zero: of those of its parts that a solve visits.
offset_t reached_rows(const SolveExchange& exchange, ArrayPart parts, const SolveReach& reach);
/// Whether the forward sweep visits what contributes to this part.
inline bool is_reached(const StoredPart& part, const SolveReach& reach) {
  return part.unit == -1 || reach.forward_group(part.unit);
}

}  // namespace palmette
