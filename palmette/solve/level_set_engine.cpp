// The level-set engine: all tasks whose longest chain of predecessors has the same length may run at the same
// time.
#include <exception>

#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {
namespace {

class LevelSetRun {
 public:
  LevelSetRun(const SweepRun& run, int threads) : run_(run), barrier_(threads) {
    for (std::size_t phase = 0; phase < run.schedule.phases.size(); ++phase)
      run.state.next_in_phase[phase].store(run.schedule.phases[phase].begin, std::memory_order_relaxed);
    run.state.failed.store(false, std::memory_order_relaxed);
  }

  void run_thread(int thread) {
    std::exception_ptr error;
    for (std::size_t phase = 0; phase < run_.schedule.phases.size(); ++phase) {
      if (phase > 0) barrier_.wait();
      // A thread that failed still arrives at every barrier, since the others wait for it there.
      if (run_.state.failed.load(std::memory_order_relaxed)) continue;
      try {
        run_phase(phase, thread);
      } catch (...) {
        error = std::current_exception();
        run_.state.failed.store(true, std::memory_order_relaxed);
      }
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  void run_phase(std::size_t number, int thread) {
    const Phase& phase = run_.schedule.phases[number];
    const std::vector<index_t>& tasks = run_.schedule.levels.task;
    if (phase.alone) {
      if (thread != 0) return;
      for (index_t place = phase.begin; place < phase.end; ++place) run_.body.run_task(tasks[place], thread);
      return;
    }
    for (;;) {
      const index_t place = run_.state.next_in_phase[number].fetch_add(1, std::memory_order_relaxed);
      if (place >= phase.end) return;
      run_.body.run_task(tasks[place], thread);
    }
  }

  const SweepRun& run_;
  Barrier barrier_;
};

}  // namespace

int run_level_set(const SweepRun& run) {
  // At a barrier all threads wait for the last one: if even one thread would be paused, the caller works
  // alone.
  const bool together = run.team != nullptr && run.team->threads_now() == run.team->size();
  const int threads = together ? run.team->muster() : 1;
  LevelSetRun level_set(run, threads);
  if (threads == 1) level_set.run_thread(0);
  else run.team->run([&level_set](int thread) { level_set.run_thread(thread); });
  return threads;
}

}  // namespace palmette::solve_detail
