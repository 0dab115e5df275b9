// Inside `solve`: the core of a plan whose factor lies on a device. Engine and delivery are those of the
// kernels.
#pragma once

#include <optional>

#include "palmette/base/base.hpp"
#include "palmette/solve/device_factor.hpp"

namespace palmette::solve_detail {

/// Vectors and flags of one solve at a time, in device memory; they grow with the right-hand sides.
template <class T>
class DeviceVectors {
 public:
  /// @param tree  must outlive the vectors
  DeviceVectors(std::shared_ptr<Device> device, const DeviceTree& tree);

  /// @returns room for n × device_stride_of(num_rhs) values, row after row: the right-hand side of the first
  ///   of several sweeps; each leaves its solution in a place of its own, from which the next one reads
  T* begin(index_t num_rhs);
  /// Prepares the next sweep. @param by_columns  with sums by atomic additions
  device::SweepVectors<T> begin_sweep(index_t num_rhs, bool by_columns);
  /// What the last sweep wrote.
  const T* solution() const { return in_ ? y_.data() : x_.data(); }
  offset_t memory_bytes() const;

 private:
  void begin_sums(index_t stride);

  std::shared_ptr<Device> device_;
  const DeviceTree& tree_;
  DeviceArray<T> x_, y_, update_, sum_;
  bool in_ = false;  ///< the last sweep read x and wrote y
  DeviceArray<int> sources_, missing_, done_, ticket_;
  index_t groups_of_sources_ = 0;  ///< of right-hand sides, for which sources_ was made
  int sweeps_ = 0;
};

/// S = L·(D)·Lᵀ, L·(D)·Lᴴ, L·U or L alone on a device. One solve at a time; others wait.
template <class T>
class DeviceCore final : public SweepCore<T> {
 public:
  /// @param parts  of the host; nothing but the diagonal is kept
  /// @throws MemoryError naming the bytes that are needed and those that the device has, before anything is
  ///   copied
  /// @param team  packs the panels; null: the caller's thread alone
  DeviceCore(std::shared_ptr<Device> device, SupernodalParts<T> parts, ThreadTeam* team = nullptr);

  void solve(bool transposed, const CoreRun<T>& run) const override;
  void solve_part(FactorPart part, Operation operation, const CoreRun<T>& run) const override;
  Relation relation() const override { return shape_.template relation<T>(); }
  WorkspaceNeed workspace_need(index_t num_rhs) const override;
  CoreCost cost() const override { return cost_; }
  index_t guarded_blocks() const override { return guarded_blocks_; }
  offset_t memory_bytes() const override;
  std::shared_ptr<Device> device() const override { return device_; }

 private:
  /// With vectors and maps of the host.
  void run_on_host_vectors(const SweepOrder& steps, const CoreRun<T>& run) const;
  void sweeps(const SweepOrder& steps, const CoreRun<T>& run) const;
  void sweep(const SweepStep& step, const CoreRun<T>& run) const;
  void sweep_levels(bool forward, device::TriangleSweep<T>& sweep, device::LaunchShape shape) const;
  void launch(device::Kernel kernel, const device::TriangleSweep<T>& sweep,
              const device::LaunchShape& shape) const;

  std::shared_ptr<Device> device_;
  FactorShape shape_;
  CoreCost cost_;
  index_t guarded_blocks_;
  std::optional<BlockDiagonal<T>> host_diagonal_;
  DeviceTree tree_;
  DevicePanels<T> lower_;
  std::optional<DevicePanels<T>> upper_;
  DeviceArray<T> diagonal_, diagonal_below_;
  mutable ProcessMutex one_solve_;
  mutable DeviceVectors<T> vectors_;
};

/// On the devices of the options, or on the host if they name none.
/// @throws UsageError, MemoryError as the cores
template <class T>
std::shared_ptr<const SweepCore<T>> make_core(SupernodalParts<T> parts, const PlanOptions& options);

}  // namespace palmette::solve_detail
