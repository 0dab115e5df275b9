// Plans whose factor lies on several devices: grids, trees, launches, kinds and scalars in the emulator, with
// races and delayed stores watched, judged by backward errors and by their bits.
#include <gtest/gtest.h>

#include "palmette/solve/elements_core.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/device_layers.hpp"

namespace palmette {
namespace {

using reference::all_wishes, reference::words;
using reference::Wish;

EmulatedDeviceOptions watched(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 2 + seed % 3;
  options.threads = 32 << seed % 2;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 2 + seed % 2;
  return options;
}

/// Whole subtrees of so few entries that small problems have supernodes above them.
WorldOptions small_subtrees(ProcessGrid grid, int variant) {
  WorldOptions options;
  options.grid = grid;
  options.trees = variant % 2 ? TreeShape::flat : TreeShape::binary;
  options.subtrees.max_entries = 60;
  options.by_network = variant / 2 % 2 == 1;
  return options;
}

PlanOptions on(std::shared_ptr<DeviceWorld> world, const WorldOptions& of_world) {
  PlanOptions options;
  options.world = std::move(world);
  options.of_world = of_world;
  return options;
}

template <class T>
class elements_plan : public reference::OnEmulator {};
TYPED_TEST_SUITE(elements_plan, TestedScalars);

constexpr ProcessGrid grids[] = {{1, 1}, {2, 1}, {3, 1}, {2, 2}, {1, 3}, {3, 2}, {5, 1}, {8, 1}, {2, 4}};

TYPED_TEST(elements_plan, every_method_is_as_good_as_the_serial_engine) {
  int seed = 1;
  for (const Wish& wish : all_wishes<TypeParam>()) {
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    for (const ProcessGrid grid : {ProcessGrid{2, 2}, ProcessGrid{3, 1}}) {
      SCOPED_TRACE(words(wish) + " on " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
      const auto world = make_emulated_world(grid.num_ranks(), watched(++seed));
      const auto plan = plan_solve(factor, on(world, small_subtrees(grid, seed)));
      for (const index_t num_rhs : {0, 1, 3})
        reference::expect_as_good_as_serial(plan, host, SolveWhere::devices, problem.dense, num_rhs);
    }
  }
}

TYPED_TEST(elements_plan, blocks_that_are_not_inverted_are_as_good) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor, {true, 0.0});
    PlanOptions options = on(make_emulated_world(4, watched(4)), small_subtrees({2, 2}, 0));
    options.inverse_growth_limit = 0;
    const auto plan = plan_solve(factor, options);
    EXPECT_EQ(plan.guarded_blocks(), host.guarded_blocks());
    for (const index_t num_rhs : {1, 5})
      reference::expect_as_good_as_serial(plan, host, SolveWhere::devices, problem.dense, num_rhs);
  }
}

/// Every grid, tree, link, launch, seed and number of right-hand sides.
TYPED_TEST(elements_plan, bits_depend_on_the_structure_alone) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto b = reference::random_dense<TypeParam>(factor->size(), 3, 5);
    const auto judge = reference::solved(
        plan_solve(factor, on(make_emulated_world(1), small_subtrees({1, 1}, 0))), Operation::plain, b);
    int seed = 0;
    for (const ProcessGrid grid : grids) {
      ++seed;
      SCOPED_TRACE(words(wish) + " on " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
      const auto plan = plan_solve(
          factor, on(make_emulated_world(grid.num_ranks(), watched(seed)), small_subtrees(grid, seed)));
      const SolveMethod method = seed % 2 ? SolveMethod::devices_fan_out : SolveMethod::devices_solve_wait;
      EXPECT_TRUE(
          reference::same_bits(judge, reference::solved(plan, Operation::plain, b, {method, nullptr})));
      DenseMatrix<TypeParam> one(b.rows, 1), x(b.rows, 1);
      std::copy_n(b.view().column(1), b.rows, one.values.data());
      plan.solve(Operation::plain, one.view(), x.view());
      EXPECT_EQ(std::memcmp(x.values.data(), judge.view().column(1), sizeof(TypeParam) * b.rows), 0);
    }
  }
}

