// Part of the door of `predict`: tasks of a solve on ranks in virtual time.
#pragma once

#include <optional>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

/// The cost of a task, and of a row of a message, for a rank.
struct RankRates {
  const Cluster& cluster;
  int scalar_bytes = 8;
  index_t num_rhs = 1;
  std::vector<double> read_gbs;    ///< by rank
  TaskWork work(const SolveTask& task) const;
  /// @param busy  workers of the rank that run a task when this one begins, it included; they share what the
  ///   rank reads and computes for as long as the task takes
  double seconds(const SolveTask& task, index_t busy = 1) const {
    return cluster.worker_seconds(work(task), read_gbs[task.rank], busy);
  }
  std::size_t message_bytes(const SolveEdge& edge) const {
    return static_cast<std::size_t>(edge.message_rows) * static_cast<std::size_t>(num_rhs) *
           static_cast<std::size_t>(scalar_bytes);
  }
};

/// @param cluster  must outlive the result
/// @param kind     LU has two factors to keep in a cache
RankRates rank_rates(const SolveGraph& tasks, const Cluster& cluster, index_t num_rhs, int scalar_bytes,
                     FactorKind kind = FactorKind::llt);

/// Why a task began when it did.
enum class StepCause : char { start, message, own_task };

/// One task of the chain that ends last.
struct PathStep {
  index_t task = 0;
  /// a message came, or the rank was busy with (or had just finished) the step before
  StepCause cause = StepCause::start;
  double begin = 0;                    ///< seconds
  double end = 0;
  double message_seconds = 0;          ///< since the step before ended
};

struct Schedule {
  double seconds = 0;                 ///< when the last task ends
  double forward_seconds = 0;         ///< when the last task of the forward sweep ends
  std::vector<double> busy_seconds;   ///< by rank: in tasks
  std::vector<double> message_seconds;  ///< by rank: overheads of messages
  std::vector<PathStep> path;         ///< from the first to the last
};

/// Each rank runs its most urgent ready tasks, one for each of its workers, as the rank programs do, handles
/// messages that arrive in between, and passes values on as soon as it receives them. The first task of a
/// sweep on a rank begins after the launch of its kernel.
/// @param packing  small messages go in packets, as those of an Aggregator
Schedule schedule_solve(const SolveGraph& tasks, const RankRates& rates,
                        const std::optional<Packing>& packing = std::nullopt);

/// What packing would do, predicted.
struct PackingChoice {
  std::optional<Packing> packing;  ///< empty: it does not pay
  double plain_seconds = 0;        ///< of a solve without packing
  double seconds = 0;              ///< of a solve with this choice
};

/// Whether small messages should be packed, and how old packets may become: that of a few ages with the
/// shortest schedule, if it is shorter than without packing by more than schedules usually err, 5 %.
/// @cost  a schedule for each age; one if messages take less than that share of the time
PackingChoice choose_packing(const SolveGraph& tasks, const RankRates& rates);

}  // namespace palmette
