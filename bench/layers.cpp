// What do layers of ranks bring to a solve? SIMULATED: the real rank programs under virtual time, with the rates named here (or given); real
// arithmetic with a factor made once. One JSON object for each number of ranks, layers and method (docs/results/ranks.md).
//
//   bench_layers poisson2d9|poisson3d7|... GRID_SIDE RANKS,RANKS,... LAYERS,LAYERS,... [LATENCY_S [BYTES_PER_S [READ_BYTES_PER_S [TASK_S [MAX_WIDTH]]]]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

struct Rates {
  double latency_seconds = 1.5e-6;
  double network_bytes_per_second = 8e9;
  double read_bytes_per_second = 20e9;  // of one core, its part of the factor being in its caches
  double task_seconds = 0.5e-6;
};

SimulationOptions simulation(const Rates& rates) {
  SimulationOptions options;
  options.network_seconds = [rates](index_t, index_t, std::size_t bytes) {
    return rates.latency_seconds + static_cast<double>(bytes) / rates.network_bytes_per_second;
  };
  options.seconds_per_cost = 4 / rates.read_bytes_per_second;  // 8 bytes for 2 flops
  options.task_overhead_seconds = rates.task_seconds;
  return options;
}

/// Small enough subtrees for so many ranks.
WholeSubtrees subtrees(const SymbolicFactor& symbolic, index_t ranks) {
  double entries = 0;
  for (const double one : sweep_entries(symbolic)) entries += one;
  return {true, std::clamp(entries / (4.0 * ranks), 64.0, 65536.0)};
}

struct Figures {
  SimulationResult result;
  double largest_difference = 0;  // from a solution of ones
};

/// All plans solve S·x = b, b such that x is all ones.
template <class Plan>
Figures solve(std::vector<Plan>& plans, const std::vector<double>& b, const Rates& rates) {
  SimulatedWorld world(static_cast<index_t>(plans.size()), simulation(rates));
  std::vector<std::vector<double>> mine(plans.size());
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    for (const index_t row : plans[rank].rows()) mine[rank].push_back(b[static_cast<std::size_t>(row)]);
    const auto count = static_cast<index_t>(mine[rank].size());
    const DenseView<double> both{mine[rank].data(), count, 1, count};
    programs.push_back(&plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank))));
  }
  Figures figures{world.run(programs), 0};
  for (const std::vector<double>& part : mine)
    for (const double value : part) figures.largest_difference = std::max(figures.largest_difference, std::abs(value - 1));
  return figures;
}

RankPlanOptions plan_options(TreeShape trees) {
  RankPlanOptions options;
  options.trees = trees;
  options.most_sides = 1;
  return options;
}

nlohmann::ordered_json row_of(const Figures& figures, const LayeredGrid& ranks, std::string_view method, TreeShape trees) {
  double busy = 0, most = 0;
  for (const double seconds : figures.result.busy_seconds) busy += seconds, most = std::max(most, seconds);
  return {{"simulated", true},
          {"method", method},
          {"trees", name_of(trees)},
          {"ranks", ranks.num_ranks()},
          {"grid_rows", ranks.grid.rows},
          {"grid_cols", ranks.grid.cols},
          {"layers", ranks.layers},
          {"solve_s", figures.result.seconds},
          {"busy_mean_s", busy / ranks.num_ranks()},
          {"busy_most_s", most},
          {"messages", figures.result.traffic.messages()},
          {"megabytes", static_cast<double>(figures.result.traffic.bytes()) / 1e6},
          {"largest_difference", figures.largest_difference}};
}

nlohmann::ordered_json flat_row(const Factor<double>& factor, const std::vector<double>& b, index_t ranks, TreeShape trees, const Rates& rates) {
  const LayeredGrid grid{nearly_square_grid(ranks), 1};
  const auto placement =
      std::make_shared<const Placement>(place(*factor.symbolic, grid.grid, PlacementMap::block_cyclic, subtrees(*factor.symbolic, ranks)));
  std::vector<RankSolvePlan<double>> plans;
  for (index_t rank = 0; rank < ranks; ++rank)
    plans.emplace_back(std::make_shared<const RankFactor<double>>(rank_part(factor, placement, rank)), plan_options(trees));
  return row_of(solve(plans, b, rates), grid, "2d", trees);
}

