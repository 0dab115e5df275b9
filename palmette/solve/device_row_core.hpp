// Inside `solve`: a plain sparse triangle of any pattern on a device, solved by a warp for each row.
#pragma once

#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"
#include "palmette/solve/core.hpp"
#include "palmette/solve/lower_triangle.hpp"

namespace palmette::solve_detail {

/// Rows of L, or those of Lᵀ, in device memory, as device::RowSlices says.
template <class T>
struct DeviceRows {
  DeviceArray<long long> begin;
  DeviceArray<int> first, row, column;
  DeviceArray<T> value;

  offset_t bytes() const {
    return static_cast<offset_t>(begin.bytes() + first.bytes() + row.bytes() + column.bytes() +
                                 value.bytes());
  }
};

/// S = L. The rows of the other direction are uploaded when they are first needed. One solve at a time;
/// others wait.
template <class T>
class DeviceRowCore final : public SweepCore<T> {
 public:
  /// @throws MemoryError naming the bytes that are needed for one right-hand side and those that the device
  ///   has, before anything is copied
  DeviceRowCore(std::shared_ptr<Device> device, LowerTriangle<T> triangle, bool transposed_first);

  /// All methods of devices run the same kernel here.
  void solve(bool transposed, const CoreRun<T>& run) const override;
  WorkspaceNeed workspace_need(index_t num_rhs) const override;
  CoreCost cost() const override;
  offset_t memory_bytes() const override;
  std::shared_ptr<Device> device() const override { return device_; }

 private:
  device::RowSlices<T> slices_of(bool transposed) const;
  void check_room(offset_t bytes) const;
  DeviceRows<T> uploaded(const device::RowSlices<T>& slices) const;
  const DeviceRows<T>& rows(bool transposed) const;
  void sweep(bool transposed, index_t stride) const;

  std::shared_ptr<Device> device_;
  LowerTriangle<T> triangle_;
  DeviceArray<T> diagonal_;
  mutable ProcessMutex one_solve_;  // guards what follows
  mutable DeviceRows<T> rows_[2];   // plain, transposed
  mutable DeviceArray<T> x_;
  mutable DeviceArray<int> done_, ticket_;
  mutable int sweeps_ = 0;
};

}  // namespace palmette::solve_detail
