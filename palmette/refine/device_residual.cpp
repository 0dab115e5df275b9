// Launches of the kernels for residuals, and what the host makes of their figures.
#include "palmette/refine/device_residual.hpp"

#include <algorithm>

#include "palmette/refine/device_slices.hpp"
#include "palmette/refine/refinement_loop.hpp"

namespace palmette {
namespace {

/// Parts of a column: enough for every warp of a large GPU, and no more than there are runs of 32 rows.
int parts_of(index_t rows) { return std::clamp((rows + 31) / 32, 1, 1024); }

struct LargestRequest {
  bool cheap = false;
  double factor = 1;
  const double* scale = nullptr;
};

/// Launches column_maxima into `partial`, num_columns × parts.
template <class T>
void launch_maxima(Device& device, OnDevice<const T> columns, const LargestRequest& wanted, double* partial) {
  const device::ColumnMaxima<T> call{columns.data(), columns.ld(),  columns.rows(), columns.cols(),
                                     wanted.cheap,   wanted.factor, wanted.scale,   parts_of(columns.rows()),
                                     partial};
  device.launch({device::Kernel::column_maxima, ScalarTraits<T>::type, 1, &call}, {0, 0, 0});
}

/// The largest of each group of parts. @param result  on the device
std::vector<double> largest_of(Device& device, const double* partial, int num_parts, int count,
                               double* result) {
  const device::LargestOfParts<double> call{partial, num_parts, count, result};
  device.launch({device::Kernel::largest_of_parts, ScalarType::float64, 1, &call}, {0, 0, 0});
  std::vector<double> found(count);
  device.copy_out(found.data(), result, found.size() * sizeof(double));
  return found;
}

template <class T>
std::vector<double> maxima_of(const std::shared_ptr<Device>& device, OnDevice<const T> columns,
                              const LargestRequest& wanted) {
  if (columns.cols() == 0) return {};
  const auto count = static_cast<std::size_t>(columns.cols());
  const int parts = parts_of(columns.rows());
  DeviceArray<double> partial(device, count * static_cast<std::size_t>(parts)), result(device, count);
  launch_maxima(*device, columns, wanted, partial.data());
  return largest_of(*device, partial.data(), parts, columns.cols(), result.data());
}

template <class Entry>
void grow(const std::shared_ptr<Device>& device, DeviceArray<Entry>& array, std::size_t size) {
  if (array.size() >= size) return;
  array = {};
  array = {device, size};
}

template <class T>
std::vector<T> column_on_host(Device& device, OnDevice<const T> columns, int k) {
  std::vector<T> column(columns.rows());
  device.copy_out(column.data(), columns.columns(k, 1).data(), column.size() * sizeof(T));
  return column;
}


}  // namespace

template <class T>
std::vector<double> quarter_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns) {
  return maxima_of(device, columns, {.factor = 0.25});
}

template <class T>
std::vector<double> scaled_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns,
                                const double* scale) {
  return maxima_of(device, columns, {.cheap = true, .scale = scale});
}

template <class T>
DeviceResidual<T>::DeviceResidual(const DeviceMatrix<T>& matrix, Operation operation, OnDevice<const T> b)
    : matrix_(matrix),
      operation_(operation),
      b_(b),
      norm_(matrix.norm(operation)),
      b_norm_(quarter_norms(matrix.device(), b)) {}

template <class T>
std::vector<ColumnError> DeviceResidual<T>::evaluate(OnDevice<const T> x, const std::vector<int>& b_column) {
  const auto count = static_cast<std::size_t>(x.cols());
  errors_.assign(count, {});
  if (count == 0) return errors_;
  const std::vector<double> figures = figures_of(x, b_column);
  for (std::size_t k = 0; k < count; ++k) {
    const int of_b = b_column.empty() ? static_cast<int>(k) : b_column[k];
    const double b_norm = b_norm_[of_b], x_norm = figures[k];
    if (!norm_.finite() || b_norm == infinity || x_norm == infinity) continue;
    if (residual_shift(norm_, b_norm, x_norm) != 0)
      errors_[k] = evaluate_on_host(x, static_cast<int>(k), of_b);
    else errors_[k] = judged(4 * b_norm, 4 * x_norm, figures[count + k], figures[2 * count + k]);
  }
  return errors_;
}

