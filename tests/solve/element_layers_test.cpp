// Plans whose factor lies on several layers of devices: answers, bits, messages, planted faults.
#include <gtest/gtest.h>

#include "palmette/solve/elements_core.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/device_layers.hpp"

namespace palmette {
namespace {

using reference::all_wishes, reference::words;
using reference::device_of_layers, reference::on_layers;
using reference::Layers, reference::shapes_of_layers;
using reference::Wish;

template <class T>
SolvePlan<T> plan_on(const std::shared_ptr<const Factor<T>>& factor, const Layers& shape, int seed) {
  auto world = make_emulated_world(shape.size(), device_of_layers(seed));
  return plan_solve(factor, on_layers(std::move(world), shape, seed));
}

template <class T>
class element_layers : public reference::OnEmulator {};
TYPED_TEST_SUITE(element_layers, TestedScalars);

TYPED_TEST(element_layers, answers_are_as_good_as_those_of_the_serial_engine) {
  int seed = 1;
  for (const Wish& wish : all_wishes<TypeParam>()) {
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    for (const Layers& shape : {Layers{{2, 1}, 2}, Layers{{1, 1}, 3}}) {
      SCOPED_TRACE(words(wish) + " on " + shape.words());
      const auto plan = plan_on(factor, shape, ++seed);
      for (const index_t num_rhs : {0, 1, 3})
        reference::expect_as_good_as_serial(plan, host, SolveWhere::device_layers, problem.dense, num_rhs);
    }
  }
}

TYPED_TEST(element_layers, fifty_right_hand_sides_are_solved) {
  for (Wish wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    wish.side = 3;
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    reference::expect_as_good_as_serial(plan_on(factor, {{2, 1}, 2}, 1), plan_solve(factor),
                                        SolveWhere::device_layers, problem.dense, 50);
  }
}

TYPED_TEST(element_layers, blocks_that_are_not_inverted_are_as_good) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor, {true, 0.0});
    const Layers shape{{2, 1}, 3};
    PlanOptions options = on_layers(make_emulated_world(shape.size(), device_of_layers(4)), shape, 0);
    options.inverse_growth_limit = 0;
    const auto plan = plan_solve(factor, options);
    EXPECT_EQ(plan.guarded_blocks(), host.guarded_blocks());
    for (const index_t num_rhs : {1, 5})
      reference::expect_as_good_as_serial(plan, host, SolveWhere::device_layers, problem.dense, num_rhs);
  }
}

/// Any grid, tree, link, launch, seed and number of right-hand sides.
TYPED_TEST(element_layers, bits_depend_on_the_number_of_layers_alone) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto b = reference::random_dense<TypeParam>(factor->size(), 3, 5);
    std::vector<DenseMatrix<TypeParam>> judges;
    for (index_t layers = 1; layers <= 4; ++layers)
      judges.push_back(reference::solved(plan_on(factor, {{1, 1}, layers}, 0), Operation::plain, b));
    int seed = 0;
    for (const Layers& shape : shapes_of_layers) {
      if (++seed % 3 != 1 && !std::is_same_v<TypeParam, double>) continue;
      SCOPED_TRACE(words(wish) + " on " + shape.words());
      const DenseMatrix<TypeParam>& judge = judges[shape.layers - 1];
      const auto plan = plan_on(factor, shape, seed);
      EXPECT_TRUE(reference::same_bits(judge, reference::solved(plan, Operation::plain, b)));
      DenseMatrix<TypeParam> one(b.rows, 1), x(b.rows, 1);
      std::copy_n(b.view().column(1), b.rows, one.values.data());
      plan.solve(Operation::plain, one.view(), x.view());
      EXPECT_EQ(std::memcmp(x.values.data(), judge.view().column(1), sizeof(TypeParam) * b.rows), 0);
    }
  }
}

TYPED_TEST(element_layers, small_systems_have_their_bits_under_every_seed) {
  reference::expect_bits_under_every_seed<TypeParam>(
      shapes_of_layers, [](const Layers& shape, int seed, bool is_small) {
        return reference::RunOfSeed{reference::on_layers_for_seed(shape, seed, is_small)};
      });
}

/// Messages and bytes are those of the programs, and between layers those of ranks.
TYPED_TEST(element_layers, messages_bytes_and_symmetric_memory_are_as_planned) {
  const Wish wish{FactorKind::lu, false, 8, 13};
  const auto problem = reference::make_problem<TypeParam>(wish);
  const auto factor = reference::naive_factor(problem, wish);
  const SymbolicFactor& symbolic = *factor->symbolic;
  constexpr offset_t num_rhs = 4, scalar = sizeof(TypeParam);
  for (const Layers& shape : shapes_of_layers) {
    SCOPED_TRACE(shape.words());
    const auto world = make_emulated_world(shape.size());
    const PlanOptions options = on_layers(world, shape, 2);
    const auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, shape.layers));
    const auto systems = layer_systems(
        symbolic, cut, LayeredMethod::one_sync_3d,
        {{shape.grid, shape.layers}, PlacementMap::block_cyclic, options.of_world.subtrees});
    const auto programs = solve_detail::layered_element_programs(systems, options.of_world.trees, scalar);
    const auto plan = plan_solve(factor, options);
    const auto b = reference::random_dense<TypeParam>(plan.size(), num_rhs, 5);
    (void)reference::solved(plan, Operation::plain, b);
    EXPECT_EQ(world->counts().puts, programs.traffic.messages);
    EXPECT_EQ(world->counts().put_bytes, programs.traffic.rows * num_rhs * scalar);
    const Traffic between =
        predicted_layered_traffic(systems, options.of_world.trees, num_rhs * scalar).between;
    offset_t messages = 0, bytes = 0;
    for (const TrafficEntry& entry : between.entries) {
      messages += entry.messages;
      bytes += entry.bytes;
    }
    EXPECT_GT(messages, 0);
    EXPECT_EQ(programs.traffic.meeting_messages, messages);
    EXPECT_EQ(programs.traffic.meeting_rows * num_rhs * scalar, bytes);
    // What others write: values of two sweeps, sums, and one message for each meeting.
    offset_t most = 0;
    for (const LayerSystem& system : systems) {
      const ExchangePlan exchanges(*system.symbolic, *system.placement, options.of_world.trees);
      for (index_t rank = 0; rank < shape.grid.num_ranks(); ++rank) {
        const SolveExchange exchange = exchanges.exchange(rank);
        offset_t rows = 2 * exchange.value_rows;
        for (const IncomingSum& one : exchange.incoming) rows += one.rows;
        for (const LayerStep& step : layer_steps(system, rank)) rows += step.rows;
        most = std::max(most, rows);
      }
    }
    EXPECT_EQ(programs.shared_rows, most);
  }
}

