// Layers of devices that the tests of their solves try.
#pragma once

#include <string>

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

}  // namespace palmette::reference
