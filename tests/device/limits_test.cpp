// Limits of what nvcc makes of the kernels: registers, spills, and loads in its machine code.
#include <gtest/gtest.h>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/kernel_list.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/device/sass.hpp"

namespace palmette::sweeps {
namespace {

/// A line of the list, for one scalar type.
struct Limits {
  std::string kernel;
  int registers_80, registers_90, loads_in_flight, wide_loads;
};
#define LIMITS(type, word, sweep, num_rhs, ...) \
  {kernel_name({device::Kernel::sweep, ScalarType::word, num_rhs, nullptr}), __VA_ARGS__},
#define ALL_LIMITS(sweep, argument, ...) PALMETTE_FOR_EACH_KERNEL_SCALAR(LIMITS, sweep, __VA_ARGS__)
const std::vector<Limits> all_limits = {PALMETTE_FOR_EACH_KERNEL(ALL_LIMITS)};

/// What lets tests run the PTX of one architecture; compared by ./check --long, where nvcc makes both.
TEST(Ptx, of_both_architectures_has_the_same_instructions) {
  PALMETTE_NEEDS_NVCC();
  if (!PALMETTE_PTX_OF_EACH)
    GTEST_SKIP() << "nvcc made the PTX of one architecture: -DPALMETTE_PTX_OF_EACH_ARCHITECTURE=ON";
  for (const char* const name : {"kernels", "vectors", "words", "operations", "columns", "network_words"}) {
    std::string oldest = compiled_text(name, 80, "ptx");
    const std::string target = ".target sm_80\n";
    const std::size_t at = oldest.find(target);
    ASSERT_NE(at, std::string::npos) << name;
    oldest.replace(at, target.size(), ".target sm_90\n");
    EXPECT_TRUE(oldest == compiled_text(name, 90, "ptx")) << name;
  }
}

class CompiledFor : public ::testing::TestWithParam<int> {};

TEST_P(CompiledFor, registers_are_within_limits_and_nothing_is_spilled) {
  PALMETTE_NEEDS_NVCC();
  const emulate::PtxModule& module = compiled_module("kernels", GetParam());
  const std::string log = compiled_text("kernels", GetParam(), "log");
  for (const Limits& limits : all_limits) {
    const PtxasFigures figures = ptxas_figures(log, module.symbol(limits.kernel));
    EXPECT_EQ(figures.bytes_spilled, 0) << limits.kernel;
    EXPECT_GT(figures.registers, 0) << limits.kernel;
    EXPECT_LE(figures.registers, GetParam() == 80 ? limits.registers_80 : limits.registers_90)
        << limits.kernel;
    RecordProperty(limits.kernel, "registers " + std::to_string(figures.registers) + ", bytes spilled " +
                                      std::to_string(figures.bytes_spilled));
  }
}

TEST_P(CompiledFor, loads_are_as_many_and_as_wide_as_the_list_wants) {
  PALMETTE_NEEDS_NVCC();
  if (PALMETTE_HAS_SASS == 0) GTEST_SKIP() << "no cuobjdump was found when the tests were built";
  const emulate::PtxModule& module = compiled_module("kernels", GetParam());
  const std::string text = compiled_text("kernels", GetParam(), "sass");
  for (const Limits& limits : all_limits) {
    const Sass sass(text, module.symbol(limits.kernel));
    EXPECT_FALSE(sass.is_empty()) << limits.kernel;
    EXPECT_GE(sass.loads_in_flight(), limits.loads_in_flight) << limits.kernel;
    EXPECT_GE(sass.num_wide_loads(), limits.wide_loads) << limits.kernel;
    RecordProperty(limits.kernel, "loads in flight " + std::to_string(sass.loads_in_flight()) +
                                      ", of 128 bits " + std::to_string(sass.num_wide_loads()));
  }
}

TEST(Sass, loads_are_in_flight_until_one_is_read) {
  // Two loads, then a use of the first; the third is alone. What a branch skips is counted, what lies before
  // a loop or behind it is not, and only uses by products that are summed.
  const std::string code =
      "Function : f\n"
      "        /*0000*/                   LDG.E.128 R4, [R2.64] ;\n"
      "        /*0010*/              @!P0 LDG.E.64 R8, desc[UR8][R2.64+0x10] ;\n"
      "        /*0020*/                   DFMA R12, R6, R14, R12 ;\n"
      "        /*0030*/                   LDG.E.64 R10, [R2.64] ;\n"
      "        /*0040*/                   DFMA R12, R10, R8, R12 ;\n"
      "        /*0050*/              @!P0 BRA 0x0 ;\n"
      "        /*0060*/                   LDG.E R20, [R2.64] ;\n"
      "        /*0070*/                   LDG.E R21, [R2.64] ;\n"
      "        /*0080*/                   LDG.E R22, [R2.64] ;\n"
      "        /*0090*/                   MOV R23, R22 ;\n"
      "Function : g\n"
      "        /*0000*/                   LDG.E R4, [R2.64] ;\n"
      "        /*0010*/              @!P0 LDG.E R5, [R2.64] ;\n"
      "        /*0020*/              @!P1 LDG.E R6, [R2.64] ;\n"
      "        /*0030*/              @P2  BRA 0x60 ;\n"
      "        /*0040*/                   LDG.E R7, [R2.64] ;\n"
      "        /*0050*/                   FFMA R12, R7, R14, R12 ;\n"
      "        /*0060*/              @!P0 BRA 0x10 ;\n";
  EXPECT_EQ(Sass(code, "f").loads_in_flight(), 2);
  EXPECT_EQ(Sass(code, "g").loads_in_flight(), 3);
  EXPECT_EQ(Sass(code, "f").num_wide_loads(), 1);
  EXPECT_TRUE(Sass(code, "h").is_empty());
}

INSTANTIATE_TEST_SUITE_P(Nvcc, CompiledFor, ::testing::Values(80, 90),
                         [](const auto& one) { return "sm_" + std::to_string(one.param); });

}  // namespace
}  // namespace palmette::sweeps
