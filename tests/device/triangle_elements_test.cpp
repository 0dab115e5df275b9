// The kernels for a plain triangle over several devices, in the emulator: right under every seed, and each
// planted fault found.
#include <gtest/gtest.h>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

constexpr Sharing all_sharings[] = {Sharing::unified, Sharing::zero_copy, Sharing::pushed};

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const std::string& error) { return error.find(words) != std::string::npos; });
}

std::string first_of(const Report& report) { return report.ok() ? "" : report.errors.front(); }

TEST(TriangleElements, each_sharing_is_right_and_without_race_under_every_seed) {
  const SparseTriangle triangle = make_triangle(60, 3);
  for (int seed = 1; seed <= testing::num_seeds(100); ++seed)
    for (const Sharing sharing : all_sharings) {
      const TaskDeal deal{1 + seed % 8, 1 + seed % 11};
      const Trial trial = try_columns_of_elements(triangle, deal, sharing, Fault::none,
                                                  options_of(seed, 1 + seed % 3), {2, 64});
      ASSERT_TRUE(trial.report.ok()) << first_of(trial.report) << " seed " << seed;
      ASSERT_LT(trial.error, 1e-13) << "seed " << seed;
    }
}

std::string compiled_columns(Sharing sharing, const std::string& scalar) {
  return (sharing == Sharing::unified ? "unified" : "zero_copy") + ("_columns_kernel<" + scalar + ">");
}

/// Sums depend on the order of threads, so errors are judged and not bits.
TEST(TriangleElements, what_nvcc_made_is_right_and_without_race_too) {
  PALMETTE_NEEDS_NVCC();
  const SparseTriangle triangle = make_triangle(60, 3);
  for (const int architecture : {80, 90}) {
    const PtxModule& module = compiled_module("columns", architecture);
    const ColumnLauncher of_nvcc = [&](Fault fault, Sharing sharing, const ColumnSweep<double>& sweep,
                                       LaunchShape shape) {
      const Launch native = columns_with(fault, sharing, sweep, shape);
      return launch(module, compiled_columns(sharing, "double"), ptx_arguments(sweep),
                    {native.device, native.blocks, native.threads, native.shared_bytes});
    };
    for (int seed = 1; seed <= testing::num_seeds(30); ++seed)
      for (const Sharing sharing : {Sharing::unified, Sharing::zero_copy}) {
        const Trial trial =
            try_columns_of_elements(triangle, {1 + seed % 8, 1 + seed % 11}, sharing, Fault::none,
                                    options_of(seed, 1 + seed % 3), {2, 64}, of_nvcc);
        ASSERT_TRUE(trial.report.ok()) << first_of(trial.report) << " seed " << seed;
        ASSERT_LT(trial.error, 1e-13) << "seed " << seed;
      }
  }
}

TEST(TriangleElements, registers_leave_room_for_1024_threads_on_a_multiprocessor) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : {80, 90})
    for (const Sharing sharing : {Sharing::unified, Sharing::zero_copy})
      for (const std::string scalar : {"float", "double", "Complex<float> ", "Complex<double> "}) {
        const std::string kernel = compiled_columns(sharing, scalar);
        const PtxasFigures figures =
            ptxas_figures(compiled_text("columns", architecture, "log"),
                          compiled_module("columns", architecture).symbol(kernel));
        EXPECT_EQ(figures.bytes_spilled, 0) << kernel;
        EXPECT_GT(figures.registers, 0) << kernel;
        EXPECT_LE(figures.registers, 64) << kernel;
      }
}

TEST(TriangleElements, puts_are_one_for_each_row_and_foreign_element_that_adds_to_it) {
  const SparseTriangle triangle = make_triangle(120, 5);
  const TaskDeal deal{3, 10};
  std::set<std::pair<int, int>> pairs;
  for (int column = 0; column < triangle.n(); ++column)
    for (const auto& [row, value] : triangle.below[column])
      if (deal.pe_of(row) != deal.pe_of(column)) pairs.emplace(row, deal.pe_of(column));
  const Trial trial =
      try_columns_of_elements(triangle, deal, Sharing::pushed, Fault::none, options_of(3, 2), {2, 64});
  EXPECT_EQ(trial.report.puts, pairs.size());
  EXPECT_EQ(trial.report.put_bytes, 8 * pairs.size());
  EXPECT_EQ(trial.report.remote_gets, 0u);
}

TEST(TriangleElements, zero_copy_reads_a_foreign_sum_once_and_its_count_at_least_once) {
  const SparseTriangle triangle = make_triangle(120, 5);
  const Trial pushed =
      try_columns_of_elements(triangle, {3, 10}, Sharing::pushed, Fault::none, options_of(3, 2), {2, 64});
  const Trial trial =
      try_columns_of_elements(triangle, {3, 10}, Sharing::zero_copy, Fault::none, options_of(3, 2), {2, 64});
  EXPECT_GE(trial.report.remote_gets, 2 * pushed.report.puts);
  // Sums have 8 bytes, counts 4: what is beyond one of each is counts that were read again.
  EXPECT_EQ(trial.report.get_bytes, 4 * (trial.report.remote_gets + pushed.report.puts));
  EXPECT_EQ(trial.report.puts, 0u);
}

TEST(TriangleElements, only_managed_pages_move_and_each_at_least_once) {
  const SparseTriangle triangle = make_triangle(120, 5);
  for (const Sharing sharing : all_sharings) {
    const Trial trial =
        try_columns_of_elements(triangle, {4, 10}, sharing, Fault::none, options_of(1, 2), {2, 64});
    std::uint64_t moves = 0;
    for (const std::uint64_t of_device : trial.report.page_moves) moves += of_device;
    if (sharing == Sharing::unified) EXPECT_GE(moves, 2u);  // the page of the sums and that of the counts
    else EXPECT_EQ(moves, 0u);
  }
}

/// @returns the part of the seeds whose report has these words
double part_found(Sharing sharing, Fault fault, const std::string& words) {
  const SparseTriangle triangle = make_triangle(200, fault == Fault::no_acquire ? 12 : 3);
  const int seeds = testing::num_seeds(50);
  int found = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    found += says(
        try_columns_of_elements(triangle, {3, 8}, sharing, fault, options_of(seed, 3), {2, 64}).report,
        words);
  return double(found) / seeds;
}

TEST(TriangleElements, counts_published_to_their_device_alone_are_a_race) {
  EXPECT_EQ(part_found(Sharing::unified, Fault::narrow_scope, "race"), 1);
  EXPECT_EQ(part_found(Sharing::zero_copy, Fault::narrow_scope, "race"), 1);
}

TEST(TriangleElements, sums_read_without_acquire_are_a_race) {
  EXPECT_EQ(part_found(Sharing::pushed, Fault::relaxed_flag, "race"), 1);
  // Not where the thread that puts was also the last to add: then no other's addition came after its own.
  EXPECT_GT(part_found(Sharing::pushed, Fault::no_acquire, "race"), 0.5);
}

TEST(TriangleElements, a_sum_read_with_half_its_size_is_reported) {
  EXPECT_EQ(part_found(Sharing::zero_copy, Fault::wrong_size, "4 bytes from another device"), 1);
}

TEST(TriangleElements, half_a_sum_put_makes_x_wrong) {
  const SparseTriangle triangle = make_triangle(200, 3);
  const Trial trial = try_columns_of_elements(triangle, {3, 8}, Sharing::pushed, Fault::wrong_size,
                                              options_of(1, 3), {2, 64});
  EXPECT_GT(trial.error, 1e-6);
}

}  // namespace
}  // namespace palmette::sweeps
