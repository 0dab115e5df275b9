// The kernels for vectors, and that of regions, for nvcc: the tests run what it makes of them.
#include "palmette/device/region_exchange.cuh"
#include "palmette/device/vector_kernels.cuh"
#include "tests/device/kernel_list.hpp"
#include "tests/device/vector_kernel_list.hpp"

namespace palmette::device {

#define INSTANTIATE_SCALAR(scalar, word, kernel, argument) \
  template __global__ void kernel##_kernel<scalar>(argument<scalar>);
#define INSTANTIATE(kernel, argument, ...) \
  PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE_SCALAR, kernel, argument)
PALMETTE_FOR_EACH_VECTOR_KERNEL(INSTANTIATE)

#define INSTANTIATE_RESIDUAL(scalar, word, kernel, argument, num_rhs) \
  template __global__ void kernel##_kernel<scalar, num_rhs>(argument<scalar>);
#define INSTANTIATE_RESIDUALS(kernel, argument, num_rhs, ...) \
  PALMETTE_FOR_EACH_KERNEL_SCALAR(INSTANTIATE_RESIDUAL, kernel, argument, num_rhs)
PALMETTE_FOR_EACH_RESIDUAL_KERNEL(INSTANTIATE_RESIDUALS)

template __global__ void largest_of_parts_kernel<double>(LargestOfParts<double>);

template __global__ void region_trial_kernel<ExchangeFault::none>(RegionTrial);
template __global__ void region_trial_kernel<ExchangeFault::unfenced_count>(RegionTrial);

}  // namespace palmette::device