TYPED_TEST(element_layers, more_elements_than_supernodes_and_no_rows_are_solved) {
  for (const index_t side : {0, 1, 2}) {
    const Wish wish{FactorKind::lu, false, side, 13};
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    for (const Layers& shape : {Layers{{2, 1}, 4}, Layers{{1, 2}, 3}, Layers{{1, 1}, 8}}) {
      const auto plan = plan_on(factor, shape, static_cast<int>(side));
      for (const index_t num_rhs : {0, 1, 3})
        reference::expect_as_good_as_serial(plan, host, SolveWhere::device_layers, problem.dense, num_rhs);
    }
  }
}

TEST(ElementLayers, what_cannot_be_is_refused) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const Wish wish{FactorKind::llt, false, 4, 3};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  EXPECT_THROW(plan_solve(factor, on_layers(make_emulated_world(3), {{2, 1}, 2}, 0)), UsageError);
  EXPECT_THROW(plan_solve(factor, on_layers(make_emulated_world(3), {{1, 1}, 0}, 0)), UsageError);
  EXPECT_THROW(plan_solve(factor, on_layers(make_emulated_world(3), {{0, 0}, 2}, 0)), UsageError);
  const auto plan = plan_on(factor, {{1, 1}, 2}, 0);
  const auto b = reference::random_dense<double>(plan.size(), 1, 5);
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, {SolveMethod::devices_fan_out, nullptr}),
               UsageError);
}

// ---- planted faults: with one element in each layer, all messages are between layers ----

using device::Fault;
using device::Link;

Launcher with(Fault fault, Link link) {
  return [=](const device::KernelCall& call, const device::LaunchShape& shape) {
    if (call.kernel != device::Kernel::element_forward && call.kernel != device::Kernel::network_forward)
      return device::emulated_launch(call, shape);
    return device::element_forward_with(
        fault, link, *static_cast<const device::ElementSweep<double>*>(call.argument), shape);
  };
}

class PlantedBetweenLayers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
    factor_ = reference::naive_factor(reference::make_problem<double>(wish_), wish_);
    b_ = reference::random_dense<double>(factor_->size(), 1, 5);
  }

  void expect_in_every_seed(Fault fault, Link link, const std::string& words) const {
    for (int seed = 1; seed <= testing::num_seeds(25); ++seed) {
      const Layers shape{{1, 1}, 2 + seed % 3};
      const auto judge = reference::solved(plan_on(factor_, shape, 0), Operation::plain, b_);
      const auto world = make_emulated_world(shape.size(), device_of_layers(seed), with(fault, link));
      const auto plan = plan_solve(factor_, on_layers(world, shape, link == Link::network ? 2 : 0));
      std::string outcome;
      try {
        const bool right = reference::same_bits(judge, reference::solved(plan, Operation::plain, b_));
        outcome = right ? "right" : "wrong";
      } catch (const DeviceError& error) {
        outcome = error.what();
      }
      EXPECT_NE(outcome.find(words), std::string::npos) << "seed " << seed << ": " << outcome;
    }
  }

  Wish wish_{FactorKind::llt, false, 5, 11};
  std::shared_ptr<const Factor<double>> factor_;
  DenseMatrix<double> b_{0, 0};
};

TEST_F(PlantedBetweenLayers, without_a_fault_answers_are_right) {
  expect_in_every_seed(Fault::none, Link::peers, "right");
  expect_in_every_seed(Fault::none, Link::network, "right");
}
TEST_F(PlantedBetweenLayers, signals_of_the_scope_of_one_device_are_a_race) {
  expect_in_every_seed(Fault::narrow_scope, Link::peers, "race");
}
TEST_F(PlantedBetweenLayers, signals_without_release_are_a_race) {
  expect_in_every_seed(Fault::relaxed_flag, Link::peers, "race");
}
TEST_F(PlantedBetweenLayers, messages_read_without_acquire_are_a_race) {
  expect_in_every_seed(Fault::no_acquire, Link::peers, "race");
  expect_in_every_seed(Fault::no_acquire, Link::network, "race");
}
TEST_F(PlantedBetweenLayers, messages_of_the_wrong_size_give_wrong_answers) {
  expect_in_every_seed(Fault::short_message, Link::peers, "wrong");
  expect_in_every_seed(Fault::short_message, Link::network, "wrong");
}

}  // namespace
}  // namespace palmette
