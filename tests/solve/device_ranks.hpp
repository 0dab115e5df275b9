// Ranks with one device each, and the devices of one process that judge them.
#pragma once

#include <functional>

#include "palmette/solve/device_schedule.hpp"
#include "palmette/solve/elements_core.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette::reference {

struct Shape {
  ProcessGrid grid;
  index_t layers = 1;
  LayeredMethod method = LayeredMethod::one_sync_3d;
  index_t num_ranks() const { return grid.num_ranks() * layers; }
};

struct Setting {
  Shape shape;
  MemoryKind memory = MemoryKind::automatic;
  TreeShape trees = TreeShape::binary;
  double inverse_growth_limit = 1e8;
  // Of the memory kind symmetric
  EmulatedDeviceOptions emulated = {};
  Launcher launcher = {};
  std::int64_t most_polls = 0;
};

inline constexpr WholeSubtrees small_subtrees{true, 60};

/// The plans of all ranks, each with its part of a factor and a device of its own.
template <class T>
struct DeviceRanks {
  DeviceRanks(std::shared_ptr<const Factor<T>> given, const Setting& setting, int seed = 1)
      : factor(std::move(given)), num_ranks(setting.shape.num_ranks()) {
    RankPlanOptions options;
    options.trees = setting.trees;
    options.memory = setting.memory;
    options.most_polls = setting.most_polls;
    options.plan.inverse_growth_limit = setting.inverse_growth_limit;
    const auto symbolic = factor->symbolic;
    std::shared_ptr<std::vector<LayerSystem>> systems;
    if (setting.shape.layers > 1) {
      auto cut = std::make_shared<const Layering>(cut_into_layers(*symbolic, setting.shape.layers));
      systems = std::make_shared<std::vector<LayerSystem>>(layer_systems(
          *symbolic, cut, setting.shape.method,
          {{setting.shape.grid, setting.shape.layers}, PlacementMap::block_cyclic, small_subtrees}));
      options.systems = systems;
    }
    const auto placement = std::make_shared<const Placement>(
        place(*symbolic, setting.shape.grid, PlacementMap::block_cyclic, small_subtrees));
    std::vector<std::shared_ptr<Device>> devices;
    for (index_t rank = 0; rank < num_ranks; ++rank)
      devices.push_back(
          make_emulated_device({.index = static_cast<int>(rank), .blocks = 1 + seed % 2, .threads = 32}));
    if (setting.memory == MemoryKind::symmetric)
      networks = make_emulated_networks(devices, setting.emulated, setting.launcher);
    for (index_t rank = 0; rank < num_ranks; ++rank) {
      options.device = devices[rank];
      if (!networks.empty()) options.network = networks[rank];
      if (!systems) {
        plans.emplace_back(std::make_shared<const RankFactor<T>>(rank_part(*factor, placement, rank)),
                           options);
        continue;
      }
      const LayerSystem& system = (*systems)[rank / setting.shape.grid.num_ranks()];
      options.layer = std::make_shared<const LayerSystem>(system);
      plans.emplace_back(std::make_shared<const RankFactor<T>>(
                             rank_part(*factor, system.symbolic, system.placement,
                                       rank % setting.shape.grid.num_ranks(), system.supernode)),
                         options);
    }
    SimulatedWorld world(num_ranks, order_of(seed));
    std::vector<RankProgram*> programs;
    for (index_t rank = 0; rank < num_ranks; ++rank)
      programs.push_back(plans[rank].preparation(world.rank(rank)));
    world.run(programs);
  }

  static SimulationOptions order_of(int seed) {
    SimulationOptions simulation;
    simulation.seed = static_cast<std::uint64_t>(seed);
    simulation.jitter = seed % 3 * 30.0;
    simulation.slow_ranks = 0.3;
    simulation.slowness = 100;
    simulation.idle_wakeups = 0.2;
    return simulation;
  }

