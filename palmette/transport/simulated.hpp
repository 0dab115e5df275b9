// Many ranks in one thread under virtual time. The order in which messages arrive is drawn from a seed, or
// every order is tried, to test protocols under adverse conditions and to study clusters on a laptop.
#pragma once

#include <optional>

#include "palmette/transport/timeline.hpp"

namespace palmette {

/// How virtual time passes. All times are in seconds of the simulated machine.
struct SimulationOptions {
  std::uint64_t seed = 1;
  /// From the end of the sending task to arrival; empty: one microsecond for every message.
  std::function<double(index_t source, index_t destination, std::size_t bytes)> network_seconds;
  double seconds_per_cost = 1e-9;   ///< of RankProgram::last_cost
  double task_overhead_seconds = 0; ///< added for each task
  /// Each message is delayed at random by up to this many times its network time, so that messages overtake
  /// each other.
  double jitter = 0;
  double slow_ranks = 0;     ///< probability that a rank is slow
  double slowness = 1;       ///< tasks of slow ranks take this many times as long
  double idle_wakeups = 0;   ///< probability that a rank is woken once more, without reason, after each event
  /// A machine: tasks take what Cluster::worker_seconds says of RankProgram::last_task, messages cost both
  /// ranks their overhead, use the link between them and pass the gates of their nodes. Then network_seconds,
  /// seconds_per_cost and task_overhead_seconds are not used. A rank has the workers of the cluster; each
  /// takes the ready task of highest priority whenever it is free. A program without tickets has one worker,
  /// which takes the time of Cluster::rank_seconds.
  std::shared_ptr<const Cluster> cluster = nullptr;
  /// Ranks pack small messages; messages of the result are then packets.
  std::optional<Packing> packing = std::nullopt;
  /// with a cluster, by rank: what it reads per second; empty: from memory, while all ranks of its node read
  std::vector<double> read_gbs = {};
  bool keeps_timeline = false;        ///< every task and message
};

struct SimulationResult {
  double seconds = 0;                 ///< when the last rank was done
  std::vector<double> busy_seconds;   ///< length num_ranks: time in tasks
  std::vector<RankTimes> times;       ///< length num_ranks: until the rank had nothing more to do
  std::vector<RankTimeline> timelines;  ///< length num_ranks, or empty
  std::int64_t events = 0;
  Traffic traffic;                    ///< messages that were sent
  Traffic fetched;                    ///< offers that were got, from owner to consumer
};

struct Exploration;

/// Ranks without threads. sum and agree are for setting up plans, which is not simulated: they throw
/// UsageError.
class SimulatedWorld {
 public:
  /// @throws UsageError if num_ranks < 1 or a probability lies outside [0, 1]
  SimulatedWorld(index_t num_ranks, SimulationOptions options);
  ~SimulatedWorld();
  index_t num_ranks() const;
  Transport& rank(index_t rank);
  /// Run programs[r] on rank r until all are done. Each must be driven only through rank(r), or through
  /// wrappers of it. `flush[r]`, if given, is flushed whenever rank r has nothing to do, as a driver would
  /// do.
  /// @throws BrokenRun if nothing more can happen and a rank is not done: names the ranks and what they wait
  ///   for
  SimulationResult run(std::span<RankProgram* const> programs, std::span<Transport* const> transports = {});

 private:
  friend struct OrderExplorer;
  friend Exploration explore_orders(index_t, std::int64_t,
                                    const std::function<struct ExploredRun(SimulatedWorld&)>&);
  struct State;
  struct Run;
  std::unique_ptr<State> state_;
};

/// The result of trying delivery orders.
struct Exploration {
  std::int64_t orders = 0;   ///< tried
  bool complete = false;     ///< there are no others
};

/// The programs of one run and the objects that they need.
struct ExploredRun {
  std::vector<std::unique_ptr<RankProgram>> programs;
  std::function<void()> check;  ///< called when all are done
};

/// Run the programs that `make` returns once for each order in which messages can arrive and tasks can run,
/// as far as a rank can distinguish them, but at most `most_orders` times.
/// @throws BrokenRun from the first order that deadlocks; whatever a program or check throws
Exploration explore_orders(index_t num_ranks, std::int64_t most_orders,
                           const std::function<ExploredRun(SimulatedWorld& world)>& make);

}  // namespace palmette
