// Faults planted in kernels: the emulator reports each of them under every seed.
#include <gtest/gtest.h>

#include "tests/device/forward_sweeps.hpp"
#include "tests/device/seeds.hpp"

namespace palmette::sweeps {
namespace {

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const std::string& error) { return error.find(words) != std::string::npos; });
}

Options options_of(int seed) {
  Options options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.resident_blocks = 3;
  return options;
}

void expect_in_every_seed_of_the_tree_kernel(Fault fault, const std::string& words) {
  const Problem problem = make_problem(40, 12, 6, 3);
  for (int seed = 1; seed <= num_seeds(50); ++seed)
    EXPECT_TRUE(says(try_tree(problem, fault, options_of(seed), {4, 64}).report, words)) << "seed " << seed;
}

TEST(PlantedFault, a_flag_stored_without_release_is_a_race) {
  expect_in_every_seed_of_the_tree_kernel(Fault::relaxed_flag, "race");
}

TEST(PlantedFault, a_release_with_block_scope_is_a_race) {
  expect_in_every_seed_of_the_tree_kernel(Fault::narrow_scope, "scope too narrow");
}

TEST(PlantedFault, a_flag_read_without_acquire_is_a_race) {
  expect_in_every_seed_of_the_tree_kernel(Fault::no_acquire, "race");
}

TEST(PlantedFault, a_missing_block_barrier_is_a_race) {
  expect_in_every_seed_of_the_tree_kernel(Fault::missing_barrier, "race");
}

TEST(PlantedFault, a_shuffle_that_not_all_lanes_reach_diverges) {
  expect_in_every_seed_of_the_tree_kernel(Fault::divergent_shuffle, "divergent");
}

TEST(PlantedFault, waiting_for_blocks_that_are_not_resident_is_a_deadlock_that_names_who_waits) {
  expect_in_every_seed_of_the_tree_kernel(Fault::no_tickets, "spins on");
}

TEST(PlantedFault, a_store_behind_an_array_is_outside_device_memory) {
  expect_in_every_seed_of_the_tree_kernel(Fault::store_outside, "store outside device memory");
}

TEST(PlantedFault, threads_that_come_to_fewer_barriers_are_named) {
  expect_in_every_seed_of_the_tree_kernel(Fault::unequal_barriers, "barriers of unequal counts");
}

TEST(PlantedFault, data_read_before_its_signal_is_a_race) {
  const Problem problem = make_problem(30, 10, 6, 4);
  for (int seed = 1; seed <= num_seeds(50); ++seed)
    EXPECT_TRUE(says(try_pes(problem, 3, Fault::no_acquire, options_of(seed), {2, 64}).report, "race"))
        << "seed " << seed;
}

TEST(PlantedFault, the_source_of_a_put_overwritten_before_quiet_is_reported) {
  const Problem problem = make_problem(30, 10, 6, 4);
  for (int seed = 1; seed <= num_seeds(50); ++seed)
    EXPECT_TRUE(
        says(try_pes(problem, 3, Fault::early_reuse, options_of(seed), {2, 64}).report, "before quiet"))
        << "seed " << seed;
}

TEST(PlantedFault, sums_published_to_their_device_alone_are_a_race_for_other_devices) {
  for (int seed = 1; seed <= num_seeds(50); ++seed)
    EXPECT_TRUE(
        says(try_read_only(200, 3, 3, 8, Fault::narrow_scope, options_of(seed), {2, 64}).report, "race"))
        << "seed " << seed;
}

}  // namespace
}  // namespace palmette::sweeps