/// What is sent is what the programs say, in messages and in bytes.
TYPED_TEST(elements_plan, messages_and_bytes_are_as_predicted) {
  const Wish wish{FactorKind::lu, false, 8, 13};
  const auto problem = reference::make_problem<TypeParam>(wish);
  const auto factor = reference::naive_factor(problem, wish);
  for (const ProcessGrid grid : grids) {
    WorldOptions options = small_subtrees(grid, 2);
    const auto programs = solve_detail::element_programs(
        *factor->symbolic, place(*factor->symbolic, grid, PlacementMap::block_cyclic, options.subtrees),
        options.trees, sizeof(TypeParam));
    EXPECT_EQ(programs.traffic.messages > 0, grid.num_ranks() > 1);
    const auto world = make_emulated_world(grid.num_ranks());
    const auto plan = plan_solve(factor, on(world, options));
    const auto b = reference::random_dense<TypeParam>(plan.size(), 4, 5);
    (void)reference::solved(plan, Operation::plain, b);
    EXPECT_EQ(world->counts().puts, programs.traffic.messages);
    EXPECT_EQ(world->counts().put_bytes,
              programs.traffic.rows * 4 * static_cast<offset_t>(sizeof(TypeParam)));
  }
}

TYPED_TEST(elements_plan, more_elements_than_supernodes_and_no_rows_are_solved) {
  for (const index_t side : {0, 1, 2}) {
    const Wish wish{FactorKind::lu, false, side, 13};
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    for (const ProcessGrid grid : {ProcessGrid{8, 1}, ProcessGrid{3, 3}}) {
      const auto plan = plan_solve(
          factor, on(make_emulated_world(grid.num_ranks(), watched(side)), small_subtrees(grid, side)));
      for (const index_t num_rhs : {0, 1, 3})
        reference::expect_as_good_as_serial(plan, host, SolveWhere::devices, problem.dense, num_rhs);
    }
  }
}

TYPED_TEST(elements_plan, small_systems_have_their_bits_under_every_seed) {
  std::vector<reference::Layers> shapes;
  for (const ProcessGrid grid : grids) shapes.push_back({grid, 1});
  reference::expect_bits_under_every_seed<TypeParam>(
      shapes, [](const reference::Layers& shape, int seed, bool is_small) {
        WorldOptions of_world = small_subtrees(shape.grid, seed);
        if (is_small) of_world.subtrees.max_entries = 20;
        const auto device = is_small ? reference::small_device(seed, 2) : watched(seed);
        return reference::RunOfSeed{
            on(make_emulated_world(shape.size(), device), of_world),
            seed / 9 % 3 ? SolveMethod::devices_fan_out : SolveMethod::devices_solve_wait};
      });
}

TEST(ElementsPlan, what_cannot_be_is_refused) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const Wish wish{FactorKind::llt, false, 4, 3};
  const auto problem = reference::make_problem<double>(wish);
  const auto factor = reference::naive_factor(problem, wish);
  EXPECT_THROW(plan_solve(factor, on(make_emulated_world(3), small_subtrees({2, 2}, 0))), UsageError);
  EXPECT_THROW(make_emulated_world(1000), UsageError);
  EXPECT_THROW(open_world("emulated", 0), UsageError);
  const auto plan = plan_solve(factor, on(make_emulated_world(2), small_subtrees({2, 1}, 0)));
  const auto b = reference::random_dense<double>(plan.size(), 1, 5);
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, {SolveMethod::device_tree, nullptr}), UsageError);
  EmulatedDeviceOptions narrow;
  narrow.blocks = 1;
  const auto one_block = plan_solve(factor, on(make_emulated_world(2, narrow), small_subtrees({2, 1}, 0)));
  EXPECT_THROW(reference::solved(one_block, Operation::plain, b, {SolveMethod::devices_solve_wait, nullptr}),
               UsageError);
}

}  // namespace
}  // namespace palmette
