// Inside `solve`: the columns of a plain triangle that one of several devices is dealt: of one process or of
// ranks.
#pragma once

#include <string>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"
#include "palmette/solve/lower_triangle.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette::solve_detail {

/// What one element is given of L, or of Lᵀ, on the host: its columns in the order of the solve.
template <class T>
struct HostColumns {
  std::vector<int> column, row;
  std::vector<int> remaining;  ///< by row of all: how many of these columns add to it
  std::vector<long long> ptr = {0};
  std::vector<T> value, diagonal;
};

/// All elements' columns in one direction.
template <class T>
struct HostDeal {
  std::vector<HostColumns<T>> element;
  std::vector<unsigned> sources;  ///< by row: bit e: element e adds to it
  ColumnSlots slots;
  bool ascending = true;          ///< the order of the solve
};
template <class T>
HostDeal<T> deal_columns(const LowerTriangle<T>& triangle, bool transposed, const ColumnDeal& deal);

/// One element's columns in device memory.
template <class T>
struct ColumnsThere {
  ColumnsThere() = default;
  /// @throws MemoryError
  ColumnsThere(const std::shared_ptr<Device>& there, const HostDeal<T>& dealt, int element);
  device::ElementColumns<T> view(index_t n, const ColumnDeal& deal) const;
  offset_t bytes() const;
  /// For kernels that send sums. Does nothing the second time. @throws MemoryError
  void add_slots(const std::shared_ptr<Device>& there, const ColumnSlots& slots);

  DeviceArray<int> column, row;
  DeviceArray<long long> ptr;
  DeviceArray<T> value, diagonal;
  DeviceArray<unsigned> sources;
  DeviceArray<unsigned> first_slot;  ///< by row; empty until add_slots
  DeviceArray<int> remaining;  ///< what the counters begin with
  std::vector<index_t> own;    ///< the columns, on the host
};

/// "0 and 2" for the bits 0 and 2.
std::string numbers_of_bits(unsigned bits, const std::string& conjunction);

}  // namespace palmette::solve_detail
