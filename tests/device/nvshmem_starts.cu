// The kernels of elements with puts of NVSHMEM: they compile and link; the program starts, and says what it
// found. Without a GPU nothing runs.
#include <cuda_runtime.h>

#include <cstdio>

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/forward_sweep.cuh"

namespace palmette::device {

#define INSTANTIATE(scalar, num_rhs)                                                      \
  template __global__ void network_forward_kernel<scalar, num_rhs>(ElementSweep<scalar>); \
  template __global__ void network_backward_kernel<scalar, num_rhs>(ElementSweep<scalar>);
#define INSTANTIATE_SCALAR(scalar) INSTANTIATE(scalar, 1) INSTANTIATE(scalar, 4)
INSTANTIATE_SCALAR(float)
INSTANTIATE_SCALAR(double)
INSTANTIATE_SCALAR(Complex<float>)
INSTANTIATE_SCALAR(Complex<double>)

}  // namespace palmette::device

int main() {
  int major = 0, minor = 0, gpus = 0;
  nvshmem_info_get_version(&major, &minor);
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) gpus = 0;
  std::printf("NVSHMEM's standard %d.%d, %d GPUs\n", major, minor, gpus);
}
