// Part of the door of `device`: dense factorization, triangular solves and products of matrices in device
// memory: cuBLAS and cuSOLVER on a GPU, the caller's functions on the emulated device.
#pragma once

#include <memory>
#include <span>

#include "palmette/device/devices.hpp"

namespace palmette {

/// The triangle that rows are divided by from the right: X ← X·op(A)⁻¹.
struct RowTriangle {
  bool upper = false;
  bool transposed = false;
  bool adjoint = false;  ///< of a transposed one: also conjugated
  bool unit_diagonal = false;
};

/// X ← X·op(A)⁻¹, X m × n, A n × n, both in device memory.
template <class T>
struct DeviceDivision {
  RowTriangle how;
  DenseView<const T> a;
  DenseView<T> x;
};

/// C ← A·Bᵀ, or A·Bᴴ if `adjoint`; all in device memory; C is overwritten.
template <class T>
struct DeviceProduct {
  bool adjoint = false;
  DenseView<const T> a;  ///< m × k
  DenseView<const T> b;  ///< n × k
  DenseView<T> c;        ///< m × n
  /// The first n rows of A are B: only the lower triangle of the first n rows of C is needed.
  bool starts_symmetric = false;
};

/// What the host calls on matrices in its own memory.
template <class T>
struct HostDense {
  /// @returns −1, or the column whose pivot is not positive
  index_t (*factor_llt)(DenseView<T> a) = nullptr;
  void (*divide_rows)(const RowTriangle& how, DenseView<const T> a, DenseView<T> x) = nullptr;
  void (*multiply_rows)(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) = nullptr;
};

/// Rows after which a product or a division may be cut: the ends of its pieces, the last one being the number
/// of its rows. The emulated device computes piece by piece, as the host does, and so gets the host's bits; a
/// GPU computes everything at once.
using RowCuts = std::span<const index_t>;

/// Called by one thread at a time. Results are there when Device::copy_out is.
template <class T>
class DenseLibrary {
 public:
  virtual ~DenseLibrary() = default;
  /// The lower triangle of A ← L with L·Lᴴ = A. @returns −1, or the column whose pivot is not positive; A is
  /// then undefined
  /// @throws MemoryError if the device has no memory for the workspace; DeviceError
  virtual index_t factor_llt(DenseView<T> a) = 0;
  virtual void divide_rows(const DeviceDivision<T>& division, RowCuts cuts) = 0;
  virtual void multiply_rows(const DeviceProduct<T>& product, RowCuts cuts) = 0;
};

/// Empty if there can be dense operations on this device; otherwise why not.
std::string why_no_dense_operations(const Device& device);
/// @throws DeviceError if the device's libraries cannot be loaded, saying which and why
template <class T>
std::unique_ptr<DenseLibrary<T>> make_dense_operations(const std::shared_ptr<Device>& device,
                                                          const HostDense<T>& host);

}  // namespace palmette
