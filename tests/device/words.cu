// A kernel for each word of the vocabulary, so that a test can see what nvcc makes of it.
#include "palmette/device/vocabulary.hpp"
#include "tests/device/word_list.hpp"

namespace gpu = palmette::gpu;

#define KERNEL_OF_WORD(name, statement, instructions) \
  extern "C" __global__ void name(double* number, int* count) { statement; }
PALMETTE_FOR_EACH_WORD(KERNEL_OF_WORD)
