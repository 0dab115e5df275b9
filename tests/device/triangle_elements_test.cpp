// The kernels for a plain triangle over several devices, in the emulator: right under every seed, and each
// planted fault found.
#include <gtest/gtest.h>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

constexpr Sharing all_sharings[] = {Sharing::unified, Sharing::zero_copy, Sharing::pushed,
                                     Sharing::put};

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const std::string& error) { return error.find(words) != std::string::npos; });
}

std::string first_of(const Report& report) { return report.ok() ? "" : report.errors.front(); }

/// So many looks that a watched wait gives up in no test that does not ask for it.
constexpr long long endless = 1LL << 40;

/// One, some that fill no whole block of registers, and more than that.
int rhs_of_seed(int seed) {
  constexpr int numbers[] = {1, 3, 4, 9};
  return numbers[seed / 8 % 4];
}

void expect_right(const Trial& trial, const std::string& words) {
  ASSERT_TRUE(trial.report.ok()) << first_of(trial.report) << words;
  ASSERT_LT(trial.error, 1e-13) << words;
}

TEST(TriangleElements, each_sharing_is_right_and_without_race_under_every_seed) {
  const SparseTriangle triangle = make_triangle(60, 3), small = make_triangle(12, 3);
  for (int seed = 1; seed <= testing::num_seeds(500); ++seed)
    for (const Sharing sharing : all_sharings) {
      const ColumnTrial trial{seed % 23 == 0 ? triangle : small, {1 + seed % 8, 1 + seed % 11}, sharing,
                              Fault::none, rhs_of_seed(seed), seed % 2 * endless};
      ASSERT_NO_FATAL_FAILURE(
          expect_right(try_columns_of_elements(trial, options_of(seed, 1 + seed % 3), {2, 64}),
                       " seed " + std::to_string(seed)));
    }
}

TEST(TriangleElements, fifty_right_hand_sides_are_right_and_without_race) {
  const SparseTriangle triangle = make_triangle(30, 3);
  for (int seed = 1; seed <= testing::num_seeds(5); ++seed)
    for (const Sharing sharing : all_sharings)
      ASSERT_NO_FATAL_FAILURE(expect_right(
          try_columns_of_elements({triangle, {1 + seed % 5, 4}, sharing, Fault::none, 50},
                                  options_of(seed, 1 + seed % 3), {2, 64}),
          " seed " + std::to_string(seed)));
}

std::string compiled_columns(Sharing sharing, const std::string& scalar, int num_rhs) {
  const std::string name = sharing == Sharing::unified ? "unified"
                           : sharing == Sharing::pushed ? "pushed"
                           : sharing == Sharing::put    ? "put"
                                                        : "zero_copy";
  return name + "_columns_kernel<" + scalar + (num_rhs == 1 ? ", 1>" : ", 4>");
}

/// Kernels that put call NVSHMEM, whose functions are declared for these words alone.
const PtxModule& module_of(Sharing sharing, int architecture) {
  return compiled_module(sharing == Sharing::put ? "network_words" : "columns", architecture);
}

ColumnLauncher made_by_nvcc(int architecture) {
  return [architecture](Fault fault, Sharing sharing, const ColumnSweep<double>& sweep, LaunchShape shape) {
    const Launch native = columns_with(fault, sharing, sweep, shape);
    return launch(module_of(sharing, architecture), compiled_columns(sharing, "double", sweep.at.num_rhs),
                  ptx_arguments(sweep), {native.device, native.blocks, native.threads, native.shared_bytes});
  };
}

/// All kernels end, without a race, although element 0 of three does nothing.
void expect_end_without(const ColumnLauncher& launcher) {
  const SparseTriangle triangle = make_triangle(24, 3);
  const ColumnLauncher one_is_dead = [&](Fault fault, Sharing sharing, const ColumnSweep<double>& sweep,
                                         LaunchShape shape) {
    Launch made = launcher(fault, sharing, sweep, shape);
    if (sweep.element == 0) made.kernel = [] {};
    return made;
  };
  for (int seed = 1; seed <= testing::num_seeds(10); ++seed)
    for (const Sharing sharing : all_sharings) {
      Options options = options_of(seed, 1 + seed % 3);
      options.last_looks = 200;
      const Trial trial = try_columns_of_elements(
          {triangle, {3, 8}, sharing, Fault::none, rhs_of_seed(8 * seed), 20}, options, {2, 64}, one_is_dead);
      EXPECT_TRUE(trial.report.ok()) << first_of(trial.report) << " seed " << seed;
      EXPECT_GT(trial.error, 1e-6);
    }
}

