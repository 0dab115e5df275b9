// Inside `solver`: solves on a device with a factor in single precision and vectors in double.
#pragma once

#include <mutex>

#include "palmette/solve/solve.hpp"

namespace palmette {

/// The scales of mixed precision on a device, and the vectors in single precision. One solve at a time;
/// others wait.
template <class T>
class ScaledSolves {
 public:
  using Low = with_precision_t<T, float>;
  ScaledSolves(std::shared_ptr<Device> device, const std::vector<double>& row_scale,
               const std::vector<double>& column_scale);

  /// x ← op(A)⁻¹·b, as on the host: every column is brought to size one before it is rounded.
  SolveTrace apply(const SolvePlan<Low>& plan, Operation operation, OnDevice<const T> b, OnDevice<T> x,
                   const SolveRun& run) const;

 private:
  void launch(device::Kernel kernel, const device::PrecisionChange<T>& change) const;

  std::shared_ptr<Device> device_;
  DeviceArray<double> row_scale_, column_scale_;
  mutable ProcessMutex one_solve_;
  mutable DeviceArray<Low> low_;      // under the mutex: n × columns
  mutable DeviceArray<double> size_;  // of each column
};

}  // namespace palmette
