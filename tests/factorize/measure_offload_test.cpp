// Figures of a device: usable, and labelled.
#include <gtest/gtest.h>

#include "palmette/factorize/factorize.hpp"
#include "tests/factorize/plain_device.hpp"

namespace palmette {
namespace {

TEST(measure_offload, figures_make_a_model_that_plans_can_use) {
  OffloadMeasurement quick;
  quick.sides = {8, 32};
  quick.seconds_each = 0;
  const auto device = std::make_shared<testing::PlainDevice>();
  const OffloadModel model = measure_offload(device, quick);
  EXPECT_NO_THROW(check(model));
  EXPECT_EQ(model.device_gflops.size(), 2u);
  EXPECT_NE(model.source.find("plain:0"), std::string::npos);
  EXPECT_EQ(device->bytes_in_use(), 0);
}

TEST(measure_offload, the_emulators_figures_say_so) {
  if (!device_kind_list().front().available()) GTEST_SKIP() << device_kind_list().front().unavailable;
  OffloadMeasurement quick;
  quick.sides = {8};
  quick.seconds_each = 0;
  EXPECT_NE(measure_offload(make_emulated_device(), quick).source.find("not of a GPU"), std::string::npos);
}

}  // namespace
}  // namespace palmette
