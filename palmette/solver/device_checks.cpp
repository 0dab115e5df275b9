// Vectors on devices at the door of the hall.
#include "palmette/solver/device_checks.hpp"

#include <functional>
#include <limits>

#include "palmette/solver/checks.hpp"

namespace palmette {
namespace {

std::size_t bytes_from_first_to_last(offset_t ld, index_t rows, index_t cols, std::size_t scalar_bytes) {
  return rows == 0 || cols == 0 ? 0 : static_cast<std::size_t>(ld * (cols - 1) + rows) * scalar_bytes;
}

template <class T>
void check_place(const Device& device, OnDevice<T> columns, const char* what) {
  const std::size_t bytes =
      bytes_from_first_to_last(columns.ld(), columns.rows(), columns.cols(), sizeof(T));
  if (bytes > 0 && !device.holds(columns.data(), bytes))
    throw UsageError(std::string(what) + " does not lie in the memory of the device " +
                     device.info().address() + ", which holds the factor: copy it there, or make the solver "
                     "on the device where it lies");
}

}  // namespace

template <class T>
void check_places_on(const std::shared_ptr<Device>& device, OnDevice<const T> b, OnDevice<const T> x) {
  if (!device)
    throw UsageError("the right-hand side lies on a device, but the factor on the host: make the solver with "
                     "a device, or copy the right-hand side to the host");
  check_place(*device, b, "the right-hand side");
  check_place(*device, x, "the solution");
}

template <class T>
void check_vectors_on(const std::shared_ptr<Device>& device, index_t n, OnDevice<const T> b, OnDevice<T> x,
                      const SolveRequest& request) {
  check_places_on(device, b, OnDevice<const T>(x));
  device->wait_for_stream(request.stream);
  check_threads(request.threads);
  // The sizes as for vectors of the host, without looking at their values.
  check_right_hand_side_sizes(n, b.addresses(), x.addresses());
  if (n == 0 || b.cols() == 0) return;
  const std::vector<double> norms = infinity_norms(device, b);
  for (index_t j = 0; j < b.cols(); ++j) {
    if (norms[j] <= std::numeric_limits<double>::max()) continue;
    DenseMatrix<T> column(n, 1);
    copy_from_device(*device, b.columns(j, 1), column.view());
    check_finite(std::as_const(column).view(), j);
  }
}

template <class T>
CopyThere<T> copy_if_overlapping(const std::shared_ptr<Device>& device, OnDevice<const T> b, OnDevice<T> x) {
  if (b.rows() == 0 || b.cols() == 0) return {};
  const T* const b_end = b.columns(b.cols() - 1, 1).data() + b.rows();
  const T* const x_end = x.columns(x.cols() - 1, 1).data() + x.rows();
  const std::less<const T*> before;
  if (!before(b.data(), x_end) || !before(x.data(), b_end)) return {};
  const auto rows = static_cast<std::size_t>(b.rows());
  CopyThere<T> copy{{device, rows * static_cast<std::size_t>(b.cols())}, b.rows()};
  for (index_t j = 0; j < b.cols(); ++j)
    device->copy_there(copy.values.data() + static_cast<std::size_t>(j) * rows, b.columns(j, 1).data(),
                       rows * sizeof(T));
  return copy;
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template void check_places_on(const std::shared_ptr<Device>&, OnDevice<const T>, OnDevice<const T>);     \
  template void check_vectors_on(const std::shared_ptr<Device>&, index_t, OnDevice<const T>, OnDevice<T>,  \
                                 const SolveRequest&);                                                     \
  template CopyThere<T> copy_if_overlapping(const std::shared_ptr<Device>&, OnDevice<const T>, OnDevice<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
