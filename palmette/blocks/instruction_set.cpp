// Reads from the compiler's macros for which instructions it compiles this room.
#include "palmette/blocks/instruction_set.hpp"

#include "palmette/blocks/lanes.hpp"

namespace palmette {
namespace {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
constexpr std::string_view compiled_name = "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
constexpr std::string_view compiled_name = "x86-64-v3";
#elif defined(__SSE4_2__)
constexpr std::string_view compiled_name = "x86-64-v2";
#elif defined(__x86_64__)
constexpr std::string_view compiled_name = "x86-64";
#elif defined(__aarch64__)
constexpr std::string_view compiled_name = "aarch64";
#else
constexpr std::string_view compiled_name = "unknown";
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool compiled_with_fused_multiply_add = true;
#else
constexpr bool compiled_with_fused_multiply_add = false;
#endif

}  // namespace

InstructionSet instruction_set() {
  return {compiled_name, lanes::register_bytes, compiled_with_fused_multiply_add};
}

}  // namespace palmette