TEST(TriangleElements, kernels_that_wait_in_vain_end_without_race) { expect_end_without(columns_with); }

TEST(TriangleElements, what_nvcc_made_ends_without_race_if_it_waits_in_vain) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : run_architectures) expect_end_without(made_by_nvcc(architecture));
}

/// Sums depend on the order of threads, so errors are judged and not bits.
TEST(TriangleElements, what_nvcc_made_is_right_and_without_race_too) {
  PALMETTE_NEEDS_NVCC();
  const SparseTriangle triangle = make_triangle(60, 3), small = make_triangle(24, 3);
  for (const int architecture : run_architectures) {
    const ColumnLauncher of_nvcc = made_by_nvcc(architecture);
    for (int seed = 1; seed <= testing::num_seeds(30); ++seed)
      for (const Sharing sharing : all_sharings) {
        const int num_rhs = rhs_of_seed(seed);
        const ColumnTrial trial{num_rhs == 1 ? triangle : small, {1 + seed % 8, 1 + seed % 11}, sharing,
                                Fault::none, num_rhs, seed % 2 * endless};
        ASSERT_NO_FATAL_FAILURE(
            expect_right(try_columns_of_elements(trial, options_of(seed, 1 + seed % 3), {2, 64}, of_nvcc),
                         " seed " + std::to_string(seed)));
      }
  }
}

/// Four complex doubles leave room for 896.
TEST(TriangleElements, registers_leave_room_for_1024_threads_on_a_multiprocessor) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : {80, 90})
    for (const Sharing sharing : {Sharing::unified, Sharing::zero_copy, Sharing::pushed})
      for (const std::string scalar : {"float", "double", "Complex<float>", "Complex<double>"})
        for (const int num_rhs : {1, 4}) {
          const std::string kernel = compiled_columns(sharing, scalar, num_rhs);
          const PtxasFigures figures =
              ptxas_figures(compiled_text("columns", architecture, "log"),
                            compiled_module("columns", architecture).symbol(kernel));
          EXPECT_EQ(figures.bytes_spilled, 0) << kernel;
          EXPECT_GT(figures.registers, 0) << kernel;
          EXPECT_LE(figures.registers, num_rhs == 4 && scalar == "Complex<double>" ? 72 : 64) << kernel;
        }
}

Trial try_large(Sharing sharing, int num_rhs) {
  const SparseTriangle triangle = make_triangle(120, 5);
  return try_columns_of_elements({triangle, {3, 10}, sharing, Fault::none, num_rhs}, options_of(3, 2),
                                 {2, 64});
}

TEST(TriangleElements, puts_are_one_for_each_row_and_foreign_element_whatever_the_right_hand_sides) {
  const SparseTriangle triangle = make_triangle(120, 5);
  const TaskDeal deal{3, 10};
  std::set<std::pair<int, int>> pairs;
  for (int column = 0; column < triangle.n(); ++column)
    for (const auto& [row, value] : triangle.below[column])
      if (deal.pe_of(row) != deal.pe_of(column)) pairs.emplace(row, deal.pe_of(column));
  for (const int num_rhs : {1, 3, 6}) {
    const Trial trial = try_large(Sharing::put, num_rhs);
    EXPECT_EQ(trial.report.puts, pairs.size());
    EXPECT_EQ(trial.report.put_bytes, 8 * num_rhs * pairs.size());
    EXPECT_EQ(trial.report.remote_gets, 0u);
  }
}

TEST(TriangleElements, zero_copy_reads_a_foreign_sum_once_and_its_count_at_least_once) {
  const std::uint64_t sums = try_large(Sharing::put, 1).report.puts;
  for (const int num_rhs : {1, 6}) {
    const Report report = try_large(Sharing::zero_copy, num_rhs).report;
    EXPECT_GE(report.remote_gets, (1 + num_rhs) * sums);
    // Sums have 8 bytes, counts 4: what is beyond one of each is counts that were read again.
    EXPECT_EQ(report.get_bytes, 4 * (report.remote_gets + num_rhs * sums));
    EXPECT_EQ(report.puts, 0u);
  }
}

