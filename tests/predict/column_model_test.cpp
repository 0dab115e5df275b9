// The simulation of plain triangles on several devices: small cases by hand, counts against the pattern.
#include <gtest/gtest.h>

#include <set>

#include "palmette/predict/predict.hpp"

namespace palmette {
namespace {

SparsityPattern strict_of(const char* problem, index_t n, double parameter = 0) {
  GenerateOptions options;
  options.problem = problem;
  options.n = n;
  options.parameter = parameter;
  return strict_lower(generate(options).pattern);
}

TEST(ColumnModel, a_chain_on_one_device_takes_the_sum_of_its_steps) {
  const SparsityPattern chain = strict_of("bidiagonal", 10);
  const ColumnMachine m = column_machine("dgx-1");
  const ColumnSimulation run = simulate_columns({chain, 1, 1}, m);
  // Nine times: a column, one round of additions, seen by the next; then a column without additions.
  EXPECT_NEAR(1e6 * run.seconds,
              m.launch_us + 9 * (m.column_us + m.round_us + m.local_us) + m.column_us, 1e-6);
  EXPECT_EQ(run.messages, 0);
  EXPECT_EQ(run.all_page_moves(), 0);
}

TEST(ColumnModel, a_chain_in_two_halves_crosses_once) {
  const SparsityPattern chain = strict_of("bidiagonal", 10);
  const ColumnMachine m = column_machine("dgx-2");
  const double alone = 1e6 * simulate_columns({chain, 1, 1}, m).seconds;
  const ColumnSimulation pushed = simulate_columns({chain, 2, 1, SumSharing::pushed}, m);
  EXPECT_EQ(pushed.messages, 1);
  EXPECT_NEAR(1e6 * pushed.seconds, alone + m.remote_us + 1 / (6 * m.loads_per_us), 1e-6);
  // The counter is seen by a load instead of a local look, then the sum is loaded.
  const ColumnSimulation read = simulate_columns({chain, 2, 1, SumSharing::zero_copy}, m);
  EXPECT_NEAR(1e6 * read.seconds, alone - m.local_us + 2 * m.remote_us, 1e-6);
  // To the first device come the pages of the sum and of the counter, then both to the second, which may have
  // had that of the counter before.
  const ColumnSimulation unified = simulate_columns({chain, 2, 1, SumSharing::unified}, m);
  EXPECT_GE(unified.all_page_moves(), 4);
  EXPECT_LE(unified.all_page_moves(), 5);
  EXPECT_GT(1e6 * unified.seconds, alone + 3 * m.page_us);
}

TEST(ColumnModel, sums_are_the_pairs_of_a_row_and_another_device_that_adds_to_it) {
  const SparsityPattern strict = strict_of("random_triangular", 500, 20);
  for (const int devices : {1, 2, 3, 8})
    for (const index_t tasks : {1, 5}) {
      const index_t columns = (500 + tasks * devices - 1) / (tasks * devices);
      std::set<std::pair<index_t, int>> pairs;
      for (index_t j = 0; j < 500; ++j)
        for (const index_t row : strict.column(j))
          if (row / columns % devices != j / columns % devices) pairs.emplace(row, j / columns % devices);
      for (const SumSharing sharing : {SumSharing::unified, SumSharing::zero_copy, SumSharing::pushed}) {
        const ColumnSimulation run =
            simulate_columns({strict, devices, tasks, sharing}, column_machine("dgx-1"));
        EXPECT_EQ(run.sums, static_cast<offset_t>(pairs.size()));
        EXPECT_EQ(run.local_additions + run.other_additions,
                  static_cast<offset_t>(strict.row_index.size()));
        EXPECT_GE(run.messages, sharing == SumSharing::unified ? 0 : run.sums);
        EXPECT_GE(run.polls, sharing == SumSharing::zero_copy ? run.sums : 0);
        EXPECT_EQ(run.messages - run.polls, sharing == SumSharing::unified ? 0 : run.sums);
      }
    }
}

TEST(ColumnModel, every_case_ends_for_odd_numbers_of_devices_empty_ones_and_no_rows) {
  for (const index_t n : {1, 3, 300})
    for (int devices = 1; devices <= 8; ++devices)
      for (const SumSharing sharing : {SumSharing::unified, SumSharing::zero_copy, SumSharing::pushed}) {
        const SparsityPattern strict = strict_of("random_triangular", n, 1 + n / 10);
        const ColumnSimulation run = simulate_columns({strict, devices, 3, sharing}, column_machine("dgx-1"));
        // The longest chain bounds it from below.
        EXPECT_GE(1e6 * run.seconds, 1.5 * column_levels(strict).levels) << n << " rows, " << devices;
      }
  SparsityPattern none;
  none.column_ptr = {0};
  EXPECT_EQ(simulate_columns({none, 3, 2}, column_machine("dgx-1")).seconds, 0);
}

TEST(ColumnModel, what_a_machine_has_not_is_refused) {
  const SparsityPattern chain = strict_of("bidiagonal", 4);
  EXPECT_THROW(column_machine("dgx-9"), UsageError);
  EXPECT_THROW(simulate_columns({chain, 9, 1}, column_machine("dgx-1")), UsageError);
  EXPECT_THROW(simulate_columns({chain, 2, 0}, column_machine("dgx-1")), UsageError);
}

TEST(ColumnModel, levels_of_a_chain_and_of_a_dense_triangle_are_the_rows) {
  EXPECT_EQ(column_levels(strict_of("bidiagonal", 7)).levels, 7);
  EXPECT_EQ(column_levels(strict_of("dense_triangle", 7)).levels, 7);
  EXPECT_EQ(column_levels(strict_of("random_triangular", 400, 13)).levels, 13);
}

}  // namespace
}  // namespace palmette
