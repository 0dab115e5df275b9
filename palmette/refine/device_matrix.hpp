// Part of the door of `refine`: a matrix on a device, for residuals of vectors that lie there.
#pragma once

#include <memory>

#include "palmette/device/device.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

template <class T>
class DeviceRowSlices;
struct ScaledNorm;

/// A in the memory of a device, by rows in slices. The rows of A and those of Aᵀ are uploaded when they are
/// first needed; of a symmetric or Hermitian matrix they are the same. Thread-safe.
template <class T>
class DeviceMatrix {
 public:
  /// @param matrix    stays on the host too, for what the device does not do
  /// @param symmetry  exactly that of the matrix; general is never wrong
  DeviceMatrix(std::shared_ptr<Device> device, std::shared_ptr<const SparseMatrix<T>> matrix,
               Symmetry symmetry = Symmetry::general);
  ~DeviceMatrix();
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  const SparseMatrix<T>& on_host() const { return *matrix_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  index_t rows() const { return matrix_->rows(); }
  index_t cols() const { return matrix_->cols(); }
  offset_t memory_bytes() const;

  // Inside `refine`.

  /// Rows of op(A), without its conjugation. @throws MemoryError
  const DeviceRowSlices<T>& rows_of(Operation operation) const;
  /// Whether these rows must be conjugated.
  bool conjugates(Operation operation) const;
  /// ‖op(A)‖∞
  const ScaledNorm& norm(Operation operation) const;

 private:
  struct Lists;
  bool needs_transpose(Operation operation) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<const SparseMatrix<T>> matrix_;
  Symmetry symmetry_;
  std::unique_ptr<Lists> lists_;
};

}  // namespace palmette
