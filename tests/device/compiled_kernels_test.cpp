// What nvcc makes of the kernels, run by the interpreter of PTX on the emulator: the bits of the build by
// g++, and the same reports for planted faults.
#include "tests/device/compiled_kernels.hpp"

#include <gtest/gtest.h>

#include "tests/device/kernel_list.hpp"
#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

/// One kernel, as a line of the list and a scalar type say.
struct Case {
  Kernel kernel;
  ScalarType scalar;
  int num_rhs;
  Outcome (*run)(const Case&, const Build&, const Options&, LaunchShape);
};

template <class T>
Outcome run_sweep(const Case& one, const Build& build, const Options& options, LaunchShape shape) {
  reset_memory(1);
  // Under odd seeds, warps take some of the supernodes.
  const Problem p = with_small(make_problem(24, 12, 6, 3), options.seed % 2 != 0 ? 10 : 0);
  const TriangleSweep<T> all = random_sweep<T>(p, one.num_rhs);
  shape.shared_bytes = std::max(shared_bytes_of_sweep<T>(all.at.widest, 2 * one.num_rhs),
                                one.num_rhs == 1 ? shared_bytes_of_small<T, 1> : shared_bytes_of_small<T, 4>);
  Report report;
  for (const TriangleSweep<T>& sweep : launches_of(p, one.kernel, all)) {
    const Report last = run(
        {build.launch_of<TriangleSweep<T>>({one.kernel, one.scalar, one.num_rhs, &sweep}, shape)}, options);
    report.errors.insert(report.errors.end(), last.errors.begin(), last.errors.end());
  }
  return outcome_of(all.at.x, static_cast<std::size_t>(p.n() * one.num_rhs), report);
}

template <class T>
Outcome run_rows(const Case& one, const Build& build, const Options& options, LaunchShape shape) {
  reset_memory(1);
  const SparseTriangle triangle = make_triangle(150, 3);
  const RowSweep<T> sweep = random_rows<T>(triangle, one.num_rhs);
  const Report report =
      run({build.launch_of<RowSweep<T>>({one.kernel, one.scalar, one.num_rhs, &sweep}, shape)}, options);
  return outcome_of(sweep.x, static_cast<std::size_t>(triangle.n() * one.num_rhs), report);
}

template <class T>
constexpr auto run_of(const TriangleSweep<T>*) {
  return run_sweep<T>;
}
template <class T>
constexpr auto run_of(const RowSweep<T>*) {
  return run_rows<T>;
}

#define CASE(type, word, kernel, argument, num_rhs) \
  {Kernel::kernel, ScalarType::word, num_rhs, run_of(static_cast<const argument<type>*>(nullptr))},
#define CASES(kernel, argument, num_rhs, ...) PALMETTE_FOR_EACH_KERNEL_SCALAR(CASE, kernel, argument, num_rhs)
const std::vector<Case> cases = {PALMETTE_FOR_EACH_KERNEL(CASES)};

/// By case and architecture.
class CompiledKernel : public ::testing::TestWithParam<std::tuple<Case, int>> {};

/// Sums by atomic additions depend on the order of threads: their bits are compared for one warp.
LaunchShape shape_of(Kernel kernel, int seed) {
  if (kernel == Kernel::columns_forward) return {1, 32};
  return {1 + seed % 7, 32 << (seed % 4)};
}

TEST_P(CompiledKernel, has_the_bits_of_the_build_by_gcc_and_raises_no_report) {
  PALMETTE_NEEDS_NVCC();
  const auto& [one, architecture] = GetParam();
  const PtxModule& module = compiled_module("kernels", architecture);
  for (int seed = 1; seed <= testing::num_seeds(4); ++seed) {
    const LaunchShape shape = shape_of(one.kernel, seed);
    const Options options = options_of(seed, 1 + seed % 5);
    const Outcome by_gcc = one.run(one, {}, options, shape);
    const Outcome by_nvcc = one.run(one, {&module}, options, shape);
    EXPECT_EQ(by_gcc.bytes, by_nvcc.bytes) << "seed " << seed;
    EXPECT_EQ(by_gcc.errors, std::vector<std::string>()) << "seed " << seed;
    EXPECT_EQ(by_nvcc.errors, std::vector<std::string>()) << "seed " << seed;
  }
}

std::string name_of(const ::testing::TestParamInfo<CompiledKernel::ParamType>& one) {
  const auto& [kernel, architecture] = one.param;
  const KernelCall call{kernel.kernel, kernel.scalar, kernel.num_rhs, nullptr};
  std::string name = kernel_name(call) + "_sm_" + std::to_string(architecture);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(
    OfTheList, CompiledKernel,
    ::testing::Combine(::testing::ValuesIn(cases), ::testing::ValuesIn(run_architectures)), name_of);

TEST(CompiledSums, by_atomic_additions_raise_no_report_in_any_order) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : run_architectures)
    for (const Case& one : cases)
      for (int seed = 1; seed <= testing::num_seeds(4) && one.kernel == Kernel::columns_forward; ++seed)
        EXPECT_EQ(one.run(one, {&compiled_module("kernels", architecture)}, options_of(seed, 1 + seed % 5),
                          {1 + seed % 7, 64})
                      .errors,
                  std::vector<std::string>());
}

/// Planted in the kernel that nvcc compiled: reported under every seed.
void expect_report(Fault fault, const std::string& words, int architecture) {
  const Problem problem = make_problem(40, 12, 6, 3);
  const PtxModule& module = compiled_module("kernels", architecture);
  const std::string kernel =
      "tree_forward_kernel<double, 1, (Fault)" + std::to_string(static_cast<int>(fault)) + ">";
  const FaultLauncher launcher = [&](Fault planted, const TriangleSweep<double>& sweep, LaunchShape shape) {
    const Launch like = tree_forward_with(planted, sweep, shape);
    return launch(module, kernel, ptx_arguments(sweep), {0, like.blocks, like.threads, like.shared_bytes});
  };
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
    const auto errors = try_tree(problem, fault, options_of(seed, 3), {4, 64}, launcher).report.errors;
    EXPECT_TRUE(std::any_of(errors.begin(), errors.end(),
                            [&](const std::string& error) { return error.find(words) != std::string::npos; }))
        << "seed " << seed;
  }
}

#define TEST_OF_FAULT(fault, words)                                                     \
  TEST(CompiledFault, fault##_is_reported_in_what_nvcc_made) {                          \
    PALMETTE_NEEDS_NVCC();                                                              \
    for (const int arch : run_architectures) expect_report(Fault::fault, words, arch); \
  }
PALMETTE_FOR_EACH_PLANTED_FAULT(TEST_OF_FAULT)

}  // namespace
}  // namespace palmette::sweeps
