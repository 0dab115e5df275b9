// Kernels for vectors: what nvcc makes of them has the bits of the build by g++, within its registers, for
// any number of blocks and threads.
#include <gtest/gtest.h>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/kernel_list.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/device/random_sweeps.hpp"
#include "tests/device/vector_kernel_list.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

constexpr int n = 75, columns = 6, stride = 8, ld = 80, parts = 3;

std::vector<int> reversed_order() {
  std::vector<int> order(n);
  for (int k = 0; k < n; ++k) order[k] = n - 1 - k;
  return order;
}
std::vector<double> positive(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t k = 0; k < count; ++k) values[k] = 0.5 + static_cast<double>(k % 7) / 3;
  return values;
}
template <class T>
T* random_array(std::size_t count, unsigned seed) {
  return upload(random_values<T>(count, seed));
}

/// An argument with what the kernel writes.
template <class Argument>
struct Call {
  Argument argument;
  const void* written;
  std::size_t bytes;
};

template <class T>
Call<VectorMove<T>> call_of(Kernel kernel, const VectorMove<T>*) {
  T* const outer = random_array<T>(ld * columns, 1);
  T* const rows = random_array<T>(n * stride, 2);
  const bool loads = kernel == Kernel::load_rows;
  return {{outer, ld, rows, n, columns, stride, upload(reversed_order()), upload(positive(n)), true},
          loads ? rows : outer,
          (loads ? n * stride : ld * columns) * sizeof(T)};
}
template <class T>
Call<PrecisionChange<T>> call_of(Kernel kernel, const PrecisionChange<T>*) {
  T* const high = random_array<T>(ld * columns, 1);
  auto* const low = random_array<low_of<T>>(n * columns, 2);
  const bool to_low = kernel == Kernel::to_low;
  return {{high, ld, low, n, columns, upload(positive(n)), upload(positive(columns))},
          to_low ? static_cast<const void*>(low) : high,
          to_low ? n * columns * sizeof(low_of<T>) : ld * columns * sizeof(T)};
}
template <class T>
Call<ColumnMaxima<T>> call_of(Kernel, const ColumnMaxima<T>*) {
  double* const partial = allocate_array<double>(columns * parts);
  return {{random_array<T>(ld * columns, 1), ld, n, columns, false, 0.25, nullptr, parts, partial},
          partial,
          columns * parts * sizeof(double)};
}
template <class T>
Call<ScaledResidual<T>> call_of(Kernel, const ScaledResidual<T>*) {
  T* const to = allocate_array<T>(n * 2);
  return {{random_array<wide_of<T>>(n * columns, 1), to, n, 2, upload(std::vector<int>{4, 1}),
           upload(positive(2)), upload(positive(2))},
          to,
          n * 2 * sizeof(T)};
}
template <class T>
Call<CorrectionCall<T>> call_of(Kernel, const CorrectionCall<T>*) {
  T* const candidate = allocate_array<T>(n * 2);
  return {{random_array<T>(ld * columns, 1), ld, random_array<T>(n * 2, 2), candidate, n, 2,
           upload(std::vector<int>{4, 1}), upload(positive(2)), upload(positive(2))},
          candidate,
          n * 2 * sizeof(T)};
}
template <class T>
Call<ColumnCopy<T>> call_of(Kernel, const ColumnCopy<T>*) {
  T* const to = random_array<T>(ld * columns, 1);
  return {{to, ld, random_array<T>(n * 2, 2), n, 2, upload(std::vector<int>{5, 0}),
           upload(std::vector<int>{1, 0})},
          to,
          ld * columns * sizeof(T)};
}

/// Rows of 0 … 7 entries, longest first, in slices of 32.
template <class T>
SlicedRows<T> random_rows() {
  std::vector<long long> begin = {0};
  std::vector<int> length(n);
  for (int place = 0; place < n; ++place) {
    length[place] = 7 - place / 10;
    if (place % 32 == 0) begin.push_back(begin.back() + 32 * length[place]);
  }
  std::vector<int> column(static_cast<std::size_t>(begin.back()));
  for (std::size_t e = 0; e < column.size(); ++e) column[e] = static_cast<int>(e * 31 % n);
  return {n, upload(begin), upload(reversed_order()), upload(length), upload(column),
          random_array<T>(column.size(), 5)};
}
template <class T>
Call<ResidualCall<T>> call_of(Kernel, const ResidualCall<T>*) {
  // The partial maxima lie behind the residual, so that one comparison sees both.
  constexpr std::size_t of_residual = n * columns * sizeof(wide_of<T>);
  constexpr std::size_t of_maxima = 2 * columns * parts * sizeof(double);
  auto* const residual = allocate_array<unsigned char>(of_residual + of_maxima);
  auto* const partial = reinterpret_cast<double*>(residual + of_residual);
  const std::vector<int> b_column = {5, 4, 3, 2, 1, 0};
  return {{random_rows<T>(), random_array<T>(ld * columns, 1), ld, upload(b_column),
           random_array<T>(ld * columns, 2), ld, columns, true, residual, 1e-3, 1e-2, parts, partial},
          residual,
          of_residual + of_maxima};
}

