// Plans whose factor lies on layers of devices that meet at each level of the cut: answers, bits, messages.
#include <gtest/gtest.h>

#include "palmette/solve/elements_core.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/device_layers.hpp"

namespace palmette {
namespace {

using reference::all_wishes, reference::words;
using reference::Layers, reference::shapes_of_layers;
using reference::Wish;

PlanOptions on(const Layers& shape, int seed) {
  auto world = make_emulated_world(shape.size(), reference::device_of_layers(seed));
  PlanOptions options = reference::on_layers(std::move(world), shape, seed);
  options.of_world.layered_method = LayeredMethod::baseline_3d;
  return options;
}

template <class T>
class element_levels : public reference::OnEmulator {};
TYPED_TEST_SUITE(element_levels, TestedScalars);

TYPED_TEST(element_levels, answers_are_as_good_as_those_of_the_serial_engine) {
  int seed = 1;
  for (Wish wish : all_wishes<TypeParam>()) {
    wish.side = 6;
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const Layers shape = ++seed % 2 == 0 ? Layers{{2, 1}, 2} : Layers{{1, 2}, 3};
    SCOPED_TRACE(words(wish) + " on " + shape.words());
    PlanOptions options = on(shape, seed);
    options.inverse_growth_limit = seed / 2 % 2 == 0 ? 0 : 1e8;  // blocks that are not inverted, too
    const auto host = plan_solve(factor, {true, options.inverse_growth_limit});
    const auto plan = plan_solve(factor, options);
    for (const index_t num_rhs : {1, 3})
      reference::expect_as_good_as_serial(plan, host, SolveWhere::device_levels, problem.dense, num_rhs);
  }
}

class ElementLevels : public reference::OnEmulator {
 protected:
  void use(const Wish& wish) {
    factor_ = reference::naive_factor(reference::make_problem<double>(wish), wish);
  }
  DenseMatrix<double> x_on(const Layers& shape, int seed, index_t num_rhs) const {
    const auto b = reference::random_dense<double>(factor_->size(), num_rhs, 5);
    return reference::solved(plan_solve(factor_, on(shape, seed)), Operation::plain, b);
  }
  std::shared_ptr<const Factor<double>> factor_;
};

TEST_F(ElementLevels, bits_depend_on_the_number_of_layers_alone) {
  int seed = 0;
  for (Wish wish : all_wishes<double>()) {
    wish.side = 6;
    use(wish);
    std::vector<DenseMatrix<double>> judges;
    for (index_t layers = 1; layers <= 4; ++layers) judges.push_back(x_on({{1, 1}, layers}, 0, 3));
    for (const Layers& shape : shapes_of_layers)
      EXPECT_TRUE(reference::same_bits(judges[shape.layers - 1], x_on(shape, ++seed, 3)))
          << words(wish) << " on " << shape.words();
  }
}

TYPED_TEST(element_levels, small_systems_have_their_bits_under_every_seed) {
  reference::expect_bits_under_every_seed<TypeParam>(
      shapes_of_layers, [](const Layers& shape, int seed, bool is_small) {
        PlanOptions options = reference::on_layers_for_seed(shape, seed, is_small);
        options.of_world.layered_method = LayeredMethod::baseline_3d;
        return reference::RunOfSeed{options};
      });
}

/// Between layers, a message for each supernode and edge of its layers' tree, up and down.
TEST_F(ElementLevels, messages_bytes_and_symmetric_memory_are_as_planned) {
  use({FactorKind::lu, false, 8, 13});
  constexpr offset_t num_rhs = 4;
  for (const Layers& shape : shapes_of_layers) {
    SCOPED_TRACE(shape.words());
    const PlanOptions options = on(shape, 2);
    const auto programs =
        solve_detail::programs_of_world(*factor_->symbolic, options.of_world, sizeof(double));
    const auto b = reference::random_dense<double>(factor_->size(), num_rhs, 5);
    (void)reference::solved(plan_solve(factor_, options), Operation::plain, b);
    EXPECT_EQ(options.world->counts().puts, programs.traffic.messages);
    EXPECT_EQ(options.world->counts().put_bytes,
              programs.traffic.rows * num_rhs * static_cast<offset_t>(sizeof(double)));
    const auto cut = std::make_shared<const Layering>(cut_into_layers(*factor_->symbolic, shape.layers));
    offset_t supernodes = 0, rows = 0, most = 0;
    for (const LayerSystem& system :
         layer_systems(*factor_->symbolic, cut, LayeredMethod::baseline_3d,
                       {{shape.grid, shape.layers}, PlacementMap::block_cyclic, options.of_world.subtrees})) {
      const ExchangePlan exchanges(*system.symbolic, *system.placement, options.of_world.trees);
      for (index_t rank = 0; rank < shape.grid.num_ranks(); ++rank) {
        const SolveExchange exchange = exchanges.exchange(rank);
        offset_t shared = 2 * exchange.value_rows;
        for (const IncomingSum& one : exchange.incoming) shared += one.rows;
        for (const LayerStep& step : layer_steps(system, rank)) {
          supernodes += static_cast<offset_t>(step.supernodes.size());
          rows += step.rows;
          if (step.receives_up) shared += step.rows;  // x comes down to where it is used
        }
        most = std::max(most, shared);
      }
    }
    EXPECT_EQ(programs.shared_rows, most);
    EXPECT_GT(supernodes, 0);
    EXPECT_EQ(programs.traffic.meeting_messages, supernodes) << "each edge is a step of both its ends";
    EXPECT_EQ(programs.traffic.meeting_rows, rows);
  }
}

/// Priced runs take tickets as the kernels do: what stands still is not counted.
TEST_F(ElementLevels, one_block_of_each_device_is_enough_to_take_every_task) {
  Cluster cluster;
  cluster.memory_gbs = {{1, 1000}};
  cluster.kernel_gflops = {{1, 1000}};
  cluster.overheads.task_us = 1;
  cluster.workers = 1;
  for (const index_t side : {12, 17})
    for (const LayeredMethod method : {LayeredMethod::baseline_3d, LayeredMethod::one_sync_3d}) {
      use({FactorKind::lu, false, side, 13});
      for (const Layers& shape : shapes_of_layers)
        for (const double latency_us : {0.1, 30.0}) {
          ElementsCase given{*factor_->symbolic, on(shape, 1).of_world};
          given.of_world.layered_method = method;
          const auto programs = solve_detail::programs_of_world(*factor_->symbolic, given.of_world, 8);
          offset_t tasks = 0;
          for (const auto& element : programs.element)
            tasks += static_cast<offset_t>(element.forward.task.size() + element.backward.task.size());
          cluster.links = {{"node", 0, {latency_us, 100, 0.1, 0.1}, 0}};
          EXPECT_EQ(price_elements(given, cluster).tasks, tasks) << shape.words();
        }
    }
}

TEST_F(ElementLevels, more_elements_than_supernodes_and_no_rows_are_solved) {
  for (const index_t side : {0, 1, 2}) {
    const Wish wish{FactorKind::lu, false, side, 13};
    const auto problem = reference::make_problem<double>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    for (const Layers& shape : {Layers{{2, 1}, 4}, Layers{{1, 1}, 8}})
      for (const index_t num_rhs : {0, 3})
        reference::expect_as_good_as_serial(plan_solve(factor, on(shape, static_cast<int>(side))),
                                            plan_solve(factor), SolveWhere::device_levels, problem.dense,
                                            num_rhs);
  }
}

TEST_F(ElementLevels, a_plan_that_meets_at_levels_refuses_the_method_that_meets_once) {
  use({FactorKind::llt, false, 4, 3});
  const auto b = reference::random_dense<double>(factor_->size(), 1, 5);
  const auto plan = plan_solve(factor_, on({{1, 1}, 2}, 0));
  const SolveRun once{SolveMethod::devices_one_sync_3d, nullptr};
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, once), UsageError);
}

}  // namespace
}  // namespace palmette
