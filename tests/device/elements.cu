// The kernels of elements, which store to each other's memory, for nvcc: the tests run what it makes of them.
#include "palmette/device/element_sweep.cuh"

namespace palmette::device {

#define INSTANTIATE(scalar, num_rhs)                                                         \
  template __global__ void element_forward_kernel<scalar, num_rhs>(ElementSweep<scalar>); \
  template __global__ void element_backward_kernel<scalar, num_rhs>(ElementSweep<scalar>);
#define INSTANTIATE_SCALAR(scalar) INSTANTIATE(scalar, 1) INSTANTIATE(scalar, 4)
INSTANTIATE_SCALAR(float)
INSTANTIATE_SCALAR(double)
INSTANTIATE_SCALAR(Complex<float>)
INSTANTIATE_SCALAR(Complex<double>)

}  // namespace palmette::device