template <class T>
std::vector<double> DeviceResidual<T>::figures_of(OnDevice<const T> x, const std::vector<int>& b_column) {
  const std::shared_ptr<Device>& device = matrix_.device();
  const device::SlicedRows<T> rows = matrix_.rows_of(operation_).view();
  const auto count = static_cast<std::size_t>(x.cols());
  // Maxima of x have parts of its own length; op(A) is square or the larger number is taken.
  const int parts = parts_of(x.rows()), row_parts = parts_of(b_.rows());
  grow(device, residual_, count * static_cast<std::size_t>(b_.rows()));
  grow(device, partial_, count * static_cast<std::size_t>(std::max(parts, 2 * row_parts)));
  grow(device, result_, 2 * count);
  b_column_ = b_column.empty() ? DeviceArray<int>() : DeviceArray<int>(device, b_column);
  launch_maxima(*device, x, {.factor = 0.25}, partial_.data());
  std::vector<double> figures = largest_of(*device, partial_.data(), parts, x.cols(), result_.data());
  const auto [forgiven, suspicious] = forgiveness<T>(x.rows(), 0);
  const device::ResidualCall<T> call{rows,       b_.data(),
                                     b_.ld(),    b_column_.data(),
                                     x.data(),   x.ld(),
                                     x.cols(),   matrix_.conjugates(operation_),
                                     residual_.data(), forgiven,
                                     suspicious, row_parts,
                                     partial_.data()};
  device->launch({device::Kernel::residual, ScalarTraits<T>::type, x.cols() == 1 ? 1 : device::rhs_of_lane,
                  &call},
                 {0, 0, 0});
  const std::vector<double> of_rows =
      largest_of(*device, partial_.data(), row_parts, 2 * x.cols(), result_.data());
  figures.insert(figures.end(), of_rows.begin(), of_rows.end());
  return figures;
}

template <class T>
ColumnError DeviceResidual<T>::judged(double b_norm, double x_norm, double residual_norm,
                                      double componentwise) const {
  ColumnError error;
  if (residual_norm == infinity) return error;
  error.residual_norm = residual_norm;
  error.solution_norm = x_norm;
  error.backward = backward_error_of(norm_, residual_norm, x_norm, b_norm);
  error.componentwise = componentwise;
  return error;
}

template <class T>
ColumnError DeviceResidual<T>::evaluate_on_host(OnDevice<const T> x, int k, int of_b) {
  Device& device = *matrix_.device();
  const std::vector<T> b = column_on_host(device, b_, of_b), column = column_on_host(device, x, k);
  Residual<T> residual(SystemMatrix<T>(matrix_.on_host()), operation_);
  ColumnError error = residual.evaluate(b.data(), column.data());
  if (!error.finite()) return error;
  std::vector<T> found(b.size());
  const int exponent = residual.write_scaled(found.data());
  std::vector<Wide> wide(b.size());
  std::transform(found.begin(), found.end(), wide.begin(), [](const T& v) { return widen(v); });
  device.copy_in(residual_.data() + static_cast<std::size_t>(k) * wide.size(), wide.data(),
                 wide.size() * sizeof(Wide));
  // What lies on the device has norm near one; `shift` says how far from the residual that is.
  error.residual_norm = error.residual_norm == 0 ? 0 : 0.5;
  error.shift = -exponent;
  return error;
}

template <class T>
int DeviceResidual<T>::exponent(int column) const {
  const ColumnError& error = errors_[column];
  return ScaledNorm::of(error.residual_norm).exponent - error.shift;
}

template <class T>
void DeviceResidual<T>::write_scaled(const std::vector<int>& columns, OnDevice<T> into) {
  if (columns.empty()) return;
  const std::shared_ptr<Device>& device = matrix_.device();
  std::vector<double> first, second;
  for (const int column : columns) {
    const PowerOfTwo power(-(exponent(column) + errors_[column].shift));
    first.push_back(power.first);
    second.push_back(power.second);
  }
  const DeviceArray<int> list(device, columns);
  const DeviceArray<double> firsts(device, first), seconds(device, second);
  const device::ScaledResidual<T> call{residual_.data(), into.data(),   into.rows(), into.cols(),
                                       list.data(),      firsts.data(), seconds.data()};
  device->launch({device::Kernel::scaled_residual, ScalarTraits<T>::type, 1, &call}, {0, 0, 0});
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template std::vector<double> quarter_norms<T>(const std::shared_ptr<Device>&, OnDevice<const T>);        \
  template std::vector<double> scaled_norms<T>(const std::shared_ptr<Device>&, OnDevice<const T>,           \
                                              const double*);                                              \
  template class DeviceResidual<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
