// Inside `solve`: the core of a plan whose factor lies on several devices, the elements of a world.
#pragma once

#include "palmette/solve/element.hpp"

namespace palmette::solve_detail {

/// S = L·(D)·Lᵀ, L·(D)·Lᴴ, L·U or L alone on a grid of devices, or on several layers of such grids. One
/// solve at a time; others wait. Whole subtrees lie on one element; above them, blocks are distributed
/// cyclically. x has the same bits for any grid, trees and launch; they depend on the number of layers.
template <class T>
class ElementsCore final : public SweepCore<T> {
 public:
  /// @throws UsageError if grid and layers have more elements than the world; MemoryError
  /// @param team  packs the panels; null: the caller's thread alone
  ElementsCore(std::shared_ptr<DeviceWorld> world, const WorldOptions& options, SupernodalParts<T> parts,
               ThreadTeam* team = nullptr);

  void solve(bool transposed, const CoreRun<T>& run) const override;
  void solve_part(FactorPart part, Operation operation, const CoreRun<T>& run) const override;
  Relation relation() const override { return shape_.template relation<T>(); }
  WorkspaceNeed workspace_need(index_t num_rhs) const override;
  CoreCost cost() const override { return cost_; }
  index_t guarded_blocks() const override { return guarded_blocks_; }
  offset_t memory_bytes() const override;
  SolveWhere where() const override {
    if (options_.layers == 1) return SolveWhere::devices;
    return options_.layered_method == LayeredMethod::one_sync_3d ? SolveWhere::device_layers
                                                                 : SolveWhere::device_levels;
  }
  DeviceCounts device_counts() const override { return world_->device_counts(); }

 private:
  void run(const SweepOrder& steps, const CoreRun<T>& run) const;
  void reserve(index_t stride) const;
  /// @param step  the first one, which reads them; null: they are copied out
  void copy_vectors(const CoreRun<T>& run, const SweepStep* step) const;
  void sweep(const SweepStep& step, const CoreRun<T>& run) const;
  void check_status(const SweepStep& step) const;
  /// @param arguments  one for each launch; must outlive it
  std::vector<ElementLaunch> launches(const SweepStep& step, bool two_kernels,
                                      std::vector<device::ElementSweep<T>>& arguments) const;
  device::ElementSweep<T> arguments(int element, const SweepStep& step, index_t stride) const;

  std::shared_ptr<DeviceWorld> world_;
  WorldOptions options_;
  FactorShape shape_;
  CoreCost cost_;
  index_t guarded_blocks_;
  index_t n_;
  int widest_;
  std::optional<BlockDiagonal<T>> host_diagonal_;
  HostElements host_;
  mutable ProcessMutex one_solve_;
  mutable std::vector<Element<T>> elements_;
  mutable SymmetricArray<T> shared_;
  mutable SymmetricArray<device::ElementSignal> signals_;
  mutable index_t stride_ = 0;  ///< for which there is room
  mutable int sweeps_ = 0;
  mutable bool has_failed_ = false;  ///< the last sweep
};

}  // namespace palmette::solve_detail
