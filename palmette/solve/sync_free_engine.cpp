// The sync-free engine: one flag for each task replaces all barriers. Four operations, as in Ginkgo
// [Anzt et al. 2022] for GPUs: take a ticket, wait for a predecessor, run, mark finished. Source:
// [Liu et al. 2016].
#include <algorithm>
#include <exception>
#include <span>

#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {
namespace {

/// As long as it lives, a thread waits and would help others.
class Waiting {
 public:
  explicit Waiting(WorkOffers* offers) : offers_(offers) {
    if (offers_ != nullptr) offers_->begin_waiting();
  }
  ~Waiting() {
    if (offers_ != nullptr) offers_->end_waiting();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void help() const {
    if (offers_ != nullptr) offers_->help();
  }

 private:
  WorkOffers* const offers_;
};

class SyncFreeRun {
 public:
  explicit SyncFreeRun(const SweepRun& run) : run_(run), graph_(run.schedule.graph), state_(run.state) {
    state_.next_ticket.store(0, std::memory_order_relaxed);
    state_.failed.store(false, std::memory_order_relaxed);
    if ((++state_.run_number & awaited_bit) != 0) forget_earlier_runs();
  }

  void run_thread(int thread) {
    try {
      // Tickets follow a topological order: every predecessor of a taken task is finished, or earlier in the
      // same ticket, or taken by a thread that waits only for tasks before it, so some thread can always
      // continue.
      for (auto tasks = take(); !tasks.empty(); tasks = take())
        for (const index_t task : tasks) {
          for (const index_t predecessor : graph_.predecessors(task))
            if (!wait_for(predecessor)) return;
          run_.body.run_task(task, thread);
          mark_finished(task);
        }
      // The last tasks are large ones, one after another.
      if (run_.body.offers() != nullptr && graph_.num_tasks() > 0) look_for(run_.schedule.by_priority.back());
    } catch (...) {
      state_.failed.store(true);
      wake_all();
      throw;
    }
  }

 private:
  /// The tasks of the next ticket; none if all are taken or one has failed.
  std::span<const index_t> take() {
    if (state_.failed.load(std::memory_order_relaxed)) return {};
    const std::vector<index_t>& ptr = run_.schedule.ticket_ptr;
    const std::size_t ticket = state_.next_ticket.fetch_add(1, std::memory_order_relaxed);
    if (ticket + 1 >= ptr.size()) return {};
    return std::span(run_.schedule.by_priority).subspan(ptr[ticket], ptr[ticket + 1] - ptr[ticket]);
  }

  enum class Seen { finished, failed, nothing };

  /// Wait for a task as long as waiting is cheaper than sleep, and help others meanwhile.
  Seen look_for(index_t task) {
    const std::atomic<std::uint32_t>& flag = state_.finished_in_run[task];
    if (flag.load(std::memory_order_acquire) == state_.run_number) return Seen::finished;
    const Waiting waiting(run_.body.offers());
    for (int look = 0; look < looks_before_sleep; ++look) {
      if (flag.load(std::memory_order_acquire) == state_.run_number) return Seen::finished;
      if (state_.failed.load(std::memory_order_relaxed)) return Seen::failed;
      waiting.help();
      processor_pause();
    }
    return Seen::nothing;
  }

  /// False if another thread failed: then the flag may never be set.
  bool wait_for(index_t task) {
    const Seen seen = look_for(task);
    return seen == Seen::nothing ? sleep_until_finished(state_.finished_in_run[task])
                                 : seen == Seen::finished;
  }

  /// A sleeping thread marks the flag: the thread that finishes the task finds the mark, and no other thread
  /// is disturbed.
  bool sleep_until_finished(std::atomic<std::uint32_t>& flag) {
    const std::uint32_t awaited = state_.run_number | awaited_bit;
    for (;;) {
      std::uint32_t seen = flag.load(std::memory_order_acquire);
      if (seen == state_.run_number) return true;
      if (seen != awaited && !flag.compare_exchange_strong(seen, awaited)) continue;
      // A thread that fails announces it before it wakes the threads whose marks it finds.
      if (state_.failed.load()) return false;
      flag.wait(awaited, std::memory_order_acquire);
      state_.wake_time.woken();
    }
  }

  void mark_finished(index_t task) {
    std::atomic<std::uint32_t>& flag = state_.finished_in_run[task];
    if ((flag.exchange(state_.run_number, std::memory_order_acq_rel) & awaited_bit) == 0) return;
    state_.wake_time.ringing();
    flag.notify_all();
  }

  void wake_all() {
    for (index_t task = 0; task < graph_.num_tasks(); ++task) {
      std::uint32_t awaited = state_.run_number | awaited_bit;
      if (state_.finished_in_run[task].compare_exchange_strong(awaited, 0))
        state_.finished_in_run[task].notify_all();
    }
  }

  /// The run counter wraps around after 2³¹ − 1 runs: no old flag may look like one of this run.
  void forget_earlier_runs() {
    for (index_t task = 0; task < graph_.num_tasks(); ++task)
      state_.finished_in_run[task].store(0, std::memory_order_relaxed);
    state_.run_number = 1;
  }

  static constexpr std::uint32_t awaited_bit = 1u << 31;

  const SweepRun& run_;
  const TaskGraph& graph_;
  EngineState& state_;
};

}  // namespace

int run_sync_free(const SweepRun& run) {
  SyncFreeRun sync_free(run);
  if (run.team == nullptr) sync_free.run_thread(0);
  else return run.team->share([&sync_free](int thread) { sync_free.run_thread(thread); });
  return 1;
}

}  // namespace palmette::solve_detail
