// The kernels of the list, for nvcc: the tests run what it makes of them.
#include "palmette/device/sweep_kernels.cuh"
#include "tests/device/kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE_SCALAR(scalar, word, kernel, argument, num_rhs) \
  template __global__ void kernel##_kernel<scalar, num_rhs>(argument<scalar>);
#define INSTANTIATE(kernel, argument, num_rhs, ...) \
  PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE_SCALAR, kernel, argument, num_rhs)
PALMETTE_FOR_EACH_KERNEL(INSTANTIATE)

#define INSTANTIATE_FAULT(fault, words) \
  template __global__ void tree_forward_kernel<double, 1, Fault::fault>(TriangleSweep<double>);
PALMETTE_FOR_EACH_PLANTED_FAULT(INSTANTIATE_FAULT)

}  // namespace palmette::device
