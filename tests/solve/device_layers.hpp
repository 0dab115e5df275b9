// Layers of devices that the tests of their solves try.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tests/seeds.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette::reference {

struct Layers {
  ProcessGrid grid;
  index_t layers;
  int size() const { return static_cast<int>(grid.num_ranks() * layers); }
  std::string words() const {
    return std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " x " + std::to_string(layers);
  }
};

inline constexpr Layers shapes_of_layers[] = {
    {{1, 1}, 2}, {{2, 1}, 2}, {{2, 2}, 2}, {{1, 3}, 2}, {{4, 1}, 2}, {{1, 1}, 3},
    {{2, 1}, 3}, {{1, 2}, 3}, {{1, 1}, 4}, {{2, 1}, 4}, {{1, 2}, 4}};

/// Devices whose launches and orders differ from seed to seed.
inline EmulatedDeviceOptions device_of_layers(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 1 + seed % 3;
  options.threads = 32 << seed % 2;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 1 + seed % 2;
  return options;
}

/// @param variant  of trees and links
inline PlanOptions on_layers(std::shared_ptr<DeviceWorld> world, const Layers& shape, int variant) {
  PlanOptions options;
  options.world = std::move(world);
  options.of_world.grid = shape.grid;
  options.of_world.layers = shape.layers;
  options.of_world.trees = variant % 2 ? TreeShape::flat : TreeShape::binary;
  options.of_world.subtrees.max_entries = 60;
  options.of_world.by_network = variant / 2 % 2 == 1;
  return options;
}

/// As device_of_layers, with fewer threads and one or two blocks.
inline EmulatedDeviceOptions small_device(int seed, int least_blocks = 1) {
  EmulatedDeviceOptions options;
  options.blocks = std::max(least_blocks, 1 + seed / 4 % 2);
  options.threads = 32;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = std::max(least_blocks, 1 + seed / 3 % 2);
  return options;
}

/// Small systems have supernodes above their whole subtrees, too.
inline PlanOptions on_layers_for_seed(const Layers& shape, int seed, bool is_small) {
  const EmulatedDeviceOptions device = is_small ? small_device(seed) : device_of_layers(seed);
  PlanOptions options = on_layers(make_emulated_world(shape.size(), device), shape, seed);
  if (is_small) options.of_world.subtrees.max_entries = 20;
  return options;
}

/// How a seed solves.
struct RunOfSeed {
  PlanOptions plan;
  SolveMethod method = SolveMethod::automatic;
};

/// A small system, whose bits on a number of layers are those of one device in each.
template <class T>
class SystemOfSeeds {
 public:
  using RunOf = std::function<RunOfSeed(const Layers& shape, int seed, bool is_small)>;

  SystemOfSeeds(bool is_small, index_t most_layers, RunOf run_of)
      : is_small_(is_small), run_of_(std::move(run_of)) {
    const Wish wish{FactorKind::ldlt, false, is_small ? 4 : 5, 13};
    factor_ = naive_factor(make_problem<T>(wish), wish);
    b_ = random_dense<T>(factor_->size(), 1, 5);
    for (index_t layers = 1; layers <= most_layers; ++layers) judge_.push_back(solve({{1, 1}, layers}, 0));
  }
  void expect_bits(const Layers& shape, int seed) const {
    ASSERT_TRUE(same_bits(judge_[shape.layers - 1], solve(shape, seed)))
        << "seed " << seed << " on " << shape.words();
  }

 private:
  DenseMatrix<T> solve(const Layers& shape, int seed) const {
    const RunOfSeed run = run_of_(shape, seed, is_small_);
    const auto plan = plan_solve(factor_, run.plan);
    const DenseMatrix<T> x = solved(plan, Operation::plain, b_, {run.method, nullptr});
    const bool puts = run.plan.of_world.by_network && shape.size() > 1;
    EXPECT_EQ(run.plan.world->counts().puts > 0, puts) << "on " << shape.words();
    return x;
  }

  bool is_small_;
  RunOf run_of_;
  std::shared_ptr<const Factor<T>> factor_;
  DenseMatrix<T> b_{0, 0};
  std::vector<DenseMatrix<T>> judge_;
};

/// 500 seeds in double precision. One of seven tries a larger system on larger devices.
template <class T>
void expect_bits_under_every_seed(std::span<const Layers> shapes,
                                  const typename SystemOfSeeds<T>::RunOf& run_of) {
  index_t most_layers = 1;
  for (const Layers& shape : shapes) most_layers = std::max(most_layers, shape.layers);
  const SystemOfSeeds<T> small(true, most_layers, run_of), large(false, most_layers, run_of);
  for (int seed = 1; seed <= testing::num_seeds_of<T>(500); ++seed) {
    const Layers& shape = shapes[static_cast<std::size_t>(seed) % shapes.size()];
    ASSERT_NO_FATAL_FAILURE((seed % 7 == 0 ? large : small).expect_bits(shape, seed));
  }
}

}  // namespace palmette::reference
