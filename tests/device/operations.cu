// A kernel for each operation: thread t takes the inputs t and leaves the bits of the result.
#include "tests/device/operation_list.hpp"

namespace palmette::operations {

#define KERNEL_OF_OPERATION(name, expression)                                               \
  extern "C" __global__ void name##_kernel(const Inputs* all, unsigned long long* result) { \
    const Inputs in = all[blockIdx.x * blockDim.x + threadIdx.x];                           \
    result[blockIdx.x * blockDim.x + threadIdx.x] = bits_of(expression);                    \
  }
PALMETTE_FOR_EACH_OPERATION(KERNEL_OF_OPERATION)

}  // namespace palmette::operations
