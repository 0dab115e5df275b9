// The kernels of elements, which store to each other's memory, for nvcc: the tests run what it makes of them.
#include "palmette/device/element_sweep.cuh"
#include "tests/device/kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE(scalar, word, kernel) \
  template __global__ void kernel##_kernel<scalar, 1>(ElementSweep<scalar>); \
  template __global__ void kernel##_kernel<scalar, 4>(ElementSweep<scalar>);
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, element_forward)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, element_backward)

}  // namespace palmette::device
