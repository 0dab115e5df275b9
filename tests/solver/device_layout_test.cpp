// The choice of a grid and of layers of devices: by prices, by room, and what a solver does with it.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/solver/solver.hpp"

namespace palmette {
namespace {

std::shared_ptr<const SparseMatrix<double>> square(index_t side) {
  GenerateOptions wanted;
  wanted.problem = "poisson2d9";
  wanted.n = side;
  return std::make_shared<const SparseMatrix<double>>(generate(wanted));
}

SymbolicFactor structure_of(const SparseMatrix<double>& matrix) {
  OrderOptions options;
  options.method = OrderingMethod::nd;
  AnalyzeOptions analyze_options;
  analyze_options.symmetric_pattern = true;
  return analyze(matrix.pattern, order(matrix, options).value(), analyze_options);
}

/// A GPU of eight workers, with free messages or slow ones.
Cluster devices(double latency_us) {
  Cluster cluster;
  cluster.memory_gbs = {{1, 1000}};
  cluster.kernel_gflops = {{1, 1000}};
  cluster.overheads.task_us = 1;
  cluster.workers = 8;
  cluster.worker_gbs = 30;
  cluster.links = {{"node", 0, {latency_us, 100, 0.1, 0.1}, 0}};
  return cluster;
}

index_t count_of(const LayeredGrid& devices) {
  return devices.num_ranks();
}

TEST(DeviceLayouts, the_first_is_the_fastest_of_all_that_were_priced) {
  const SymbolicFactor symbolic = structure_of(*square(40));
  for (const double latency_us : {0.5, 50.0}) {
    const Cluster cluster = devices(latency_us);
    DeviceLayoutQuestion question{symbolic, 4, {1, 2, 3, 4}};
    const std::vector<DeviceLayout> ranked = ranked_device_layouts(question, cluster);
    // columns 4x1, 2x1x2, 1x1x4, and other grids of two numbers of layers
    EXPECT_GE(ranked.size(), 4U);
    for (std::size_t k = 0; k < ranked.size(); ++k) {
      EXPECT_EQ(count_of(ranked[k].devices), 4);
      if (k > 0) {
        EXPECT_GE(ranked[k].price.seconds, ranked[k - 1].price.seconds);
      }
    }
    for (const LayeredGrid& one : {LayeredGrid{{4, 1}, 1}, LayeredGrid{{2, 1}, 2}, LayeredGrid{{1, 1}, 4}})
      EXPECT_LE(ranked[0].price.seconds, priced_device_layout(question, one, cluster).price.seconds);
  }
}

TEST(DeviceLayouts, one_whose_part_of_the_factor_does_not_fit_comes_after_those_that_do) {
  const SymbolicFactor symbolic = structure_of(*square(20));
  const Cluster cluster = devices(50);
  DeviceLayoutQuestion question{symbolic, 2, {1, 2}};
  const std::vector<DeviceLayout> all = ranked_device_layouts(question, cluster);
  EXPECT_EQ(all[0].devices.layers, 2) << "slow messages: layers have fewer";
  const auto smallest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.price.most_panel_bytes < b.price.most_panel_bytes;
  });
  ASSERT_LT(smallest->price.most_panel_bytes, all[0].price.most_panel_bytes) << "layers hold copies";
  question.most_bytes = all[0].price.most_panel_bytes - 1;
  const DeviceLayout fitting = ranked_device_layouts(question, cluster).front();
  EXPECT_LE(fitting.price.most_panel_bytes, question.most_bytes);
  EXPECT_GT(fitting.price.seconds, all[0].price.seconds);
  question.kind = FactorKind::lu;  // twice as much: nothing fits, and the fastest is first again
  EXPECT_EQ(ranked_device_layouts(question, cluster).front().price.seconds, all[0].price.seconds);
}

