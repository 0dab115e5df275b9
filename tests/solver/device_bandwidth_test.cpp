// The measured rate of a device's memory.
#include "palmette/solver/device_bandwidth.hpp"

#include <gtest/gtest.h>

#include "palmette/solver/timed_solve.hpp"
#include "tests/factorize/plain_device.hpp"

namespace palmette {
namespace {

constexpr std::size_t some_bytes = 1 << 20;

TEST(device_bandwidth, is_measured_and_its_arrays_are_given_back) {
  const auto device = std::make_shared<testing::PlainDevice>();
  EXPECT_GT(measured_device_gbs(device, some_bytes), 0);
  EXPECT_EQ(device->allocations, 2);
  EXPECT_EQ(device->bytes_in_use(), 0);
}

TEST(device_bandwidth, is_unknown_without_room_for_two_arrays) {
  EXPECT_EQ(measured_device_gbs(std::make_shared<testing::PlainDevice>(2 * some_bytes - 1), some_bytes), 0);
}

TEST(device_bandwidth, of_the_emulated_device_is_never_measured) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto device = make_emulated_device();
  EXPECT_EQ(measured_device_gbs(device, some_bytes), 0);
  EXPECT_EQ(BandwidthMemory(true, "").device_gbs(device), 0);
}

TEST(device_bandwidth, is_measured_once_for_each_device_and_not_if_measuring_is_off) {
  const auto device = std::make_shared<testing::PlainDevice>();
  EXPECT_EQ(BandwidthMemory(false, "").device_gbs(device), 0);
  EXPECT_EQ(device->allocations, 0);
  BandwidthMemory memory(true, "");
  const double first = memory.device_gbs(device);
  EXPECT_GT(first, 0);
  EXPECT_EQ(memory.device_gbs(device), first);
  EXPECT_EQ(device->allocations, 2);
}

}  // namespace
}  // namespace palmette
