// The rows of a matrix, sorted by length and dealt to slices.
#include "palmette/refine/device_matrix.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include "palmette/refine/device_slices.hpp"
#include "palmette/refine/residual.hpp"

namespace palmette {
namespace {

constexpr index_t rows_of_slice = 32;

/// Rows, longest first, so that the rows of a slice are about equally long.
std::vector<int> rows_by_length(const SparsityPattern& columns) {
  std::vector<int> rows(columns.cols);
  std::iota(rows.begin(), rows.end(), 0);
  const auto length = [&](int row) { return columns.column_ptr[row + 1] - columns.column_ptr[row]; };
  std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return length(a) > length(b); });
  return rows;
}

}  // namespace

template <class T>
DeviceRowSlices<T>::DeviceRowSlices(const std::shared_ptr<Device>& device, const SparseMatrix<T>& columns)
    : num_rows_(columns.cols()) {
  const SparsityPattern& pattern = columns.pattern;
  const std::vector<int> row = rows_by_length(pattern);
  std::vector<int> length(row.size());
  std::vector<long long> begin = {0};
  for (index_t place = 0; place < num_rows_; ++place) {
    length[place] = static_cast<int>(pattern.column_ptr[row[place] + 1] - pattern.column_ptr[row[place]]);
    if (place % rows_of_slice == 0) begin.push_back(begin.back() + offset_t{rows_of_slice} * length[place]);
  }
  std::vector<int> column(begin.back(), 0);
  std::vector<T> value(column.size(), T(0));
  for (index_t place = 0; place < num_rows_; ++place) {
    long long at = begin[place / rows_of_slice] + place % rows_of_slice;
    const offset_t first = pattern.column_ptr[row[place]];
    for (int entry = 0; entry < length[place]; ++entry, at += rows_of_slice) {
      column[at] = pattern.row_index[first + entry];
      value[at] = columns.values[first + entry];
    }
  }
  begin_ = {device, begin};
  row_ = {device, row};
  length_ = {device, length};
  column_ = {device, column};
  value_ = {device, value};
}

template <class T>
device::SlicedRows<T> DeviceRowSlices<T>::view() const {
  return {num_rows_, begin_.data(), row_.data(), length_.data(), column_.data(), value_.data()};
}

template <class T>
offset_t DeviceRowSlices<T>::memory_bytes() const {
  return static_cast<offset_t>(begin_.bytes() + row_.bytes() + length_.bytes() + column_.bytes() +
                               value_.bytes());
}

/// By whether they are those of Aᵀ; under the mutex.
template <class T>
struct DeviceMatrix<T>::Lists {
  ProcessMutex mutex;
  std::unique_ptr<DeviceRowSlices<T>> rows[2];
  std::optional<ScaledNorm> norm[2];
};

template <class T>
DeviceMatrix<T>::DeviceMatrix(std::shared_ptr<Device> device, std::shared_ptr<const SparseMatrix<T>> matrix,
                              Symmetry symmetry)
    : device_(std::move(device)),
      matrix_(std::move(matrix)),
      symmetry_(symmetry),
      lists_(std::make_unique<Lists>()) {}
template <class T>
DeviceMatrix<T>::~DeviceMatrix() = default;

template <class T>
bool DeviceMatrix<T>::needs_transpose(Operation operation) const {
  const bool columns_are_rows = symmetry_ == Symmetry::symmetric || symmetry_ == Symmetry::hermitian;
  return operation == Operation::plain && !columns_are_rows;
}

template <class T>
const DeviceRowSlices<T>& DeviceMatrix<T>::rows_of(Operation operation) const {
  const std::lock_guard lock(lists_->mutex);
  const bool transposed = needs_transpose(operation);
  std::unique_ptr<DeviceRowSlices<T>>& kept = lists_->rows[transposed];
  if (!kept)
    kept = std::make_unique<DeviceRowSlices<T>>(device_, transposed ? transpose(*matrix_) : *matrix_);
  return *kept;
}

template <class T>
bool DeviceMatrix<T>::conjugates(Operation operation) const {
  // The columns are the rows of Aᵀ: of A if it is symmetric, of conj(A) if it is Hermitian.
  if (operation == Operation::plain) return symmetry_ == Symmetry::hermitian;
  return operation == Operation::adjoint;
}

template <class T>
const ScaledNorm& DeviceMatrix<T>::norm(Operation operation) const {
  const std::lock_guard lock(lists_->mutex);
  std::optional<ScaledNorm>& kept = lists_->norm[operation != Operation::plain];
  if (!kept) kept = operator_norm(*matrix_, operation);
  return *kept;
}

template <class T>
offset_t DeviceMatrix<T>::memory_bytes() const {
  const std::lock_guard lock(lists_->mutex);
  offset_t bytes = 0;
  for (const auto& rows : lists_->rows)
    if (rows) bytes += rows->memory_bytes();
  return bytes;
}

#define PALMETTE_INSTANTIATE(T)      \
  template class DeviceRowSlices<T>; \
  template class DeviceMatrix<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
