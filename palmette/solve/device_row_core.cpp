// One solve with a plain triangle on a device.
#include "palmette/solve/device_row_core.hpp"

#include <algorithm>
#include <mutex>

#include "palmette/solve/device_factor.hpp"
#include "palmette/solve/device_maps.hpp"

namespace palmette::solve_detail {

namespace {

template <class T>
offset_t bytes_of(const device::RowSlices<T>& slices) {
  const std::size_t ints = slices.first.size() + slices.row.size() + slices.column.size();
  return static_cast<offset_t>(slices.begin.size() * sizeof(long long) + ints * sizeof(int) +
                               slices.value.size() * sizeof(T));
}

}  // namespace

template <class T>
DeviceRowCore<T>::DeviceRowCore(std::shared_ptr<Device> device, LowerTriangle<T> triangle,
                                bool transposed_first)
    : device_(std::move(device)), triangle_(std::move(triangle)) {
  const auto n = static_cast<std::size_t>(triangle_.size());
  const device::RowSlices<T> slices = slices_of(transposed_first);
  // The diagonal, x, and a column that comes from the host; flags and a ticket.
  const std::size_t others = (triangle_.diagonal.size() + 2 * n) * sizeof(T) + (n + 1) * sizeof(int);
  check_room(bytes_of(slices) + static_cast<offset_t>(others));
  diagonal_ = {device_, triangle_.diagonal};
  done_ = {device_, std::vector<int>(n, 0)};
  ticket_ = {device_, 1};
  rows_[transposed_first] = uploaded(slices);
}

template <class T>
device::RowSlices<T> DeviceRowCore<T>::slices_of(bool transposed) const {
  // The columns of L are the rows of Lᵀ.
  const SparseMatrix<T> turned = transposed ? SparseMatrix<T>() : transpose(triangle_.strict);
  const SparseMatrix<T>& lists = transposed ? triangle_.strict : turned;
  const std::vector<long long> ptr(lists.pattern.column_ptr.begin(), lists.pattern.column_ptr.end());
  return device::cut_into_slices<T>(
      {triangle_.size(), ptr.data(), lists.pattern.row_index.data(), lists.values.data(), transposed});
}

template <class T>
void DeviceRowCore<T>::check_room(offset_t bytes) const {
  const offset_t free = device_->info().memory_bytes - device_->bytes_in_use();
  if (bytes > free)
    throw MemoryError("the triangle needs " + std::to_string(bytes) + " bytes on the device " +
                          device_->info().address() + ", where " + std::to_string(free) +
                          " are free: choose a device with more memory, or solve on the host",
                      bytes);
}

template <class T>
DeviceRows<T> DeviceRowCore<T>::uploaded(const device::RowSlices<T>& slices) const {
  return {{device_, slices.begin}, {device_, slices.first}, {device_, slices.row}, {device_, slices.column},
          {device_, slices.value}};
}

template <class T>
const DeviceRows<T>& DeviceRowCore<T>::rows(bool transposed) const {
  DeviceRows<T>& kept = rows_[transposed];
  if (kept.begin.size() > 0) return kept;
  const device::RowSlices<T> slices = slices_of(transposed);
  check_room(bytes_of(slices));
  kept = uploaded(slices);
  return kept;
}

template <class T>
void DeviceRowCore<T>::solve(bool transposed, const CoreRun<T>& given) const {
  const index_t n = triangle_.size(), stride = device_stride_of(given.num_rhs());
  const std::size_t entries = static_cast<std::size_t>(n) * stride;
  const std::lock_guard lock(one_solve_);
  if (x_.size() < entries) {
    x_ = {};
    x_ = {device_, entries};
  }
  load_rows(*device_, given.in, {x_.data(), stride}, n);
  sweep(transposed, stride);
  store_rows<T>(*device_, given.out, {x_.data(), stride}, n);
}

template <class T>
void DeviceRowCore<T>::sweep(bool transposed, index_t stride) const {
  const DeviceRows<T>& lists = rows(transposed);
  ticket_.clear();
  const int num_slices = static_cast<int>(lists.first.size()) - 1;
  const device::RowSweep<T> sweep{num_slices,         lists.begin.data(),  lists.first.data(),
                                  lists.row.data(),   lists.column.data(), lists.value.data(),
                                  diagonal_.data(),   x_.data(),           done_.data(),
                                  ticket_.data(),     ++sweeps_,           stride};
  const int at_once = stride == 1 ? 1 : device::rhs_of_lane;
  device_->launch({device::Kernel::rows, ScalarTraits<T>::type, at_once, &sweep}, {0, 0, 0});
}

template <class T>
WorkspaceNeed DeviceRowCore<T>::workspace_need(index_t) const {
  return {};
}

template <class T>
CoreCost DeviceRowCore<T>::cost() const {
  return cost_of_entries(triangle_);
}

template <class T>
offset_t DeviceRowCore<T>::memory_bytes() const {
  const std::lock_guard lock(one_solve_);
  return rows_[0].bytes() + rows_[1].bytes() +
         static_cast<offset_t>(diagonal_.bytes() + x_.bytes() + done_.bytes() + ticket_.bytes());
}

#define PALMETTE_INSTANTIATE(T) template class DeviceRowCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
