// The sync-free engine: one flag for each task takes the place of all barriers. Four verbs, as in Ginkgo [Anzt et al. 2022] for
// GPUs: take a ticket, wait for a predecessor, run, mark finished.
// Source: [Liu et al. 2016].
#include <algorithm>
#include <exception>

#include "palmette/solve/engines.hpp"

namespace palmette::sweep {
namespace {

class SyncFreeRun {
 public:
  explicit SyncFreeRun(const SweepRun& run) : run_(run), graph_(run.schedule.graph), state_(run.state) {
    state_.next_ticket.store(0, std::memory_order_relaxed);
    state_.failed.store(false, std::memory_order_relaxed);
    if (++state_.run_number == 0) forget_earlier_runs();
  }

  void run_member(int member) {
    try {
      // Tickets follow a topological order: every predecessor of a taken task is finished or in the hands of a member
      // that waits only for tasks before it. So somebody can always go on.
      for (index_t task = take(); task >= 0; task = take()) {
        for (const index_t predecessor : graph_.predecessors(task))
          if (!wait_for(predecessor)) return;
        run_.body.run_task(task, member);
        state_.finished_in_run[task].store(state_.run_number, std::memory_order_release);
      }
    } catch (...) {
      state_.failed.store(true, std::memory_order_relaxed);
      throw;
    }
  }

 private:
  index_t take() {
    if (state_.failed.load(std::memory_order_relaxed)) return -1;
    const index_t ticket = state_.next_ticket.fetch_add(1, std::memory_order_relaxed);
    return ticket < graph_.num_tasks() ? run_.schedule.by_priority[ticket] : -1;
  }

  /// False if another member failed: then the flag may never come.
  bool wait_for(index_t task) {
    SpinWait spin;
    while (state_.finished_in_run[task].load(std::memory_order_acquire) != state_.run_number) {
      if (state_.failed.load(std::memory_order_relaxed)) return false;
      spin.pause();
    }
    return true;
  }

  /// The run counter has gone round after 2³² − 1 runs: no flag may look like one of this run.
  void forget_earlier_runs() {
    for (index_t task = 0; task < graph_.num_tasks(); ++task) state_.finished_in_run[task].store(0, std::memory_order_relaxed);
    state_.run_number = 1;
  }

  const SweepRun& run_;
  const TaskGraph& graph_;
  EngineState& state_;
};

}  // namespace

void run_sync_free(const SweepRun& run) {
  SyncFreeRun sync_free(run);
  if (run.team == nullptr) sync_free.run_member(0);
  else run.team->run([&sync_free](int member) { sync_free.run_member(member); });
}

}  // namespace palmette::sweep
