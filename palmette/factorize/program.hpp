// Inside `factorize`: one rank's part of a factorization as a state machine.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "palmette/factorize/finish.hpp"
#include "palmette/factorize/workspace.hpp"

namespace palmette::factorizing {

/// Runs the tasks of a factorization. A bad pivot stops every task of a larger supernode; tasks of smaller
/// ones still run, since one of them may fail too. The reported failure, that of the smallest supernode,
/// therefore does not depend on the number of threads.
template <class T>
class Program final : public RankProgram {
 public:
  /// @param workspace  reset by this call
  Program(const Work<T>& work, Workspace<T>& workspace, const ProgressCallback& progress);

  void start() override {}
  void on_message(const Message&) override {}
  bool run_one_task(int thread) override;
  bool done() const override { return workspace_.ready.all_finished(); }

  /// The supernode is −1 if every pivot was good.
  const BadPivot& failure() const { return failure_; }
  /// All pivots, after a run without failure.
  PivotTally tally() const;

 private:
  void run(const Task& task, int thread, PivotTally& tally);
  void run_subtree(const Task& task, int thread, PivotTally& tally);
  void update_rows(index_t s, const Target<T>& target, Scratch<T>& scratch);
  void update_chunk(index_t s, RowRange range, Scratch<T>& scratch);
  Target<T> in_place(index_t s, RowRange range) const;
  RowRange chunk_rows(const Task& task) const;
  bool stopped(index_t s) const { return s > first_bad_.load(std::memory_order_relaxed); }
  void record(const BadPivot& bad);
  void report(int thread, double cost);

  const Work<T>& work_;
  Workspace<T>& workspace_;
  const FactorizationTasks& tasks_;
  const ProgressCallback& progress_;
  std::atomic<double> cost_done_{0};
  double cost_total_;
  double reported_ = 0;               // thread 0 only
  std::atomic<index_t> first_bad_;
  std::mutex failure_mutex_;
  BadPivot failure_;
};

}  // namespace palmette::factorizing
