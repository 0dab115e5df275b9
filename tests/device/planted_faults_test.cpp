// Faults planted in kernels: the emulator reports each of them under every seed.
#include <gtest/gtest.h>

#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const std::string& error) { return error.find(words) != std::string::npos; });
}

/// @param attempt  Options → Trial
template <class Attempt>
void expect_in_every_seed(const std::string& words, Attempt&& attempt) {
  for (int seed = 1; seed <= testing::num_seeds(50); ++seed)
    EXPECT_TRUE(says(attempt(options_of(seed, 3)).report, words)) << "seed " << seed;
}

void expect_in_every_seed_of_the_tree_kernel(Fault fault, const std::string& words) {
  const Problem problem = make_problem(40, 12, 6, 3);
  expect_in_every_seed(words,
                       [&](const Options& how) { return try_tree(problem, fault, how, {4, 64}); });
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

TEST(PlantedFault, is_found_in_tasks_of_warps_too) {
  const Problem problem = with_small(make_problem(60, 12, 6, 3), 12);
  for (const auto& [fault, words] : {std::pair(Fault::relaxed_flag, "race"),
                                     std::pair(Fault::narrow_scope, "scope too narrow"),
                                     std::pair(Fault::no_acquire, "race"),
                                     std::pair(Fault::missing_barrier, "race"),
                                     std::pair(Fault::divergent_shuffle, "divergent")})
    expect_in_every_seed(words, [&](const Options& how) {
      return try_tree(problem, fault, how, {4, 64});
    });
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

TEST(PlantedFault, warps_of_one_wavefront_that_wait_for_each_other_are_a_deadlock) {
  const SparseTriangle triangle = make_triangle(200, 3);
  for (int seed = 1; seed <= testing::num_seeds(50); ++seed) {
    Options how = options_of(seed, 3);
    EXPECT_TRUE(try_rows(triangle, Fault::warps_in_step, how, {4, 128}).ok()) << "seed " << seed;
    how.lanes_in_step = 64;
    EXPECT_TRUE(says(try_rows(triangle, Fault::warps_in_step, how, {4, 128}), "stands still"))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace palmette::sweeps
