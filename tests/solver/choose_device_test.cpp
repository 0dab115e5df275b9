// The choice between host and device: by room, by predicted time, and what the report says of it.
#include "palmette/solver/choose_device.hpp"

#include <gtest/gtest.h>

#include "palmette/solver/rank_solver.hpp"

namespace palmette {
namespace {

/// An emulated device that predictions take for a GPU of this rate.
std::shared_ptr<Device> pretended(double memory_gbs, offset_t memory_bytes = 0) {
  EmulatedDeviceOptions options;
  options.blocks = 100;
  options.memory_gbs = memory_gbs;
  options.memory_bytes = memory_bytes;
  return make_emulated_device(options);
}

SolverOptions automatic(std::shared_ptr<Device> device) {
  SolverOptions options;
  options.device = std::move(device);
  options.device_if_faster = true;
  options.measure = false;
  return options;
}

std::shared_ptr<const SparseMatrix<double>> cube(index_t side) {
  GenerateOptions wanted;
  wanted.problem = "poisson3d7";
  wanted.n = side;
  return std::make_shared<const SparseMatrix<double>>(generate(wanted));
}

bool says(const Report& report, const std::string& words) {
  for (const std::string& note : report.notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

class ChooseDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};

TEST_F(ChooseDevice, a_large_factor_goes_to_a_fast_device_and_a_small_one_stays) {
  const auto device = pretended(2e5);
  auto large = Solver<double>::create(cube(26), automatic(device)).value();
  EXPECT_EQ(large.device(), device);
  EXPECT_TRUE(says(large.report(), "solved on emulated:0 (emulated device): a solve takes "));
  EXPECT_TRUE(says(large.report(), "both predicted, not measured"));
  auto small = Solver<double>::create(cube(5), automatic(device)).value();
  EXPECT_EQ(small.device(), nullptr);
  EXPECT_TRUE(says(small.report(), "solved on the host: "));
  DenseMatrix<double> b(125, 1), x(125, 1);
  b.values.assign(125, 1.0);
  const Report report = small.solve(b.view(), x.view()).value();
  EXPECT_TRUE(report.verify->verified);
  EXPECT_FALSE(report.solve->device.has_value());
}

TEST_F(ChooseDevice, a_device_without_room_is_not_chosen) {
  const auto device = pretended(1e6, 1 << 20);
  auto solver = Solver<double>::create(cube(16), automatic(device)).value();
  EXPECT_EQ(solver.device(), nullptr);
  EXPECT_TRUE(says(solver.report(), "where 1048576 are free"));
  EXPECT_EQ(device->bytes_in_use(), 0);
}

TEST_F(ChooseDevice, the_emulator_is_no_gpu) {
  auto solver = Solver<double>::create(cube(12), automatic(make_emulated_device())).value();
  EXPECT_EQ(solver.device(), nullptr);
  EXPECT_TRUE(says(solver.report(), "tells no rate of its memory"));
}

/// Where the devices tell a rate; else one column.
TEST_F(ChooseDevice, a_number_of_devices_gets_the_grid_that_is_predicted_to_be_the_fastest) {
  for (const double memory_gbs : {1500.0, 0.0}) {
    SolverOptions options;
    options.measure = false;
    EmulatedDeviceOptions like;
    like.memory_gbs = memory_gbs;
    options.world = make_emulated_world(4, like);
    const auto solver = Solver<double>::create(cube(6), options).value();
    EXPECT_EQ(says(solver.report(), "devices: a solve takes "), memory_gbs > 0);
    EXPECT_EQ(says(solver.report(), " us on "), memory_gbs > 0);
    EXPECT_EQ(says(solver.report(), "solved on a grid of 4 x 1 devices: emulated:0 tells no rate"),
              memory_gbs == 0);
  }
}

TEST_F(ChooseDevice, ranks_take_the_devices_of_a_machine_in_turn) {
  EXPECT_EQ(open_device_of_rank("none", 3), nullptr);
  EXPECT_EQ(open_device_of_rank("emulated:1", 3)->info().index, 1);
  EXPECT_EQ(open_device_of_rank("emulated@1e6", 2)->info().memory_bytes, 1000000);
  EXPECT_EQ(open_device_of_rank("emulated", 2)->info().index, 2);
  const index_t count = emulate::most_devices();
  EXPECT_EQ(open_device_of_rank("emulated", count + 1)->info().index, 1);
  EXPECT_THROW(open_device_of_rank("nothing", 0), UsageError);
}

TEST_F(ChooseDevice, new_values_stay_where_the_first_went) {
  const auto device = pretended(2e5);
  const auto matrix = cube(26);
  auto solver = Solver<double>::create(matrix, automatic(device)).value();
  std::vector<double> values = matrix->values;
  for (double& value : values) value *= 2;
  ASSERT_TRUE(solver.refactor_values(values).ok());
  EXPECT_EQ(solver.device(), device);
  EXPECT_TRUE(says(solver.report(), "solved on emulated:0"));
}

TEST(ChooseDeviceByName, without_a_gpu_auto_is_the_host_and_says_why) {
  SolverOptions options;
  set_device(options, "auto");
  if (options.device) GTEST_SKIP() << "there is a GPU";
  EXPECT_TRUE(options.device_if_faster);
  EXPECT_NE(options.why_no_device.find("cuda: "), std::string::npos);
  options.measure = false;
  auto solver = Solver<double>::create(cube(9), options).value();
  EXPECT_TRUE(says(solver.report(), "solved on the host: "));
  options.method = SolveMethod::serial;
  EXPECT_THROW((void)Solver<double>::create(cube(3), options), UsageError);
  TriangularSolverOptions triangular;
  set_device(triangular, "auto");
  EXPECT_NE(triangular.note_on_device.find("there is no GPU"), std::string::npos);
}

}  // namespace
}  // namespace palmette
