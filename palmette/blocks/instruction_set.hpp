// The instructions for which the kernels of this library were compiled.
#pragma once

#include <string_view>

namespace palmette {

/// Where a library was built for several levels of a processor, the dynamic linker chose among them when the
/// program began.
struct InstructionSet {
  std::string_view name;    ///< x86-64, x86-64-v2, x86-64-v3 (AVX2), x86-64-v4 (AVX-512), aarch64 or unknown
  int register_bytes;       ///< width of the vectors that the kernels use
  bool fuses_multiply_add;  ///< a product and a sum round once; without it solutions have other bits
};

/// That of the code that runs. Allocates nothing, throws nothing.
InstructionSet instruction_set();

}  // namespace palmette
