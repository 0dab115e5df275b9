// A kernel for each word between processing elements, so that a test can see what nvcc makes of it.
#define PALMETTE_WITH_NVSHMEM
#include "palmette/device/vocabulary.hpp"
#include "tests/device/word_list.hpp"

namespace gpu = palmette::gpu;

#define KERNEL_OF_WORD(name, statement, instructions) \
  extern "C" __global__ void name(double* number, int* count, gpu::Signal* signal) { statement; }
PALMETTE_FOR_EACH_NETWORK_WORD(KERNEL_OF_WORD)
