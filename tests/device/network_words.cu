// A kernel for each word between processing elements, so that a test can see what nvcc makes of it; and the
// kernels of a plain triangle whose sums are put.
#define PALMETTE_WITH_NVSHMEM
#include "palmette/device/triangle_elements.cuh"
#include "tests/device/kernel_list.hpp"
#include "tests/device/word_list.hpp"

namespace gpu = palmette::gpu;

#define KERNEL_OF_WORD(name, statement, instructions) \
  extern "C" __global__ void name(double* number, int* count, gpu::Signal* signal) { statement; }
PALMETTE_FOR_EACH_NETWORK_WORD(KERNEL_OF_WORD)

namespace palmette::device {

#define INSTANTIATE(scalar, word, kernel)                                 \
  template __global__ void kernel##_kernel<scalar, 1>(ColumnSweep<scalar>); \
  template __global__ void kernel##_kernel<scalar, 4>(ColumnSweep<scalar>);
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, put_columns)

}  // namespace palmette::device
