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

/// Three columns that need none, in three tasks of one device: side by side they end when the last was
/// started and solved; one after another, each begins a gap behind the end of the one before.
TEST(ColumnModel, kernels_one_after_another_wait_for_the_last_column_of_the_one_before) {
  SparsityPattern diagonal{3, 3, {0, 0, 0, 0}, {}};
  ColumnMachine m = column_machine("dgx-1");
  m.launch_us = 0.1;
  m.gap_us = 1;
  EXPECT_NEAR(1e6 * simulate_columns({diagonal, 1, 3}, m).seconds, 3 * 0.1 + m.column_us, 1e-6);
  m.one_after_another = true;
  EXPECT_NEAR(1e6 * simulate_columns({diagonal, 1, 3}, m).seconds, 0.1 + 3 * m.column_us + 2 * 1, 1e-6);
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

TEST(ColumnModel, five_right_hand_sides_take_two_passes_and_five_sums_for_each_counter) {
  const SparsityPattern chain = strict_of("bidiagonal", 10);
  const ColumnMachine m = column_machine("dgx-2");
  const ColumnSimulation alone = simulate_columns({chain, 1, 1, SumSharing::zero_copy, 5}, m);
  // A round adds to five sums and one counter, where one right-hand side has one and one.
  EXPECT_NEAR(1e6 * alone.seconds,
              m.launch_us + 9 * (2 * m.column_us + 3 * m.round_us + m.local_us) + 2 * m.column_us, 1e-6);
  const ColumnSimulation pushed = simulate_columns({chain, 2, 1, SumSharing::pushed, 5}, m);
  EXPECT_EQ(pushed.messages, 1);
  EXPECT_EQ(pushed.bytes, 5 * 8);
  EXPECT_NEAR(1e6 * (pushed.seconds - alone.seconds), m.remote_us + 1 / (6 * m.loads_per_us), 1e-6);
  // One look at the counter in place of a local one, then five sums one after the other.
  const ColumnSimulation read = simulate_columns({chain, 2, 1, SumSharing::zero_copy, 5}, m);
  EXPECT_EQ(read.messages, read.polls + 5);
  EXPECT_EQ(read.bytes, 4 * read.polls + 5 * 8);
  EXPECT_NEAR(1e6 * (read.seconds - alone.seconds), 6 * m.remote_us - m.local_us, 1e-6);
}

TEST(ColumnModel, a_put_of_fifty_sums_takes_the_link_longer_and_their_pages_all_move) {
  const SparsityPattern chain = strict_of("bidiagonal", 10);
  ColumnMachine m = column_machine("dgx-2");
  m.page_bytes = 64;
  const double alone = simulate_columns({chain, 1, 1, SumSharing::pushed, 50}, m).seconds;
  const ColumnSimulation pushed = simulate_columns({chain, 2, 1, SumSharing::pushed, 50}, m);
  EXPECT_EQ(pushed.bytes, 400);
  EXPECT_NEAR(1e6 * (pushed.seconds - alone), m.remote_us + 400 / 64.0 / (6 * m.loads_per_us), 1e-6);
  // The sums of row 5 are bytes 2,000 to 2,399: pages 31 to 37, to either device, like that of the counter,
  // which the second may have had before.
  const ColumnSimulation unified = simulate_columns({chain, 2, 1, SumSharing::unified, 50}, m);
  EXPECT_GE(unified.all_page_moves(), 2 * 7 + 2);
  EXPECT_LE(unified.all_page_moves(), 2 * 7 + 3);
}

TEST(ColumnModel, more_right_hand_sides_than_a_run_takes_are_several_runs) {
  const SparsityPattern strict = strict_of("random_triangular", 300, 20);
  const ColumnMachine m = column_machine("dgx-1");
  for (const SumSharing sharing : {SumSharing::unified, SumSharing::zero_copy, SumSharing::pushed}) {
    const auto run = [&](index_t num_rhs) { return simulate_columns({strict, 3, 2, sharing, num_rhs}, m); };
    const ColumnSimulation all = run(150), most = run(64), rest = run(22);
    EXPECT_NEAR(all.seconds, 2 * most.seconds + rest.seconds, 1e-12);
    EXPECT_NEAR(all.waiting_seconds, 2 * most.waiting_seconds + rest.waiting_seconds, 1e-9);
    EXPECT_EQ(all.sums, 3 * most.sums);
    EXPECT_EQ(all.local_additions, 3 * most.local_additions);
    EXPECT_EQ(all.other_additions, 3 * most.other_additions);
    EXPECT_EQ(all.polls, 2 * most.polls + rest.polls);
    EXPECT_EQ(all.messages, 2 * most.messages + rest.messages);
    EXPECT_EQ(all.bytes, 2 * most.bytes + rest.bytes);
    EXPECT_EQ(all.all_page_moves(), 2 * most.all_page_moves() + rest.all_page_moves());
    EXPECT_EQ(column_bytes({strict, 3, 2, sharing, 150}, 8).sharing,
              column_bytes({strict, 3, 2, sharing, 64}, 8).sharing);
  }
}

TEST(ColumnModel, bytes_grow_by_those_of_vectors_and_sums) {
  const SparsityPattern chain = strict_of("bidiagonal", 10);
  for (const SumSharing sharing : {SumSharing::unified, SumSharing::zero_copy, SumSharing::pushed}) {
    const ColumnBytes one = column_bytes({chain, 3, 1, sharing, 1}, 16),
                      five = column_bytes({chain, 3, 1, sharing, 5}, 16);
    EXPECT_EQ(five.problem - one.problem, 4 * 2 * 10 * 16);
    // On each of three devices; once more in managed memory, or in the slot of each for the row, or the
    // column of Lᵀ, that has a neighbour elsewhere.
    const offset_t arrays = sharing == SumSharing::unified ? 40 : sharing == SumSharing::pushed ? 33 : 30;
    EXPECT_EQ(five.sharing - one.sharing, 4 * arrays * 16);
  }
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
        // The longest chain bounds it from below; right-hand sides that are solved for together share waits.
        EXPECT_GE(1e6 * run.seconds, 1.5 * column_levels(strict).levels) << n << " rows, " << devices;
        // Pages may go round less if devices that hold them take longer.
        if (sharing == SumSharing::unified) continue;
        const ColumnSimulation fifty =
            simulate_columns({strict, devices, 3, sharing, 50}, column_machine("dgx-1"));
        EXPECT_GT(fifty.seconds, run.seconds) << n << " rows, " << devices;
        EXPECT_LT(fifty.seconds, 50 * run.seconds) << n << " rows, " << devices;
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
  EXPECT_THROW(simulate_columns({chain, 2, 1, SumSharing::pushed, 0}, column_machine("dgx-1")), UsageError);
}

TEST(ColumnModel, levels_of_a_chain_and_of_a_dense_triangle_are_the_rows) {
  EXPECT_EQ(column_levels(strict_of("bidiagonal", 7)).levels, 7);
  EXPECT_EQ(column_levels(strict_of("dense_triangle", 7)).levels, 7);
  EXPECT_EQ(column_levels(strict_of("random_triangular", 400, 13)).levels, 13);
}

}  // namespace
}  // namespace palmette
