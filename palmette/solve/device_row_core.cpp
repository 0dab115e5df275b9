// One solve with a plain triangle on a device.
#include "palmette/solve/device_row_core.hpp"

#include <algorithm>
#include <mutex>

#include "palmette/solve/device_factor.hpp"
#include "palmette/solve/device_maps.hpp"

namespace palmette::solve_detail {

template <class T>
DeviceRowCore<T>::DeviceRowCore(std::shared_ptr<Device> device, LowerTriangle<T> triangle)
    : device_(std::move(device)),
      triangle_(std::move(triangle)),
      diagonal_(device_, triangle_.diagonal),
      done_(device_, std::vector<int>(static_cast<std::size_t>(triangle_.size()), 0)),
      ticket_(device_, 1) {}

template <class T>
const DeviceRows<T>& DeviceRowCore<T>::rows(bool transposed) const {
  DeviceRows<T>& kept = rows_[transposed];
  if (kept.ptr.size() > 0) return kept;
  // The columns of L are the rows of Lᵀ.
  const SparseMatrix<T> turned = transposed ? SparseMatrix<T>() : transpose(triangle_.strict);
  const SparseMatrix<T>& lists = transposed ? triangle_.strict : turned;
  const std::vector<offset_t>& ptr = lists.pattern.column_ptr;
  kept.column = {device_, lists.pattern.row_index};
  kept.value = {device_, lists.values};
  kept.ptr = {device_, std::vector<long long>(ptr.begin(), ptr.end())};
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
  const device::RowSweep<T> sweep{triangle_.size(), lists.ptr.data(), lists.column.data(), lists.value.data(),
                                  diagonal_.data(), transposed,       x_.data(),           done_.data(),
                                  ticket_.data(),   ++sweeps_,        stride};
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
