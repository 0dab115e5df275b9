// The kernels of elements that put through NVSHMEM, of which declarations are enough: the tests run what nvcc
// makes of them, with the emulator's network.
#define PALMETTE_WITH_NVSHMEM
#include "palmette/device/element_sweep.cuh"
#include "tests/device/kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE(scalar, word, kernel) \
  template __global__ void kernel##_kernel<scalar, 1>(ElementSweep<scalar>); \
  template __global__ void kernel##_kernel<scalar, 4>(ElementSweep<scalar>);
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, network_forward)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, network_backward)

}  // namespace palmette::device
