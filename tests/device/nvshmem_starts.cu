// The kernels of elements and of columns with puts of NVSHMEM: they compile and link; the program starts, and
// says what it found. Without a GPU nothing runs.
#include <cuda_runtime.h>

#include <cstdio>

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/triangle_elements.cuh"
#include "tests/device/kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE(scalar, word, kernel, Argument) \
  template __global__ void kernel##_kernel<scalar, 1>(Argument<scalar>); \
  template __global__ void kernel##_kernel<scalar, 4>(Argument<scalar>);
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, network_forward, ElementSweep)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, network_backward, ElementSweep)
PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE, put_columns, ColumnSweep)

}  // namespace palmette::device

int main() {
  int major = 0, minor = 0, gpus = 0;
  nvshmem_info_get_version(&major, &minor);
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) gpus = 0;
  std::printf("NVSHMEM's standard %d.%d, %d GPUs\n", major, minor, gpus);
}
