// Changes of precision on a device.
#include "palmette/solver/scaled_solves.hpp"

#include "palmette/refine/refine.hpp"

namespace palmette {

template <class T>
ScaledSolves<T>::ScaledSolves(std::shared_ptr<Device> device, const std::vector<double>& row_scale,
                              const std::vector<double>& column_scale)
    : device_(std::move(device)), row_scale_(device_, row_scale), column_scale_(device_, column_scale) {}

template <class T>
void ScaledSolves<T>::launch(device::Kernel kernel, const device::PrecisionChange<T>& change) const {
  device_->launch({kernel, ScalarTraits<T>::type, 1, &change}, {0, 0, 0});
}

template <class T>
SolveTrace ScaledSolves<T>::apply(const SolvePlan<Low>& plan, Operation operation, OnDevice<const T> b,
                                  OnDevice<T> x, const SolveRun& run) const {
  if (b.rows() == 0 || b.cols() == 0) return {};
  const bool plain = operation == Operation::plain;
  const double* const before = (plain ? row_scale_ : column_scale_).data();
  const double* const after = (plain ? column_scale_ : row_scale_).data();
  const std::lock_guard lock(one_solve_);
  std::vector<double> size = scaled_norms(device_, b, before);
  for (double& one : size)
    if (!(one > 0)) one = 1;
  size_ = {device_, size};
  const std::size_t entries = static_cast<std::size_t>(b.rows()) * b.cols();
  if (low_.size() < entries) {
    low_ = {};
    low_ = {device_, entries};
  }
  const OnDevice<Low> low(DenseView<Low>{low_.data(), b.rows(), b.cols(), b.rows()});
  launch(device::Kernel::to_low, {const_cast<T*>(b.data()), b.ld(), low.data(), b.rows(), b.cols(), before,
                                  size_.data()});
  const SolveTrace trace = plan.solve(operation, low, low, run);
  launch(device::Kernel::from_low, {x.data(), x.ld(), low.data(), b.rows(), b.cols(), after, size_.data()});
  return trace;
}

#define PALMETTE_INSTANTIATE(T) template class ScaledSolves<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
