// Inside `factorize`: one rank's part of a factorization as a state machine.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "palmette/factorize/finish.hpp"
#include "palmette/factorize/update_run.hpp"
#include "palmette/factorize/workspace.hpp"

namespace palmette::factorize_detail {

/// Rows that a task of the host's takes at a time; with a device, tasks have more rows.
inline constexpr index_t host_chunk_rows = RowChunks().chunk_rows;

/// A task that waits for a device: updates, a diagonal block, or (neither) the rows below one.
template <class T>
struct SetAside {
  index_t number = 0;
  DeviceTicket ticket;
  std::unique_ptr<UpdateRun<T>> update;
  std::unique_ptr<DeviceDiagonal<T>> diagonal;
};

/// Runs the tasks of a factorization. A bad pivot stops every task of a larger supernode; tasks of smaller
/// ones still run, since one of them may fail too. The reported failure, that of the smallest supernode,
/// therefore does not depend on the number of threads.
template <class T>
class Program final : public RankProgram {
 public:
  /// @param workspace  reset by this call
  /// @param offload    null: the host computes everything
  Program(const Work<T>& work, Workspace<T>& workspace, const ProgressCallback& progress,
          Offload<T>* offload = nullptr);

  void start() override {}
  void on_message(const Message&) override {}
  bool run_one_task(int thread) override;
  bool done() const override { return workspace_.ready.all_finished(); }

  /// The supernode is −1 if every pivot was good.
  const BadPivot& failure() const { return failure_; }
  /// All pivots, after a run without failure.
  PivotTally tally() const;
  /// What the host did, if there is a device.
  OffloadCounts host_counts() const;

 private:
  // With a device.
  bool begin_with_device(index_t number, int thread);
  void set_aside(SetAside<T> task);
  std::optional<SetAside<T>> take_set_aside(bool may_wait);
  void resume(SetAside<T> aside, int thread);
  void run_subtree_with_device(const Task& task, Scratch<T>& scratch, PivotTally& tally);
  void factor_on_host(index_t s, Scratch<T>& scratch, PivotTally& tally);
  void complete_diagonal(index_t s, const DeviceDiagonal<T>& result, Scratch<T>& scratch, PivotTally& tally);
  std::vector<index_t> cuts_of_rows(index_t s, index_t host_rows) const;
  void finish_rows_on_host(index_t s, RowRange range, Scratch<T>& scratch, bool in_chunks);
  void complete_rows(index_t s, const DeviceTicket& ticket, Scratch<T>& scratch, bool in_chunks);

  void complete_task(index_t number, int thread);
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
  Offload<T>* offload_;
  std::mutex aside_mutex_;
  std::vector<SetAside<T>> aside_;
};

}  // namespace palmette::factorize_detail
