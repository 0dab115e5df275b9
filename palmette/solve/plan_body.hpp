// Inside `solve`: the body of a SolvePlan: a chain of stages, and a pool of workspaces.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "palmette/solve/core.hpp"
#include "palmette/solve/part_maps.hpp"
#include "palmette/solve/plan_store.hpp"

namespace palmette::solve_detail {

template <class T>
class PlanBody {
 public:
  /// @param stages  in the order of the plain solve, each n × n, one or more
  /// @param parts   of a factor that the only stage keeps alive; null: no solves with single factors
  /// @param workspaces  of plans with the same structure; null: its own
  PlanBody(index_t n, std::vector<solve_detail::Stage<T>> stages,
           std::unique_ptr<const solve_detail::PartMaps<T>> parts = nullptr,
           std::shared_ptr<WorkspacePool<T>> workspaces = nullptr);

  index_t size() const { return n_; }
  /// Of a solve that this thread begins.
  ArithmeticMode mode() const {
    const ArithmeticMode callers = ArithmeticMode::of_this_thread();
    return stages_.empty() || stages_.front().is_given ? callers : callers.with_subnormals_as_zero();
  }
  SolveTrace solve(Operation operation, DenseView<const T> b, DenseView<T> x, const SolveRun& run) const;
  /// For a plan on a device. @throws UsageError for others
  SolveTrace solve(Operation operation, OnDevice<const T> b, OnDevice<T> x, const SolveRun& run) const;
  SolveTrace solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x,
                        const SolveRun& run) const;
  /// @param wanted  without what the plan knows: maps, workspace, method
  EntryTrace solve_entries(Operation operation, const solve_detail::EntryRun<T>& wanted,
                           const SolveRun& run) const;
  SolveCost cost(index_t num_rhs) const;
  PlanValues<T> values() const {
    return stages_.size() == 1 ? stages_.front().core->values() : PlanValues<T>{};
  }
  index_t guarded_blocks() const;
  offset_t memory_bytes() const;

 private:
  using Workspace = solve_detail::SolveWorkspace<T>;
  struct Chain;  // one block of right-hand sides on its way through the stages

  using Block = std::function<void(DenseView<const T> b, DenseView<T> x, const SolveRun&, Workspace&)>;

  void check_sizes(DenseView<const T> b, DenseView<T> x) const;
  SolveWhere where() const {
    return stages_.empty() ? SolveWhere::one_machine : stages_.front().core->where();
  }
  DeviceCounts device_counts() const {
    return stages_.empty() ? DeviceCounts() : stages_.front().core->device_counts();
  }
  bool is_streamed() const { return !stages_.empty() && stages_.front().core->is_streamed(); }
  PanelReads panel_reads() const {
    return stages_.empty() ? PanelReads() : stages_.front().core->panel_reads();
  }
  SolveRun chosen_run(index_t num_rhs, const SolveRun& run) const;
  /// Calls each() for blocks of right-hand sides. @param on_host  with workspaces of the host
  SolveTrace over_blocks(DenseView<const T> b, DenseView<T> x, const SolveRun& run, const Block& each,
                         bool on_host) const;
  Block through_stages(Operation operation) const;
  /// The same with the vectors brought to the device and back.
  Block through_device(Operation operation) const;
  std::unique_ptr<Workspace> borrow_workspace(index_t num_rhs, int threads) const;
  void prepare(Workspace& workspace, index_t num_rhs, int threads) const;
  void run_chain(const Chain& chain, Workspace& workspace) const;
  void run_stage(const Chain& chain, std::size_t place, Workspace& workspace) const;
  /// What a stage reads and writes, and in which form its core is applied.
  struct StageSides {
    const solve_detail::IndexMap& in;
    const solve_detail::IndexMap& out;
    bool transposed;
    bool conjugated;
  };
  StageSides sides_of(const solve_detail::Stage<T>& stage, bool transposed, bool conjugated) const;
  void check_entries(const solve_detail::EntryRun<T>& wanted) const;
  /// One block of right-hand sides.
  void solve_block(Operation operation, solve_detail::EntryRun<T> block, const SolveRun& run,
                   EntryTrace& trace) const;
  void solve_whole(Operation operation, const solve_detail::EntryRun<T>& block, const SolveRun& run,
                   EntryTrace& trace) const;
  /// @param work  of all sweeps
  SolveRun chosen_run(const solve_detail::SweepWork& work, index_t num_rhs, const SolveRun& run) const;
  solve_detail::SweepWork work(index_t num_rhs) const;

  index_t n_;
  std::vector<solve_detail::Stage<T>> stages_;
  std::unique_ptr<const solve_detail::PartMaps<T>> parts_;
  std::shared_ptr<Device> device_;  ///< holds all stages; null: the host
  std::shared_ptr<WorkspacePool<T>> pool_;
};

}  // namespace palmette::solve_detail