nlohmann::ordered_json layered_row(const Factor<double>& factor, const std::vector<double>& b, const LayeredGrid& ranks, LayeredMethod method,
                                   TreeShape trees, const Rates& rates) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  const auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, ranks.layers));
  const std::vector<LayerSystem> systems =
      layer_systems(symbolic, cut, method, {ranks, PlacementMap::block_cyclic, subtrees(symbolic, ranks.num_ranks())});
  std::vector<LayeredSolvePlan<double>> plans;
  for (const LayerSystem& system : systems) {
    const auto shared = std::make_shared<const LayerSystem>(system);
    for (index_t rank = 0; rank < ranks.grid.num_ranks(); ++rank)
      plans.emplace_back(std::make_shared<const RankFactor<double>>(rank_part(factor, system.symbolic, system.placement, rank, system.supernode)),
                         shared, plan_options(trees));
  }
  nlohmann::ordered_json found = row_of(solve(plans, b, rates), ranks, name_of(method), trees);
  const LayeredTraffic traffic = predicted_layered_traffic(systems, trees, sizeof(double));
  const Replication held = replication_of(symbolic, *cut, method);
  found["messages_between_layers"] = traffic.between.messages();
  found["megabytes_between_layers"] = static_cast<double>(traffic.between.bytes()) / 1e6;
  found["synchronizations"] = layer_synchronizations(*cut, method);
  found["replicated_share"] = static_cast<double>(held.extra_entries()) / static_cast<double>(held.factor_entries);
  return found;
}

std::vector<index_t> numbers(const std::string& text) {
  std::vector<index_t> result;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find(',', at), text.size() - 1) + 1) result.push_back(static_cast<index_t>(std::atoi(text.c_str() + at)));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s PROBLEM GRID_SIDE RANKS,... LAYERS,... [LATENCY_S [BYTES_PER_S [READ_BYTES_PER_S [TASK_S [MAX_WIDTH]]]]]\n", argv[0]);
    return 2;
  }
  GenerateOptions problem;
  problem.problem = argv[1];
  problem.n = static_cast<index_t>(std::atoi(argv[2]));
  const SparseMatrix<double> matrix = generate(problem);
  Rates rates;
  double* const given[] = {&rates.latency_seconds, &rates.network_bytes_per_second, &rates.read_bytes_per_second, &rates.task_seconds};
  for (int at = 5; at < std::min(argc, 9); ++at) *given[at - 5] = std::atof(argv[at]);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(matrix, how).value();
  AnalyzeOptions analyze_options;
  analyze_options.max_width = argc > 9 ? static_cast<index_t>(std::atoi(argv[9])) : 64;
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering, analyze_options));
  FactorizeOptions options;
  options.kind = FactorKind::llt;
  const Factor<double> factor = factorize(matrix, symbolic, ordering, options).value();
  // b = S·1, permuted.
  std::vector<double> b(static_cast<std::size_t>(matrix.rows()));
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1]; ++entry)
      b[static_cast<std::size_t>(symbolic->row.old_to_new()[static_cast<std::size_t>(matrix.pattern.row_index[entry])])] += matrix.values[entry];
  for (const index_t ranks : numbers(argv[3])) {
    for (const TreeShape trees : {TreeShape::binary, TreeShape::flat})
      std::printf("%s\n", flat_row(factor, b, ranks, trees, rates).dump().c_str()), std::fflush(stdout);
    for (const index_t layers : numbers(argv[4])) {
      if (ranks % layers != 0) continue;
      const LayeredGrid grid{nearly_square_grid(ranks / layers), layers};
      for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
        for (const TreeShape trees : {TreeShape::binary, TreeShape::flat})
          std::printf("%s\n", layered_row(factor, b, grid, method, trees, rates).dump().c_str()), std::fflush(stdout);
    }
  }
  return 0;
}
