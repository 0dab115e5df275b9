// Inside `refine`: rows of a matrix as kernels read them.
#pragma once

#include "palmette/device/device.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// The columns of a host's matrix as rows on a device; see device::SlicedRows.
template <class T>
class DeviceRowSlices {
 public:
  /// @throws MemoryError
  DeviceRowSlices(const std::shared_ptr<Device>& device, const SparseMatrix<T>& columns);

  device::SlicedRows<T> view() const;
  offset_t memory_bytes() const;

 private:
  index_t num_rows_;
  DeviceArray<long long> begin_;
  DeviceArray<int> row_, length_, column_;
  DeviceArray<T> value_;
};

}  // namespace palmette
