// The interpreter of PTX: results of single instructions, what it refuses, and what it reports.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"

namespace palmette {
namespace {

using namespace emulate;

/// A kernel `f` with one parameter, the address of an array, in %rd1.
std::string kernel_of(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f(\n.param .u64 f_param_0\n)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<8>;\n"
         ".reg .f64 %fd<8>;\nld.param.u64 %rd1, [f_param_0];\n" +
         body + "\nret;\n}\n";
}

/// What one thread for each entry leaves in an array of so many words.
struct Result {
  std::vector<std::uint64_t> words;
  Report report;
};
Result results_of(const std::string& body, int threads = 1) {
  reset_memory(1);
  auto* const words = allocate_array<std::uint64_t>(64);
  const PtxModule module = PtxModule::parse(kernel_of(body));
  Options options;
  options.delay_stores = false;
  Report report = run({launch(module, "f", ptx_arguments(words), {0, 1, threads, 64})}, options);
  return {{words, words + 64}, std::move(report)};
}
std::uint64_t result_of(const std::string& body) {
  const Result result = results_of(body + "\nst.global.u64 [%rd1], %rd2;");
  EXPECT_TRUE(result.report.ok()) << body << result.report.errors.front();
  return result.words.front();
}

TEST(PtxInterpreter, integers_wrap_and_shift_as_ptx_defines) {
  EXPECT_EQ(result_of("add.s32 %r1, 2147483647, 1; cvt.u64.u32 %rd2, %r1;"), 0x80000000u);
  EXPECT_EQ(result_of("mul.wide.s32 %rd2, -3, 5;"), static_cast<std::uint64_t>(-15));
  EXPECT_EQ(result_of("mul.wide.u32 %rd2, -1, 2;"), 0x1fffffffeu);
  EXPECT_EQ(result_of("mad.lo.s32 %r1, 7, 8, -6; cvt.s64.s32 %rd2, %r1;"), 50u);
  EXPECT_EQ(result_of("mul.hi.u64 %rd2, -1, -1;"), 0xfffffffffffffffeu);
  EXPECT_EQ(result_of("shr.s32 %r1, -64, 40; cvt.s64.s32 %rd2, %r1;"), ~std::uint64_t{0});
  EXPECT_EQ(result_of("shr.u32 %r1, -64, 40; cvt.s64.s32 %rd2, %r1;"), 0u);
  EXPECT_EQ(result_of("shl.b64 %rd2, 1, 64;"), 0u);
  EXPECT_EQ(result_of("rem.s64 %rd2, -7, 4;"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(result_of("min.s32 %r1, -1, 1; cvt.s64.s32 %rd2, %r1;"), ~std::uint64_t{0});
  EXPECT_EQ(result_of("min.u32 %r1, -1, 1; cvt.s64.s32 %rd2, %r1;"), 1u);
}

TEST(PtxInterpreter, fields_of_bits_are_as_ptx_defines) {
  const std::string end = "; cvt.s64.s32 %rd2, %r1;";
  EXPECT_EQ(result_of("bfe.u32 %r1, 43981, 4, 8" + end), 0xbcu);  // of 0xabcd
  EXPECT_EQ(result_of("bfe.s32 %r1, 43981, 4, 8" + end), static_cast<std::uint64_t>(-0x44));
  EXPECT_EQ(result_of("bfe.s32 %r1, -1, 28, 8" + end), ~std::uint64_t{0});
  EXPECT_EQ(result_of("bfe.u32 %r1, -1, 4, 0" + end), 0u);
  EXPECT_EQ(result_of("bfi.b32 %r1, 255, 0, 4, 4" + end), 0xf0u);
  EXPECT_EQ(result_of("prmt.b32 %r1, 16909060, 84281096, 29696" + end), 0x05080404u);
  EXPECT_EQ(result_of("lop3.b32 %r1, 12, 10, 9, 150" + end), 12u ^ 10u ^ 9u);
  EXPECT_EQ(result_of("shf.l.wrap.b32 %r1, -2147483648, 1, 33" + end), 3u);
  EXPECT_EQ(result_of("shf.r.clamp.b32 %r1, 5, 7, 40" + end), 7u);
  EXPECT_EQ(result_of("popc.b64 %r1, -1" + end), 64u);
  EXPECT_EQ(result_of("clz.b32 %r1, 1" + end), 31u);
  EXPECT_EQ(result_of("brev.b32 %r1, 1; shr.u32 %r1, %r1, 31" + end), 1u);
}

TEST(PtxInterpreter, integer_divisions_that_would_trap_a_processor_do_not) {
  EXPECT_EQ(result_of("mov.u64 %rd3, 0; div.s64 %rd2, 5, %rd3;"), ~std::uint64_t{0});
  EXPECT_EQ(result_of("mov.u64 %rd3, -9223372036854775808; div.s64 %rd2, %rd3, -1;"), std::uint64_t{1} << 63);
}

TEST(PtxInterpreter, a_fused_multiply_add_rounds_once) {
  // (1 + 2⁻⁵²)² − (1 + 2⁻⁵¹) = 2⁻¹⁰⁴; with the product rounded first it would be 0.
  EXPECT_EQ(result_of("mov.f64 %fd1, 0d3FF0000000000001; fma.rn.f64 %fd2, %fd1, %fd1, 0dBFF0000000000002;"
                      "mov.b64 %rd2, %fd2;"),
            to_bits(std::ldexp(1.0, -104)));
}

TEST(PtxInterpreter, comparisons_with_nan_are_false_unless_they_are_unordered) {
  const std::string nan = "mov.f64 %fd1, 0d7FF8000000000000; setp.", end = "; selp.u64 %rd2, 1, 0, %p1;";
  for (const std::string relation : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(result_of(nan + relation + ".f64 %p1, %fd1, 0d0000000000000000" + end), 0u) << relation;
  for (const std::string relation : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(result_of(nan + relation + ".f64 %p1, %fd1, 0d0000000000000000" + end), 1u) << relation;
}

TEST(PtxInterpreter, conversions_to_integers_saturate) {
  const auto converted = [](double value, const std::string& type) {
    return result_of("mov.b64 %fd1, " + std::to_string(to_bits(value)) + "; cvt.rzi." + type +
                     ".f64 %rd2, %fd1;");
  };
  EXPECT_EQ(converted(-2.9, "s32"), static_cast<std::uint64_t>(-2));
  EXPECT_EQ(converted(1e30, "s32"), 0x7fffffffu);
  EXPECT_EQ(converted(-1e30, "s32"), static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(converted(-5, "u32"), 0u);
  EXPECT_EQ(converted(std::nan(""), "s32"), 0u);
}

TEST(PtxInterpreter, vectors_and_halves_of_registers_keep_their_order) {
  const Result result = results_of(
      "mov.b64 %rd2, {1, 2}; mov.b64 {%r1, %r2}, %rd2; st.global.v2.u32 [%rd1], {%r2, %r1};"
      "ld.global.v2.u32 {%r3, %r4}, [%rd1]; st.global.v4.u32 [%rd1+16], {%r3, %r4, 7, 8};");
  EXPECT_EQ(result.words[0], 0x0000000100000002u);
  EXPECT_EQ(result.words[2], 0x0000000100000002u);
  EXPECT_EQ(result.words[3], 0x0000000800000007u);
}

TEST(PtxInterpreter, local_memory_belongs_to_a_thread_and_has_generic_addresses) {
  const Result result = results_of(
      ".local .align 8 .b8 array[32]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; mov.u64 %rd3, array;"
      "st.local.u64 [%rd3+8], %rd2; cvta.local.u64 %rd4, %rd3; ld.u64 %rd5, [%rd4+8];"
      "mad.wide.u32 %rd6, %r1, 8, %rd1; st.global.u64 [%rd6], %rd5;",
      3);
  EXPECT_TRUE(result.report.ok());
  for (std::uint64_t thread = 0; thread < 3; ++thread) EXPECT_EQ(result.words[thread], thread);
}

TEST(PtxInterpreter, shuffles_stay_within_their_segments) {
  // Segments of 8 lanes: the third operand is (32 − 8) · 256, with 31 as bound for all but `up`.
  const auto shuffled = [](const std::string& how) {
    return results_of("mov.u32 %r1, %laneid; shfl.sync." + how +
                          ", -1; selp.u32 %r3, 100, 0, %p1; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd2, %r2;"
                          "mad.wide.u32 %rd6, %r1, 8, %rd1; st.global.u64 [%rd6], %rd2;",
                      32)
        .words;
  };
  const auto up = shuffled("up.b32 %r2|%p1, %r1, 2, 6144"), down = shuffled("down.b32 %r2|%p1, %r1, 2, 6175");
  const auto one = shuffled("idx.b32 %r2|%p1, %r1, 5, 6175"),
             other = shuffled("bfly.b32 %r2|%p1, %r1, 4, 6175");
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane % 8 >= 2 ? lane - 2 + 100 : lane);
    EXPECT_EQ(down[lane], lane % 8 < 6 ? lane + 2 + 100 : lane);
    EXPECT_EQ(one[lane], lane / 8 * 8 + 5 + 100);
    EXPECT_EQ(other[lane], (lane ^ 4) + 100);
  }
}

/// The error of a text that is refused.
std::string refusal(const std::string& body) {
  try {
    PtxModule::parse(kernel_of(body), "refused.ptx");
  } catch (const IoError& error) {
    EXPECT_EQ(error.file(), "refused.ptx");
    EXPECT_EQ(error.line(), 15) << error.what();
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(PtxInterpreter, refuses_an_unknown_instruction_by_name_and_line) {
  EXPECT_PRED2(contains, refusal("wgmma.fence.sync.aligned;"),
               "unknown instruction wgmma.fence.sync.aligned");
  EXPECT_PRED2(contains, refusal("call.uni f, ();"), "unknown instruction call f");
  EXPECT_PRED2(contains, refusal("tex.1d.v4.f32.s32 %r1, %r2;"), "unknown instruction tex.1d.v4.f32.s32");
}

TEST(PtxInterpreter, refuses_a_known_instruction_with_an_unknown_modifier_or_operands) {
  EXPECT_PRED2(contains, refusal("add.rn.ftz.f32 %f1, %f2, %f3;"), "unknown instruction add.rn.ftz.f32");
  EXPECT_PRED2(contains, refusal("div.approx.f32 %f1, %f2, %f3;"), "unknown instruction div.approx.f32");
  EXPECT_PRED2(contains, refusal("add.f32 %f1, %f2;"), "operands of add.f32");
  EXPECT_PRED2(contains, refusal("add.f32 %f1, %f2, %f99;"), "%f99");
  EXPECT_PRED2(contains, refusal("bra $nowhere;"), "unknown label $nowhere");
}

TEST(PtxInterpreter, refuses_unknown_kernels_and_wrong_parameters) {
  const PtxModule module = PtxModule::parse(kernel_of(""));
  EXPECT_EQ(module.kernel_names(), std::vector<std::string>{"f"});
  EXPECT_THROW(launch(module, "g", {}, {}), UsageError);
  EXPECT_THROW(launch(module, "f", {}, {}), UsageError);
  EXPECT_THROW(launch(module, "f", ptx_arguments(1), {}), UsageError);
  EXPECT_THROW(PtxModule::read("no such file"), IoError);
}

TEST(PtxInterpreter, a_wrong_address_is_reported_with_its_line) {
  const auto report_of = [](const std::string& body) { return results_of(body).report.errors.front(); };
  EXPECT_EQ(report_of("ld.global.u64 %rd2, [16];"), "load outside device memory at kernels.ptx:15");
  EXPECT_EQ(report_of("ld.global.u64 %rd2, [%rd1+4];"), "load of a misaligned address at kernels.ptx:15");
  EXPECT_EQ(report_of("st.global.u64 [%rd1+4096], 0;"), "store outside device memory at kernels.ptx:15");
  EXPECT_EQ(report_of("st.shared.u64 [64], 0;"), "store outside shared memory at kernels.ptx:15");
  EXPECT_EQ(report_of("st.local.u64 [0], 0;"), "store outside local memory at kernels.ptx:15");
}

TEST(PtxInterpreter, a_race_is_reported_with_its_line) {
  const Result result = results_of("mov.u32 %r1, %tid.x;\nst.global.u32 [%rd1], %r1;", 2);
  ASSERT_FALSE(result.report.ok());
  EXPECT_PRED2(contains, result.report.errors.front(), "race: store at kernels.ptx:16");
}

}  // namespace
}  // namespace palmette