std::uint64_t moves_of(const Trial& trial) {
  std::uint64_t moves = 0;
  for (const std::uint64_t of_device : trial.report.page_moves) moves += of_device;
  return moves;
}

TEST(TriangleElements, only_managed_pages_move_and_each_at_least_once) {
  EXPECT_EQ(moves_of(try_large(Sharing::zero_copy, 1)), 0u);
  EXPECT_EQ(moves_of(try_large(Sharing::pushed, 3)), 0u);
  EXPECT_EQ(moves_of(try_large(Sharing::put, 3)), 0u);
  EXPECT_GE(moves_of(try_large(Sharing::unified, 1)), 2u);  // the page of the sums and that of the counts
  // 60 · 140 sums of 8 bytes are 67,200 bytes: two pages.
  const SparseTriangle chains = make_triangle(140, 1);
  EXPECT_GE(moves_of(try_columns_of_elements({chains, {4, 10}, Sharing::unified, Fault::none, 60},
                                             options_of(1, 2), {2, 64})),
            3u);
}

/// @returns the part of the seeds whose report has these words
double part_found(Sharing sharing, Fault fault, const std::string& words, int num_rhs = 1) {
  const SparseTriangle triangle = make_triangle(200, fault == Fault::no_acquire ? 12 : 3);
  const int seeds = testing::num_seeds(50);
  int found = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    found += says(
        try_columns_of_elements({triangle, {3, 8}, sharing, fault, num_rhs}, options_of(seed, 3), {2, 64})
            .report,
        words);
  return double(found) / seeds;
}

TEST(TriangleElements, counts_published_to_their_device_alone_are_a_race) {
  EXPECT_EQ(part_found(Sharing::unified, Fault::narrow_scope, "race"), 1);
  EXPECT_EQ(part_found(Sharing::zero_copy, Fault::narrow_scope, "race"), 1);
  EXPECT_EQ(part_found(Sharing::unified, Fault::narrow_scope, "race", 3), 1);
  EXPECT_EQ(part_found(Sharing::zero_copy, Fault::narrow_scope, "race", 3), 1);
  EXPECT_EQ(part_found(Sharing::pushed, Fault::narrow_scope, "race"), 1);
  EXPECT_EQ(part_found(Sharing::pushed, Fault::narrow_scope, "race", 3), 1);
}

TEST(TriangleElements, sums_read_without_acquire_are_a_race) {
  EXPECT_EQ(part_found(Sharing::pushed, Fault::relaxed_flag, "race"), 1);
  EXPECT_EQ(part_found(Sharing::pushed, Fault::relaxed_flag, "race", 3), 1);
  EXPECT_EQ(part_found(Sharing::pushed, Fault::no_acquire, "race"), 1);
  EXPECT_EQ(part_found(Sharing::put, Fault::no_network_wait, "race"), 1);
  EXPECT_EQ(part_found(Sharing::put, Fault::no_network_wait, "race", 3), 1);
  // Not where the thread that puts was also the last to add: then no other's addition came after its own.
  EXPECT_GT(part_found(Sharing::put, Fault::no_acquire, "race"), 0.5);
}

TEST(TriangleElements, puts_without_quiet_are_reported_and_their_source_must_stay_until_then) {
  for (const int num_rhs : {1, 3}) {
    EXPECT_EQ(part_found(Sharing::put, Fault::no_quiet, "without quiet", num_rhs), 1);
    EXPECT_EQ(part_found(Sharing::put, Fault::early_reuse, "before quiet", num_rhs), 1);
  }
}

TEST(TriangleElements, a_sum_read_with_half_its_size_is_reported) {
  EXPECT_EQ(part_found(Sharing::zero_copy, Fault::wrong_size, "4 bytes from another device"), 1);
}

TEST(TriangleElements, half_a_sum_put_or_a_missing_one_makes_x_wrong) {
  const SparseTriangle triangle = make_triangle(200, 3);
  for (const Sharing sharing : {Sharing::pushed, Sharing::put})
    for (const int num_rhs : {1, 3}) {
      const Trial trial = try_columns_of_elements({triangle, {3, 8}, sharing, Fault::wrong_size, num_rhs},
                                                  options_of(1, 3), {2, 64});
      EXPECT_GT(trial.error, 1e-6);
    }
}

}  // namespace
}  // namespace palmette::sweeps
