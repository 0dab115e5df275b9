// Compiled with -fsanitize=thread: the kernels, and the closures that call them.
#include "palmette/device/instrumented.hpp"

#include "palmette/device/launches.hpp"

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/kernel_scalar.cuh"
#include "palmette/device/region_exchange.cuh"
#include "palmette/device/sweep_kernels.cuh"
#include "palmette/device/triangle_elements.cuh"
#include "palmette/device/vector_kernels.cuh"

namespace palmette::device {
namespace {

using Closure = std::function<void()>;

/// The argument is copied, since launches outlive it.
template <class Argument, class Kernel>
Closure closure(const void* argument, Kernel kernel) {
  return [a = *static_cast<const Argument*>(argument), kernel] { kernel(a); };
}

template <class T, int K>
Closure closure_of(const KernelCall& call) {
  using Sweep = TriangleSweep<T>;
  switch (call.kernel) {
    case Kernel::tree_forward: return closure<Sweep>(call.argument, tree_forward_kernel<T, K>);
    case Kernel::tree_backward: return closure<Sweep>(call.argument, tree_backward_kernel<T, K>);
    case Kernel::level_forward: return closure<Sweep>(call.argument, level_forward_kernel<T, K>);
    case Kernel::level_backward: return closure<Sweep>(call.argument, level_backward_kernel<T, K>);
    case Kernel::columns_forward: return closure<Sweep>(call.argument, columns_forward_kernel<T, K>);
    case Kernel::columns_backward: return closure<Sweep>(call.argument, columns_backward_kernel<T, K>);
    case Kernel::rows: return closure<RowSweep<T>>(call.argument, rows_kernel<T, K>);
    case Kernel::element_forward:
      return closure<ElementSweep<T>>(call.argument, element_forward_kernel<T, K>);
    case Kernel::element_backward:
      return closure<ElementSweep<T>>(call.argument, element_backward_kernel<T, K>);
    case Kernel::network_forward:
      return closure<ElementSweep<T>>(call.argument, network_forward_kernel<T, K>);
    case Kernel::network_backward:
      return closure<ElementSweep<T>>(call.argument, network_backward_kernel<T, K>);
    case Kernel::unified_columns:
      return closure<ColumnSweep<T>>(call.argument, unified_columns_kernel<T, K>);
    case Kernel::zero_copy_columns:
      return closure<ColumnSweep<T>>(call.argument, zero_copy_columns_kernel<T, K>);
    case Kernel::pushed_columns: return closure<ColumnSweep<T>>(call.argument, pushed_columns_kernel<T, K>);
    case Kernel::put_columns: return closure<ColumnSweep<T>>(call.argument, put_columns_kernel<T, K>);
    case Kernel::residual: return closure<ResidualCall<T>>(call.argument, residual_kernel<T, K>);
    default: return {};
  }
}

/// Of kernels that multiply by no right-hand sides.
template <class T>
Closure closure_of_vectors(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::load_rows: return closure<VectorMove<T>>(call.argument, load_rows_kernel<T>);
    case Kernel::store_rows: return closure<VectorMove<T>>(call.argument, store_rows_kernel<T>);
    case Kernel::to_low: return closure<PrecisionChange<T>>(call.argument, to_low_kernel<T>);
    case Kernel::from_low: return closure<PrecisionChange<T>>(call.argument, from_low_kernel<T>);
    case Kernel::column_maxima: return closure<ColumnMaxima<T>>(call.argument, column_maxima_kernel<T>);
    case Kernel::largest_of_parts:
      return closure<LargestOfParts<double>>(call.argument, largest_of_parts_kernel<double>);
    case Kernel::scaled_residual: return closure<ScaledResidual<T>>(call.argument, scaled_residual_kernel<T>);
    case Kernel::correction: return closure<CorrectionCall<T>>(call.argument, correction_kernel<T>);
    case Kernel::copy_columns: return closure<ColumnCopy<T>>(call.argument, copy_columns_kernel<T>);
    case Kernel::region_trial:
      return closure<RegionTrial>(call.argument, region_trial_kernel<>);
    default: return {};
  }
}

template <class T>
Closure closure_for(const KernelCall& call) {
  Closure vectors = closure_of_vectors<T>(call);
  if (vectors) return vectors;
  return call.rhs_at_once == 1 ? closure_of<T, 1>(call) : closure_of<T, rhs_of_lane>(call);
}

#if defined(PALMETTE_SANITIZED)
/// The emulator refuses to run there, so that no kernel need be compiled.
Closure closure_for_scalar(const KernelCall&) { return {}; }
#else
Closure closure_for_scalar(const KernelCall& call) {
  return with_scalar_of(call, [&]<class T>(T) { return closure_for<T>(call); });
}
#endif

}  // namespace

emulate::Launch emulated_launch(const KernelCall& call, const LaunchShape& shape) {
  return launch_of(0, shape, closure_for_scalar(call));
}

}  // namespace palmette::device
