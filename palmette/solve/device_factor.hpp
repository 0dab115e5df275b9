// Inside `solve`: a supernodal factor in the memory of a device: its tree, which all its triangles share, and
// their panels.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "palmette/device/device.hpp"
#include "palmette/solve/supernodal_core.hpp"

namespace palmette::solve_detail {

/// Supernodes, their tree and their tasks on a device.
class DeviceTree {
 public:
  /// @param by_columns  with the lists of synchronization-free sweeps, which need the blocks of `symbolic`
  /// @throws MemoryError; UsageError if an int does not number all rows below
  DeviceTree(std::shared_ptr<Device> device, const SymbolicFactor& symbolic, bool by_columns = true);

  const device::Tree& view() const { return view_; }
  /// Tasks as they are taken: forward, backward, and by level.
  const int* forward() const { return forward_.data(); }
  const int* backward() const { return backward_.data(); }
  const int* by_level() const { return by_level_.data(); }
  const std::vector<int>& level_begin() const { return tasks_.level_begin; }
  const BlockTasks& tasks() const { return tasks_; }
  /// By supernode: tasks that add to its sums.
  const std::vector<int>& num_sources() const { return num_sources_; }
  int widest() const { return widest_; }
  index_t num_columns() const { return num_columns_; }
  offset_t num_rows_below() const { return static_cast<offset_t>(row_.size()); }
  offset_t memory_bytes() const;
  static offset_t predicted_bytes(const SymbolicFactor& symbolic, const BlockTasks& tasks);

 private:
  std::vector<const DeviceArray<int>*> arrays() const;

  BlockTasks tasks_;
  DeviceArray<int> begin_, parent_, row_, source_ptr_, source_, child_task_ptr_, child_task_, target_ptr_,
      target_, task_ptr_, supernode_of_, forward_, backward_, by_level_;
  DeviceArray<long long> below_;
  std::vector<int> num_sources_;
  int widest_ = 0;
  index_t num_columns_ = 0;
  device::Tree view_{};
};

/// Where the panels of a triangle come from.
template <class T>
struct PanelSource {
  const SymbolicFactor& symbolic;
  /// m ← the panel of a supernode, as SupernodalTriangle::expand; called by several threads
  std::function<bool(index_t s, DenseView<T> m)> expand;
  /// as SupernodalTriangle::permutation; null: pivoting permuted nothing
  std::function<const index_t*(index_t s)> permutation;

  static PanelSource of(const SupernodalTriangle<T>& triangle);
};

/// The panels of one triangle on a device, as device::PanelLayout says.
template <class T>
class DevicePanels {
 public:
  /// @param team  packs on the host; null: the caller's thread alone
  /// @throws MemoryError
  DevicePanels(std::shared_ptr<Device> device, const PanelSource<T>& source, const BlockTasks& tasks,
               ThreadTeam* team = nullptr);

  const device::Panels<T>& view() const { return view_; }
  offset_t memory_bytes() const;
  /// @param permuted  pivoting may have permuted rows
  static offset_t predicted_bytes(const SymbolicFactor& symbolic, const BlockTasks& tasks, bool permuted);

 private:
  DeviceArray<T> values_;
  DeviceArray<long long> offset_;
  DeviceArray<unsigned char> form_, log_height_;
  DeviceArray<int> place_;
  device::Panels<T> view_{};
};

/// Replaces the diagonal of a block that is not inverted by its reciprocals, which kernels multiply by.
template <class T>
void invert_diagonal(DenseView<T> m) {
  for (index_t k = 0; k < m.cols; ++k) m(k, k) = T(1) / m(k, k);
}

/// Right-hand sides that pass through shared memory together: as many as it holds.
/// @throws UsageError if there is no room for one
template <class T>
int tile_of(int widest, int stride);

/// Right-hand sides as padded for kernels: one, or a multiple of device::rhs_of_lane.
index_t device_stride_of(index_t num_rhs);
/// Groups of right-hand sides that kernels take one by one. @param stride  as device_stride_of gives it
index_t device_groups_of(index_t stride);
/// Of a solve whose vectors pass through rows of the host.
template <class T>
WorkspaceNeed need_of_host_rows(index_t num_rows, index_t num_rhs) {
  return {offset_t{num_rows} * std::max(device_stride_of(num_rhs), padded_rhs(sizeof(T), num_rhs)), 0, 0};
}

}  // namespace palmette::solve_detail
