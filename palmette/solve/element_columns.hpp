// Inside `solve`: the columns of a plain triangle, dealt to several devices: of one process or of ranks.
#pragma once

#include <string>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"
#include "palmette/solve/lower_triangle.hpp"

namespace palmette::solve_detail {

/// Which element has a column.
struct ColumnDeal {
  int elements = 1;
  index_t columns_of_task = 1;

  /// @throws UsageError for less than one task or more elements than a warp has lanes
  static ColumnDeal of(index_t n, int elements, index_t tasks_per_element);
  int element_of(index_t column) const { return column / columns_of_task % elements; }
};

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

  DeviceArray<int> column, row;
  DeviceArray<long long> ptr;
  DeviceArray<T> value, diagonal;
  DeviceArray<unsigned> sources;
  DeviceArray<int> remaining;  ///< what the counters begin with
  std::vector<index_t> own;    ///< the columns, on the host
};

/// "0 and 2" for the bits 0 and 2.
std::string numbers_of_bits(unsigned bits, const std::string& conjunction);

}  // namespace palmette::solve_detail