TEST(DeviceLayouts, prices_are_of_the_right_hand_sides_and_scalars_that_are_asked_for) {
  const SymbolicFactor symbolic = structure_of(*square(40));
  const Cluster cluster = devices(1);
  const auto price = [&](index_t num_rhs, int scalar_bytes) {
    DeviceLayoutQuestion question{symbolic, 4, {1}};
    question.num_rhs = num_rhs;
    question.scalar_bytes = scalar_bytes;
    return priced_device_layout(question, {{2, 1}, 2}, cluster).price;
  };
  const ElementsPrice one = price(1, 8);
  EXPECT_GT(one.message_bytes, 0);
  EXPECT_EQ(price(50, 8).message_bytes, 50 * one.message_bytes);
  EXPECT_GT(price(50, 8).seconds, one.seconds);
  EXPECT_EQ(price(1, 16).message_bytes, 2 * one.message_bytes);
  EXPECT_EQ(price(1, 16).most_panel_bytes, 2 * one.most_panel_bytes);
}

/// Without rows, every layout costs the same.
TEST(DeviceLayouts, of_equal_prices_the_fewest_layers_come_first_then_the_fewest_columns) {
  const SymbolicFactor symbolic = structure_of(SparseMatrix<double>(from_triplets(Triplets<double>{})));
  std::vector<std::string> words;
  for (const DeviceLayout& one : ranked_device_layouts({symbolic, 4, {4, 2, 1}}, devices(1)))
    words.push_back(std::to_string(one.devices.layers) + ": " + std::to_string(one.devices.grid.rows) + "x" +
                    std::to_string(one.devices.grid.cols));
  EXPECT_EQ(words, (std::vector<std::string>{"1: 4x1", "1: 2x2", "1: 1x4", "2: 2x1", "2: 1x2", "4: 1x1"}));
}

TEST(DeviceLayouts, devices_have_memory_each_and_links_faster_than_a_network) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  EmulatedDeviceOptions like;
  EXPECT_FALSE(cluster_of(make_emulated_device(like)->info(), 4)) << "it tells no rate of its memory";
  like.memory_gbs = 1500;
  const Cluster one = cluster_of(make_emulated_device(like)->info(), 1).value();
  const Cluster four = cluster_of(make_emulated_device(like)->info(), 4).value();
  const double gbs = rate_at(one.memory_gbs, 1);
  EXPECT_GT(gbs, 0);
  EXPECT_EQ(rate_at(four.memory_gbs, 1), gbs);
  EXPECT_EQ(rate_at(four.memory_gbs, 4), 4 * gbs);
  const Link link = four.link(0, 3);
  EXPECT_LT(link.latency_us, 2);
  EXPECT_GT(link.bandwidth_gbs, 100);
}

TEST(DeviceLayouts, a_method_says_how_many_layers_it_can_have) {
  EXPECT_EQ(device_layers(SolveMethod::automatic, 6), (std::vector<index_t>{1, 2, 3, 6}));
  EXPECT_EQ(device_layers(SolveMethod::devices_fan_out, 6), (std::vector<index_t>{1}));
  EXPECT_EQ(device_layers(SolveMethod::devices_one_sync_3d, 6), (std::vector<index_t>{2, 3, 6}));
  EXPECT_TRUE(device_layers(SolveMethod::devices_one_sync_3d, 1).empty());
  EXPECT_THROW((void)device_layers(SolveMethod::serial, 6), UsageError);
  const SymbolicFactor symbolic = structure_of(*square(4));
  EXPECT_THROW((void)ranked_device_layouts({symbolic, 0}, devices(1)), UsageError);
  EXPECT_THROW((void)ranked_device_layouts({symbolic, 5, {2, 3}}, devices(1)), UsageError);
}