std::string compiled_name(const KernelCall& call, bool residual) {
  static const char* const scalars[] = {"float", "double", "Complex<float>", "Complex<double>"};
  static const std::map<Kernel, std::string> names = {
      {Kernel::load_rows, "load_rows"},         {Kernel::store_rows, "store_rows"},
      {Kernel::to_low, "to_low"},               {Kernel::from_low, "from_low"},
      {Kernel::column_maxima, "column_maxima"}, {Kernel::scaled_residual, "scaled_residual"},
      {Kernel::correction, "correction"},       {Kernel::copy_columns, "copy_columns"},
      {Kernel::residual, "residual"}};
  const std::string scalar = scalars[static_cast<int>(call.scalar)];
  return names.at(call.kernel) + "_kernel<" + scalar +
         (residual              ? ", " + std::to_string(call.rhs_at_once)
          : scalar.back() == '>' ? " "
                                 : "") +
         ">";
}

/// A kernel of the lists, for one scalar type.
struct Case {
  KernelCall call;
  bool residual;
  int most_registers;
  Outcome (*run)(const Case&, const PtxModule*, const Options&, LaunchShape);
};

template <class Argument>
Outcome run_case(const Case& one, const PtxModule* module, const Options& options, LaunchShape shape) {
  reset_memory(1);
  const Call<Argument> call = call_of(one.call.kernel, static_cast<const Argument*>(nullptr));
  KernelCall kernel = one.call;
  kernel.argument = &call.argument;
  Launch made = emulated_launch(kernel, shape);
  if (module != nullptr)
    made = launch(*module, compiled_name(kernel, one.residual), ptx_arguments(call.argument),
                  {0, made.blocks, made.threads, made.shared_bytes});
  const Report report = run({made}, options);
  return outcome_of(static_cast<const unsigned char*>(call.written), call.bytes, report);
}

#define CASE(type, word, kernel, argument, at_once, residual, registers) \
  {{Kernel::kernel, ScalarType::word, at_once, nullptr}, residual, registers, run_case<argument<type>>},
#define VECTOR_CASES(kernel, argument, at_once, registers) \
  PALMETTE_FOR_EACH_KERNEL_SCALAR(CASE, kernel, argument, at_once, false, registers)
#define RESIDUAL_CASES(kernel, argument, at_once, registers) \
  PALMETTE_FOR_EACH_KERNEL_SCALAR(CASE, kernel, argument, at_once, true, registers)
const std::vector<Case> cases = {PALMETTE_FOR_EACH_VECTOR_KERNEL(VECTOR_CASES)
                                     PALMETTE_FOR_EACH_RESIDUAL_KERNEL(RESIDUAL_CASES)};

TEST(VectorKernels, have_the_same_bits_for_any_blocks_and_threads_and_raise_no_report) {
  for (const Case& one : cases) {
    const Outcome judge = one.run(one, nullptr, options_of(1, 1), {1, 32});
    for (int seed = 1; seed <= testing::num_seeds(4); ++seed) {
      const Outcome found =
          one.run(one, nullptr, options_of(seed, 1 + seed % 3), {1 + seed % 5, 32 << (seed % 4)});
      EXPECT_EQ(found.bytes, judge.bytes) << compiled_name(one.call, one.residual);
      EXPECT_EQ(found.errors, std::vector<std::string>()) << compiled_name(one.call, one.residual);
    }
  }
}

class CompiledVectorKernels : public ::testing::TestWithParam<int> {};

TEST_P(CompiledVectorKernels, have_the_bits_of_the_build_by_gcc) {
  PALMETTE_NEEDS_NVCC();
  const PtxModule& module = compiled_module("vectors", GetParam());
  for (const Case& one : cases) {
    const LaunchShape shape{3, 64};
    const Outcome by_gcc = one.run(one, nullptr, options_of(2, 2), shape);
    const Outcome by_nvcc = one.run(one, &module, options_of(2, 2), shape);
    EXPECT_EQ(by_gcc.bytes, by_nvcc.bytes) << compiled_name(one.call, one.residual);
    EXPECT_EQ(by_nvcc.errors, std::vector<std::string>()) << compiled_name(one.call, one.residual);
  }
}

TEST_P(CompiledVectorKernels, stay_within_their_registers_and_spill_nothing) {
  PALMETTE_NEEDS_NVCC();
  const emulate::PtxModule& module = compiled_module("vectors", GetParam());
  const std::string log = compiled_text("vectors", GetParam(), "log");
  for (const Case& one : cases) {
    const std::string name = compiled_name(one.call, one.residual);
    const PtxasFigures figures = ptxas_figures(log, module.symbol(name));
    EXPECT_EQ(figures.bytes_spilled, 0) << name;
    EXPECT_GT(figures.registers, 0) << name;
    EXPECT_LE(figures.registers, one.most_registers) << name;
  }
}

TEST_P(CompiledVectorKernels, find_the_largest_of_parts) {
  PALMETTE_NEEDS_NVCC();
  const PtxModule& module = compiled_module("vectors", GetParam());
  for (const bool by_nvcc : {false, true}) {
    reset_memory(1);
    std::vector<double> partial = positive(5 * 40);
    for (int k = 0; k < 5; ++k) partial[k * 40 + 7 * k] = 10 + k;
    double* const result = allocate_array<double>(5);
    const LargestOfParts<double> call{upload(partial), 40, 5, result};
    Launch made =
        emulated_launch({Kernel::largest_of_parts, ScalarType::float64, 1, &call}, {2, 64});
    if (by_nvcc)
      made = launch(module, "largest_of_parts_kernel<double>", ptx_arguments(call), {0, 2, 64, 0});
    EXPECT_TRUE(run({made}, options_of(1, 2)).ok());
    for (int k = 0; k < 5; ++k) EXPECT_EQ(result[k], 10 + k);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CompiledVectorKernels, ::testing::Values(80, 90));

}  // namespace
}  // namespace palmette::sweeps
