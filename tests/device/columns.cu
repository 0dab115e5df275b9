// The kernels for a plain triangle over several devices, for nvcc: the tests run what it makes of them.
// Puts need NVSHMEM: put_columns is in network_words.cu.
#include "palmette/device/triangle_elements.cuh"
#include "tests/device/kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE(scalar, word, kernel)                                 \
  template __global__ void kernel##_kernel<scalar, 1>(ColumnSweep<scalar>); \
  template __global__ void kernel##_kernel<scalar, 4>(ColumnSweep<scalar>);
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, unified_columns)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, zero_copy_columns)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, pushed_columns)

}  // namespace palmette::device