class ChosenLayouts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
  /// x of a solver on these devices; what it says of its layout is left in `note_`.
  std::vector<double> solved(const SolverOptions& options, index_t side) {
    auto solver = Solver<double>::create(square(side), options).value();
    note_.clear();
    for (const std::string& note : solver.report().notes)
      if (note.find("solved on a grid of ") == 0) note_ = note;
    DenseMatrix<double> b(side * side, 1), x(side * side, 1);
    b.values.assign(b.values.size(), 1.0);
    const Report report = solver.solve(b.view(), x.view()).value();
    EXPECT_TRUE(report.verify->verified);
    method_ = report.solve->method;
    return x.values;
  }
  static SolverOptions on(int count, double memory_gbs, ProcessGrid grid, index_t layers) {
    SolverOptions options;
    options.measure = false;
    EmulatedDeviceOptions like;
    like.memory_gbs = memory_gbs;
    options.world = make_emulated_world(count, like);
    options.of_world.grid = grid;
    options.of_world.layers = layers;
    return options;
  }
  std::string note_;
  SolveMethod method_ = SolveMethod::automatic;
};

TEST_F(ChosenLayouts, a_number_of_devices_gets_layers_where_they_are_predicted_to_be_faster) {
  SolverOptions options = on(2, 1500, {0, 0}, 0);
  const std::vector<double> chosen = solved(options, 20);
  EXPECT_EQ(note_.find("solved on a grid of 1 x 1 x 2 devices: a solve takes "), 0U) << note_;
  EXPECT_EQ(method_, SolveMethod::devices_one_sync_3d);
  EXPECT_EQ(chosen, solved(on(2, 1500, {1, 1}, 2), 20)) << "the same bits as if it were given";
  EXPECT_TRUE(note_.empty()) << "nothing was chosen";
  options.method = SolveMethod::devices_fan_out;
  (void)solved(options, 20);
  EXPECT_EQ(method_, SolveMethod::devices_fan_out);
  options.method = SolveMethod::devices_baseline_3d;
  (void)solved(options, 20);
  EXPECT_EQ(method_, SolveMethod::devices_baseline_3d);
}

TEST_F(ChosenLayouts, devices_that_tell_no_rate_get_one_column_in_the_fewest_layers) {
  SolverOptions options = on(4, 0, {0, 0}, 0);
  (void)solved(options, 6);
  EXPECT_EQ(note_.find("solved on a grid of 4 x 1 devices: emulated:0 tells no rate"), 0U) << note_;
  options.method = SolveMethod::devices_one_sync_3d;
  (void)solved(options, 6);
  EXPECT_EQ(note_.find("solved on a grid of 2 x 1 x 2 devices: emulated:0 tells no rate"), 0U) << note_;
  options.world = make_emulated_world(1, {});
  EXPECT_THROW((void)Solver<double>::create(square(6), options), UsageError);
  options.method = SolveMethod::serial;
  EXPECT_THROW((void)Solver<double>::create(square(6), options), UsageError);
}

TEST_F(ChosenLayouts, layers_are_chosen_only_together_with_the_grid) {
  SolverOptions options;
  EXPECT_THROW(set_devices(options, "emulated", {2, 1}, 0), UsageError);
  set_devices(options, "emulated", {3, 0}, 0);
  EXPECT_EQ(options.world->size(), 3);
  EXPECT_EQ(options.of_world.layers, 0);
  (void)solved(options, 1);
  options.measure = false;
  EXPECT_EQ(note_.find("solved on a grid of 3 x 1 devices"), 0U) << note_;
}

TEST_F(ChosenLayouts, no_columns_have_a_layout_too) {
  const auto nothing = std::make_shared<const SparseMatrix<double>>(from_triplets(Triplets<double>{}));
  for (const double memory_gbs : {0.0, 1500.0}) {
    auto solver = Solver<double>::create(nothing, on(3, memory_gbs, {0, 0}, 0)).value();
    DenseMatrix<double> b(0, 2), x(0, 2);
    EXPECT_TRUE(solver.solve(b.view(), x.view()).ok());
  }
}

}  // namespace
}  // namespace palmette
