// Inside `solve`: an engine runs the tasks of any graph with any body; it only decides which task runs next.
// The body computes, in the same way for every engine, so all engines give the same bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "palmette/solve/solve.hpp"

namespace palmette::solve_detail {

/// What the tasks of a graph do. run_task is called once for each task, after all its predecessors have
/// returned; `thread` is the number of a free workspace, 0 ≤ thread < threads of the run.
class SweepBody {
 public:
  virtual ~SweepBody() = default;
  virtual void run_task(index_t task, int thread) = 0;
  /// What tasks offer to threads that wait; null: nothing.
  virtual WorkOffers* offers() { return nullptr; }
};

/// Tasks levels.task[begin … end) that the level-set engine runs between two barriers.
struct Phase {
  index_t begin;
  index_t end;
  bool alone;  ///< too little work to share: one thread runs them in order
};

/// A task graph with what the engines need to run it repeatedly. Constant after construction.
struct SweepSchedule {
  TaskGraph graph;
  LevelSets levels;
  std::vector<Phase> phases;         ///< cover levels.task in order
  /// length num_tasks: a topological order, costliest remaining path first, small branches of a tree whole
  std::vector<index_t> by_priority;
  /// Tasks by_priority[ticket_ptr[k] … ticket_ptr[k + 1]) are taken together: a branch, whose panels lie side
  /// by side in memory, or one task.
  std::vector<index_t> ticket_ptr;

  offset_t memory_bytes() const;
};
SweepSchedule make_schedule(TaskGraph graph);

/// Flags and counters of one run of a schedule; reused by later runs, one run at a time.
struct EngineState {
  explicit EngineState(const SweepSchedule& schedule);

  // length num_tasks: number of the run that finished it, or is awaited to
  std::unique_ptr<std::atomic<std::uint32_t>[]> finished_in_run;
  WakeTime wake_time;
  std::uint32_t run_number = 0;
  std::unique_ptr<std::atomic<index_t>[]> next_in_phase;  // length phases
  std::atomic<index_t> next_ticket{0};
  std::atomic<bool> failed{false};
  std::unique_ptr<ReadyTasks> ready;      // made when task_driven first runs
  std::unique_ptr<Transport> transport;   // likewise
};

/// One schedule with its state and body, as passed to the engines.
struct SweepRun {
  const SweepSchedule& schedule;
  EngineState& state;
  SweepBody& body;
  ThreadTeam* team;  ///< null: the caller alone, as thread 0
};

/// The caller runs the tasks in the order of their numbers.
int run_serial(const SweepRun& run);
/// Level after level, with barriers between; free threads take the tasks of a level.
int run_level_set(const SweepRun& run);
/// Threads take tickets in a topological order and wait for the flags of their tasks' predecessors; no
/// barriers, no locks.
int run_sync_free(const SweepRun& run);
/// A RankProgram over loopback: dependency counters and a queue of ready tasks, costliest remaining path
/// first.
int run_task_driven(const SweepRun& run);

/// Run all tasks by this method (not automatic). An exception of a task stops the run and is rethrown.
/// @returns the number of threads that were called
int run_sweep(SolveMethod method, const SweepRun& run);

/// A row of the list may run at one of these places. @throws UsageError as check_solve_method
void check_row(const SolveMethodInfo& info, std::initializer_list<SolveWhere> places);

/// What the choice of a method looks at: the costs of all sweeps of a solve, in bytes.
struct SweepWork {
  double bytes = 0;
  double critical_path_bytes = 0;
};
/// The method that a solve uses: `wanted` itself or, for automatic, the best method for this amount of work.
SolveMethod choose_method(SolveMethod wanted, SolveWhere where, const SweepWork& work, int threads);

inline int member_count(const ThreadTeam* team) { return team != nullptr ? team->size() : 1; }

}  // namespace palmette::solve_detail
