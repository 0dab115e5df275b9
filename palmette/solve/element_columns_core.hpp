// Inside `solve`: a plain sparse triangle of any pattern on several devices, the elements of a world: a warp
// for each column [Xie et al. 2021].
#pragma once

#include <optional>

#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"
#include "palmette/solve/core.hpp"
#include "palmette/solve/element_columns.hpp"

namespace palmette::solve_detail {

/// All elements' columns in one direction, in their memories.
template <class T>
struct DealtColumns {
  std::vector<ColumnsThere<T>> element;
  std::vector<int> shared_remaining;  ///< by row: additions of elements that do not solve for it
  std::vector<unsigned> sources;      ///< by row: bit e: element e adds to it
  ColumnSlots slots;
  bool ascending = true;              ///< the order of the solve
};

/// Vectors, sums and counters of the elements. What only some methods need is allocated with the first solve
/// by such a method.
template <class T>
struct ColumnVectors {
  index_t room = 0;                  ///< for so many right-hand sides
  std::vector<DeviceArray<T>> b, x;  ///< by element
  SymmetricArray<T> left_sum;
  SymmetricArray<int> remaining, ticket;
  std::vector<DeviceArray<const T*>> sums;         ///< by element: the addresses of all
  std::vector<DeviceArray<const int*>> counters;
  SymmetricArray<T> slot;                          ///< pushed, put
  SymmetricArray<std::uint64_t> arrived;           ///< pushed, put
  std::vector<DeviceArray<T*>> slots;              ///< by element: the addresses of all
  std::vector<DeviceArray<std::uint64_t*>> flags;
  std::shared_ptr<void> shared_sum, shared_remaining;  ///< unified
};

/// S = L. A kernel solves for all right-hand sides of a run, at most rhs_block: the arrays in which elements
/// find each other's sums have n rows for each, on every element. One solve at a time; others wait. The bits
/// may differ from solve to solve. After a kernel has waited in vain, the next solve is an ordinary one.
template <class T>
class ElementColumnsCore final : public SweepCore<T> {
 public:
  /// @throws UsageError for more elements than a warp has lanes, or less than one task for each; MemoryError
  ElementColumnsCore(std::shared_ptr<DeviceWorld> world, const WorldOptions& options,
                     LowerTriangle<T> triangle);

  void solve(bool transposed, const CoreRun<T>& run) const override;
  WorkspaceNeed workspace_need(index_t) const override { return {}; }
  CoreCost cost() const override;
  offset_t memory_bytes() const override;
  SolveWhere where() const override { return SolveWhere::devices_by_columns; }
  DeviceCounts device_counts() const override { return world_->device_counts(); }

 private:
  DealtColumns<T>& columns(bool transposed) const;
  void reserve(device::Sharing sharing, index_t num_rhs) const;
  void reserve_shared(device::Sharing sharing) const;
  void reserve_vectors(index_t num_rhs) const;
  void prepare(const DealtColumns<T>& dealt, device::Sharing sharing, index_t num_rhs) const;
  device::ColumnSweep<T> arguments(const DealtColumns<T>& dealt, int element, index_t num_rhs) const;
  void sweep(const DealtColumns<T>& dealt, device::Sharing sharing, index_t num_rhs) const;
  void check_status(const DealtColumns<T>& dealt, device::Sharing sharing) const;
  std::string words_of_missing(const DealtColumns<T>& dealt, device::Sharing sharing,
                               const std::vector<device::ElementStatus>& status) const;
  std::vector<unsigned> missing_sums(const DealtColumns<T>& dealt, device::Sharing sharing) const;
  void add_missing_flags(const DealtColumns<T>& dealt, std::vector<unsigned>& missing) const;
  void load(const DealtColumns<T>& dealt, const CoreRun<T>& run) const;
  void store(const DealtColumns<T>& dealt, const CoreRun<T>& run) const;

  std::shared_ptr<DeviceWorld> world_;
  LowerTriangle<T> triangle_;
  ColumnDeal deal_;
  std::size_t num_slots_;  // of each element
  bool by_network_;
  std::int64_t most_polls_;
  mutable ProcessMutex one_solve_;  // guards what follows
  mutable std::optional<DealtColumns<T>> columns_[2];  // plain, transposed
  mutable ColumnVectors<T> vectors_;
  mutable std::uint64_t sweeps_ = 0;
  mutable std::vector<DeviceArray<device::ElementStatus>> status_;  // by element: one
  mutable bool has_failed_ = false;  // the last sweep
};

}  // namespace palmette::solve_detail
