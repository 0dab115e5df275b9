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

}  // namespace
}  // namespace palmette
