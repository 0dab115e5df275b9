// Memory of emulated devices between runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/device/device.hpp"

namespace palmette::emulate {
namespace {

TEST(EmulatorMemory, is_zero_after_a_reset_whatever_smaller_runs_came_between) {
  constexpr int count = 1000, last = 3;
  reset_memory(last + 1);
  std::fill_n(on_device(allocate_array<int>(count), last), count, 7);
  reset_memory(1);  // of fewer devices, with less in use
  (void)allocate_array<int>(1);
  reset_memory(last + 1);
  const int* const values = on_device(allocate_array<int>(count), last);
  EXPECT_EQ(std::count(values, values + count, 0), count);
}

}  // namespace
}  // namespace palmette::emulate
