// Threads that wait for many places in the emulator: each change is seen, and a deadlock is still found.
#include <gtest/gtest.h>

#include "palmette/device/device.hpp"

namespace palmette {
namespace {

using namespace emulate;

constexpr int num_flags = 150;  // more than a parked thread remembers

class Waiting : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
    reset_memory(1);
    flags = allocate_array<int>(num_flags);
  }
  static Options options_of(int seed) {
    Options options;
    options.seed = static_cast<std::uint64_t>(seed);
    return options;
  }
  static void wait_for(const int* flag) {
    while (load(flag, Order::acquire, Scope::device) == 0) pause();
  }
  /// Sets the flags up to `end` in turn; each waits for the one before, so that the other block sees many
  /// unchanged values.
  std::function<void()> two_blocks(std::function<void()> reader, int end) const {
    return [reader, end, flags = flags] {
      if (block() == 0) return reader();
      for (int k = 0; k < end; ++k) {
        if (k > 0) wait_for(&flags[k - 1]);
        store(&flags[k], 1, Order::release, Scope::device);
      }
    };
  }
  int* flags = nullptr;
};

TEST_F(Waiting, for_one_flag_after_the_other) {
  for (int seed = 1; seed <= 20; ++seed) {
    std::fill_n(flags, num_flags, 0);
    const auto reader = [flags = flags] {
      for (int k = 0; k < num_flags; ++k) wait_for(&flags[k]);
    };
    const Report report = run({{0, 2, 1, 0, two_blocks(reader, num_flags)}}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
  }
}

TEST_F(Waiting, for_many_flags_at_once) {
  for (int seed = 1; seed <= 20; ++seed) {
    std::fill_n(flags, num_flags, 0);
    const auto reader = [flags = flags] {
      for (bool all = false; !all;) {
        all = true;
        for (int k = 0; k < num_flags; ++k) all &= load(&flags[k], Order::acquire, Scope::device) != 0;
        if (!all) pause();
      }
    };
    const Report report = run({{0, 2, 1, 0, two_blocks(reader, num_flags)}}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
  }
}

TEST_F(Waiting, for_a_flag_that_nobody_sets_is_a_deadlock) {
  for (int seed = 1; seed <= 20; ++seed) {
    std::fill_n(flags, num_flags, 0);
    const auto reader = [flags = flags] {
      for (int k = 0; k < num_flags; ++k) wait_for(&flags[k]);
    };
    const auto polling = [flags = flags] {
      for (bool all = false; !all;) {
        all = true;
        for (int k = 0; k < num_flags; ++k) all &= load(&flags[k], Order::acquire, Scope::device) != 0;
        if (!all) pause();
      }
    };
    using Kernel = std::function<void()>;
    for (const Kernel& waits : {Kernel(reader), Kernel(polling)}) {
      std::fill_n(flags, num_flags, 0);
      const Report report = run({{0, 2, 1, 0, two_blocks(waits, num_flags - 1)}}, options_of(seed));
      ASSERT_FALSE(report.ok());
      EXPECT_NE(report.errors.back().find("deadlock: 1 threads spin"), std::string::npos)
          << report.errors.back();
    }
  }
}

TEST_F(Waiting, is_not_what_a_thread_does_that_reads_again_what_it_knows) {
  constexpr int times = 300, threads = 64;
  for (int seed = 1; seed <= 3; ++seed) {
    flags[0] = 1;
    const auto kernel = [flags = flags] {
      for (int k = 0; k < times; ++k) {
        if (thread() == 2) wait_for(&flags[0]);
        block_barrier();
      }
    };
    const Report report = run({{0, 1, threads, 0, kernel}}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
  }
}

TEST_F(Waiting, without_a_pause_for_what_nobody_writes_is_a_deadlock) {
  for (int seed = 1; seed <= 3; ++seed) {
    const auto kernel = [flags = flags] {
      while (load(&flags[0], Order::relaxed, Scope::device) == 0) {}
    };
    const Report report = run({{0, 2, 32, 0, kernel}}, options_of(seed));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.errors.back().find("deadlock: 64 threads spin"), std::string::npos)
        << report.errors.back();
  }
}

TEST_F(Waiting, is_a_deadlock_too_where_threads_count_their_turns) {
  const auto kernel = [flags = flags] {
    while (load(&flags[0], Order::relaxed, Scope::device) == 0)
      add(&flags[1], 1, Order::relaxed, Scope::device);
  };
  const Report report = run({{0, 1, 2, 0, kernel}}, options_of(1));
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.errors.back().find("deadlock: 2 threads spin"), std::string::npos) << report.errors.back();
}

TEST_F(Waiting, is_a_deadlock_too_where_lanes_vote_or_meet_in_each_turn) {
  const auto votes = [flags = flags] {
    while (ballot(0xf, lane() == 0 && load(&flags[0], Order::relaxed, Scope::device) != 0) == 0) {}
  };
  const auto meets = [flags = flags] {
    while (load(&flags[0], Order::relaxed, Scope::device) == 0) block_barrier();
  };
  using Kernel = std::function<void()>;
  for (const Kernel& kernel : {Kernel(votes), Kernel(meets)}) {
    const Report report = run({{0, 1, 4, 0, kernel}}, options_of(1));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.errors.back().find("deadlock: "), std::string::npos) << report.errors.back();
  }
}

// Lanes 0 to 2 wait at one collective for lane 3, which waits for a flag; lanes 4 to 6 wait at another for
// lane 7, which ends, and then set the flag.
TEST_F(Waiting, at_any_collective_of_a_warp_is_over_when_the_last_lane_that_it_names_ends) {
  for (int seed = 1; seed <= 20; ++seed) {
    std::fill_n(flags, num_flags, 0);
    const auto kernel = [flags = flags] {
      const unsigned mask = lane() < 4 ? 0x0fu : 0xf0u;
      int* const arrived = &flags[1];
      if (lane() == 3) wait_for(&flags[0]);
      else if (lane() < 7) add(arrived, 1, Order::release, Scope::device);
      else
        while (load(arrived, Order::acquire, Scope::device) != 6) pause();
      if (lane() == 7) return;
      warp_barrier(mask);
      if (lane() == 4) store(&flags[0], 1, Order::release, Scope::device);
    };
    const Report report = run({{0, 1, 8, 0, kernel}}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
  }
}

TEST_F(Waiting, for_the_second_half_of_what_is_stored_at_once) {
  for (int seed = 1; seed <= 20; ++seed) {
    std::fill_n(flags, num_flags, 0);
    const auto kernel = [flags = flags] {
      if (block() == 0) return wait_for(&flags[1]);
      store(reinterpret_cast<std::uint64_t*>(flags), std::uint64_t{1} << 32, Order::release, Scope::device);
    };
    const Report report = run({{0, 2, 1, 0, kernel}}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
  }
}

}  // namespace
}  // namespace palmette