  DenseMatrix<T> solve(Operation operation, const DenseMatrix<T>& b, int seed) {
    const bool plain = operation == Operation::plain;
    const auto& in = plain ? factor->symbolic->row : factor->symbolic->column;
    const auto& out = plain ? factor->symbolic->column : factor->symbolic->row;
    const auto& in_scale = plain ? factor->row_scale : factor->column_scale;
    const auto& out_scale = plain ? factor->column_scale : factor->row_scale;
    const auto scaled = [](const std::vector<double>& scale, T value, index_t row) {
      return scale.empty() ? value : value * static_cast<real_t<T>>(scale[row]);
    };
    SimulatedWorld world(num_ranks, order_of(seed));
    std::vector<DenseMatrix<T>> mine;
    std::vector<RankProgram*> programs;
    for (auto& plan : plans) {
      mine.emplace_back(static_cast<index_t>(plan.rows().size()), b.cols);
      for (index_t j = 0; j < b.cols; ++j)
        for (std::size_t k = 0; k < plan.rows().size(); ++k) {
          const index_t row = in.new_to_old()[plan.rows()[k]];
          mine.back().view()(static_cast<index_t>(k), j) = scaled(in_scale, b.view()(row, j), row);
        }
    }
    for (index_t rank = 0; rank < num_ranks; ++rank)
      programs.push_back(&plans[rank].begin(operation, std::as_const(mine[rank]).view(), mine[rank].view(),
                                            world.rank(rank)));
    if (networks.empty())
      traffic = world.run(programs).traffic;
    else
      run_in_turn(programs);
    DenseMatrix<T> x(b.rows, b.cols);
    for (index_t rank = 0; rank < num_ranks; ++rank)
      for (index_t j = 0; j < b.cols; ++j)
        for (std::size_t k = 0; k < plans[rank].rows().size(); ++k) {
          const index_t row = out.new_to_old()[plans[rank].rows()[k]];
          x.view()(row, j) = scaled(out_scale, mine[rank].view()(static_cast<index_t>(k), j), row);
        }
    return x;
  }

  /// No rank gets a message: each looks in turn whether the kernels have ended.
  static void run_in_turn(const std::vector<RankProgram*>& programs) {
    for (RankProgram* const one : programs) one->start();
    const auto all_done = [&] {
      return std::ranges::all_of(programs, [](const RankProgram* one) { return one->done(); });
    };
    for (int turns = 0; !all_done(); ++turns) {
      ASSERT_LT(turns, 4);
      for (auto one = programs.rbegin(); one != programs.rend(); ++one) (void)(*one)->run_one_task(0);
    }
  }

  CarriedCounts carried() const {
    CarriedCounts sum;
    for (const auto& plan : plans) sum = sum + plan.carried();
    return sum;
  }

  std::shared_ptr<const Factor<T>> factor;
  index_t num_ranks;
  std::vector<std::shared_ptr<DeviceNetwork>> networks;
  std::vector<RankSolvePlan<T>> plans;
  Traffic traffic;
};

/// Of devices in one process.
template <class T>
SolvePlan<T> in_one_process(const std::shared_ptr<const Factor<T>>& factor, const Shape& shape,
                            double inverse_growth_limit = 1e8) {
  PlanOptions options;
  options.world = make_emulated_world(static_cast<int>(shape.num_ranks()), {.blocks = 2, .threads = 32});
  options.of_world.grid = shape.grid;
  options.of_world.layers = shape.layers;
  options.of_world.layered_method = shape.method;
  options.of_world.subtrees = small_subtrees;
  options.inverse_growth_limit = inverse_growth_limit;
  return plan_solve(factor, options);
}

inline constexpr auto at_levels = LayeredMethod::baseline_3d;

class DeviceRankRuns : public OnEmulator {
 protected:
  static std::shared_ptr<const Factor<double>> small_factor(index_t side = 6) {
    const Wish wish{FactorKind::ldlt, false, side, 13};
    return naive_factor(make_problem<double>(wish), wish);
  }
};

template <class Thrown>
std::string text_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace palmette::reference
