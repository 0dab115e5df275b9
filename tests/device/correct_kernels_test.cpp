// Correct kernels in the emulator: right answers, no report, and the bits that each engine promises.
#include <gtest/gtest.h>

#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

std::string said(const Report& report) {
  std::string text;
  for (const auto& error : report.errors) text += error + "\n";
  return text;
}

void expect_right(const Trial& trial, int seed) {
  EXPECT_TRUE(trial.report.ok()) << "seed " << seed << ": " << said(trial.report);
  EXPECT_LT(trial.error, 1e-14) << "seed " << seed;
}

TEST(Emulator, the_tree_kernel_has_one_bit_pattern_for_all_blocks_and_threads) {
  const Problem problem = make_problem(40, 12, 6, 3);
  std::set<std::uint64_t> bits;
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
    const Trial trial =
        try_tree(problem, Fault::none, options_of(seed, 1 + seed % 5), {1 + seed % 7, 32 << (seed % 4)});
    expect_right(trial, seed);
    bits.insert(trial.bits);
  }
  EXPECT_EQ(bits.size(), 1u);
}

TEST(Emulator, tasks_of_warps_leave_one_bit_pattern_for_all_blocks_and_threads) {
  for (const int most_columns : {9, 12}) {  // some of the supernodes, and all
    const Problem problem = with_small(make_problem(60, 12, 6, 3), most_columns);
    const TaskList tasks = tasks_of(problem);
    EXPECT_GT(tasks.num_small, 5);
    EXPECT_EQ(tasks.num_small == tasks.ptr.back(), most_columns == 12);
    std::set<std::uint64_t> bits;
    for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
      Options how = options_of(seed, 1 + seed % 5);
      how.lanes_in_step = seed % 4 == 0 ? 64 : 0;
      const Trial trial = try_tree(problem, Fault::none, how, {1 + seed % 7, 64 << (seed % 4)});
      expect_right(trial, seed);
      bits.insert(trial.bits);
    }
    EXPECT_EQ(bits.size(), 1u);
  }
}

TEST(Emulator, sums_by_atomic_additions_show_several_bit_patterns) {
  const Problem problem = make_problem(60, 8, 3, 9, 50);
  std::set<std::uint64_t> bits;
  for (int seed = 1; seed <= 100; ++seed) {
    const Trial trial = try_columns(problem, options_of(seed, 8), {8, 32});
    expect_right(trial, seed);
    bits.insert(trial.bits);
  }
  EXPECT_GE(bits.size(), 2u) << "the scheduler does not reorder the additions";
}

TEST(Emulator, sweeps_over_several_devices_are_right_and_raise_no_report) {
  const Problem problem = make_problem(30, 10, 6, 4);
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed)
    expect_right(
        try_pes(problem, 1 + seed % 5, Fault::none, options_of(seed, 1 + seed % 3), {2, 64}), seed);
}

TEST(Emulator, sweeps_that_read_sums_of_other_devices_are_right_and_raise_no_report) {
  const SparseTriangle triangle = make_triangle(200, 3);
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed)
    expect_right(try_read_only(triangle, {1 + seed % 4, 8}, Fault::none, options_of(seed, 1 + seed % 3),
                               {2, 64}),
                 seed);
}

TEST(Emulator, wavefronts_of_64_threads_in_step_raise_no_report_and_leave_the_same_bits) {
  const Problem problem = make_problem(40, 12, 6, 3);
  const SparseTriangle triangle = make_triangle(200, 3);
  std::set<std::uint64_t> bits;
  std::set<std::vector<double>> of_rows;
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
    Options how = options_of(seed, 1 + seed % 5);
    how.lanes_in_step = seed % 2 * 64;
    const LaunchShape shape{1 + seed % 7, 64 << seed % 3};
    const Trial tree = try_tree(problem, Fault::none, how, shape);
    expect_right(tree, seed);
    bits.insert(tree.bits);
    expect_right(try_columns(problem, how, shape), seed);
    std::vector<double> x;
    const Report rows = try_rows(triangle, Fault::none, how, shape, &x);
    EXPECT_TRUE(rows.ok()) << "seed " << seed << ": " << rows.errors.front();
    of_rows.insert(x);
  }
  EXPECT_EQ(bits.size(), 1u);
  EXPECT_EQ(of_rows.size(), 1u);
}

TEST(Emulator, panel_loads_use_the_sectors_that_they_fetch) {
  // 32 lanes read 16 bytes each that lie together: 16 sectors of 32 bytes, and one more where the last chunk
  // of a panel does not begin with a sector.
  Options options = options_of(1, 4);
  options.count_sectors = true;
  options.find_races = options.delay_stores = false;
  const Trial trial = try_tree(make_problem(60, 80, 60, 5), Fault::none, options, {4, 128});
  ASSERT_FALSE(trial.report.loads.empty());
  const Site& panels = std::max_element(
      trial.report.loads.begin(), trial.report.loads.end(),
      [](const auto& left, const auto& right) { return left.second.bytes < right.second.bytes; })->second;
  EXPECT_LE(panels.sectors, 17 * panels.requests);
  EXPECT_GE(static_cast<double>(panels.bytes), 0.99 * 32 * static_cast<double>(panels.sectors));
}

}  // namespace
}  // namespace palmette::sweeps
