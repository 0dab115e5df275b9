// The kernels with one thread of the system for each GPU thread, under the thread sanitizer: no race and the
// bits of the emulator; planted faults are races.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdio>

#include "tests/device/threads/trials.hpp"

namespace palmette::sweeps {
namespace {

struct Ended {
  int status = -1;  ///< as it ended
  std::string output;
};
Ended run_on_threads(const std::string& kernel, LaunchShape shape) {
  const std::string command = std::string(PALMETTE_DEVICE_THREADS) + " " + kernel + " " +
                              std::to_string(shape.blocks) + " " + std::to_string(shape.threads) + " 2>&1";
  Ended ended;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ended;
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof part, pipe)) ended.output.append(part, count);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

/// Some kernels place programs at addresses that the thread sanitizer of GCC 12 does not know.
#define PALMETTE_NEEDS_THREAD_SANITIZER(ended)                             \
  if (ended.output.find("unexpected memory mapping") != std::string::npos) \
  GTEST_SKIP() << "the thread sanitizer does not start on this system: " << ended.output

void expect_the_bits_of_the_emulator(const std::string& kernel, LaunchShape shape) {
  const Ended ended = run_on_threads(kernel, shape);
  PALMETTE_NEEDS_THREAD_SANITIZER(ended);
  EXPECT_EQ(ended.status, 0) << ended.output;
  const Trial emulated = trials_on_threads().at(kernel)(options_of(1, 4), shape);
  EXPECT_EQ(ended.output, "bits " + std::to_string(emulated.bits) + "\n");
}

void expect_race(const std::string& kernel) {
  const Ended ended = run_on_threads(kernel, {4, 64});
  PALMETTE_NEEDS_THREAD_SANITIZER(ended);
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.output.find("ThreadSanitizer: data race"), std::string::npos) << ended.output;
}

TEST(OnThreads, the_tree_kernel_has_no_race_and_the_bits_of_the_emulator) {
  expect_the_bits_of_the_emulator("tree", {1, 32});
  expect_the_bits_of_the_emulator("tree", {4, 64});
  expect_the_bits_of_the_emulator("tree", {7, 32});
}
TEST(OnThreads, tasks_of_warps_have_no_race_and_the_bits_of_the_emulator) {
  expect_the_bits_of_the_emulator("tree_of_warps", {4, 64});
}
TEST(OnThreads, slices_of_rows_have_no_race_and_the_bits_of_the_emulator) {
  expect_the_bits_of_the_emulator("rows", {4, 64});
}
TEST(OnThreads, sums_by_atomic_additions_have_no_race_and_for_one_warp_the_bits_of_the_emulator) {
  expect_the_bits_of_the_emulator("columns", {1, 32});
  const Ended ended = run_on_threads("columns", {4, 64});
  PALMETTE_NEEDS_THREAD_SANITIZER(ended);
  EXPECT_EQ(ended.status, 0) << ended.output;
}
TEST(OnThreads, a_flag_stored_without_release_is_a_race) { expect_race("tree_relaxed_flag"); }
TEST(OnThreads, a_flag_read_without_acquire_is_a_race) { expect_race("tree_no_acquire"); }
TEST(OnThreads, a_missing_block_barrier_is_a_race) { expect_race("tree_missing_barrier"); }

}  // namespace
}  // namespace palmette::sweeps
