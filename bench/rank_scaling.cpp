// How do factorization and solve scale over ranks? SIMULATED: the real rank programs under virtual time, with the rates named here; real
// arithmetic, so that the answer is checked. One JSON object for each number of ranks (docs/results/ranks.md).
//
//   bench_rank_scaling poisson2d9|poisson3d7 GRID_SIDE [MOST_RANKS [LEAST_RANKS]]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

// A core of a cluster's node, its share of the memory's bandwidth, and a network as clusters have it.
constexpr double factor_flops_per_second = 10e9;
constexpr double solve_bytes_per_second = 10e9;
constexpr double latency_seconds = 1.5e-6;
constexpr double network_bytes_per_second = 10e9;
constexpr double task_seconds = 0.3e-6;

SimulationOptions simulation(double seconds_per_flop) {
  SimulationOptions options;
  options.network_seconds = [](index_t, index_t, std::size_t bytes) { return latency_seconds + static_cast<double>(bytes) / network_bytes_per_second; };
  options.seconds_per_cost = seconds_per_flop;
  options.task_overhead_seconds = task_seconds;
  return options;
}

struct Case {
  const SparseMatrix<double>& matrix;
  std::shared_ptr<const SymbolicFactor> symbolic;
  const Ordering& ordering;
};

double busy_share(const SimulationResult& result) {
  double busy = 0;
  for (const double seconds : result.busy_seconds) busy += seconds;
  return result.seconds > 0 ? busy / (result.seconds * static_cast<double>(result.busy_seconds.size())) : 1;
}

/// Small enough subtrees for so many ranks; up to 16 ranks the usual ones, so that bits are those of one rank.
WholeSubtrees subtrees(const SymbolicFactor& symbolic, index_t ranks) {
  double entries = 0;
  for (const double one : sweep_entries(symbolic)) entries += one;
  return {true, ranks <= 16 ? 0 : std::max(64.0, entries / (4.0 * ranks))};
}

nlohmann::ordered_json row(const Case& given, index_t ranks, PlacementMap map) {
  const auto placement = std::make_shared<const Placement>(place(*given.symbolic, nearly_square_grid(ranks), map, subtrees(*given.symbolic, ranks)));
  std::vector<RankSolvePlan<double>> plans;
  SimulationResult factorized;
  {
    SimulatedWorld world(ranks, simulation(1 / factor_flops_per_second));
    std::vector<RankFactorization<double>> parts;
    std::vector<RankProgram*> programs;
    for (index_t rank = 0; rank < ranks; ++rank)
      parts.emplace_back(RankSystem<double>{given.matrix, given.symbolic, placement, given.ordering}, RankFactorizeOptions{FactorKind::llt, 0, 1}, world.rank(rank));
    for (auto& part : parts) programs.push_back(&part.program());
    factorized = world.run(programs);
    RankPlanOptions options;
    options.most_sides = 1;
    for (auto& part : parts) plans.emplace_back(std::make_shared<const RankFactor<double>>(part.take()), options);
  }
  // 8 bytes for 2 flops.
  SimulatedWorld world(ranks, simulation(4 / solve_bytes_per_second));
  std::vector<std::vector<double>> mine(plans.size());
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    mine[rank].assign(plans[rank].rows().size(), 1.0);
    const auto count = static_cast<index_t>(mine[rank].size());
    const DenseView<double> both{mine[rank].data(), count, 1, count};
    programs.push_back(&plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank))));
  }
  const Stopwatch watch;
  const SimulationResult solved = world.run(programs);
  return {{"simulated", true},
          {"n", given.matrix.rows()},
          {"factor_gflop", given.symbolic->flops_llt / 1e9},
          {"factor_entries", given.symbolic->nnz_factor},
          {"ranks", ranks},
          {"map", name_of(map)},
          {"factor_s", factorized.seconds},
          {"factor_busy", busy_share(factorized)},
          {"factor_messages", factorized.traffic.messages()},
          {"solve_s", solved.seconds},
          {"solve_busy", busy_share(solved)},
          {"solve_messages", solved.traffic.messages()},
          {"solve_megabytes", static_cast<double>(solved.traffic.bytes()) / 1e6},
          {"solve_events_per_second", static_cast<double>(solved.events) / watch.seconds()}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PROBLEM GRID_SIDE [MOST_RANKS [LEAST_RANKS]]\n", argv[0]);
    return 2;
  }
  GenerateOptions problem;
  problem.problem = argv[1];
  problem.n = static_cast<index_t>(std::atoi(argv[2]));
  const SparseMatrix<double> matrix = generate(problem);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(matrix, how).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  const index_t most = argc > 3 ? static_cast<index_t>(std::atoi(argv[3])) : 256;
  const index_t least = argc > 4 ? static_cast<index_t>(std::atoi(argv[4])) : 1;
  for (index_t ranks = 1; ranks <= most; ranks *= ranks < 4 ? 2 : 4)
    for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube}) {
      if (ranks < least) continue;
      nlohmann::ordered_json found = row({matrix, symbolic, ordering}, ranks, map);
      std::printf("%s\n", found.dump().c_str());
      std::fflush(stdout);
    }
  return 0;
}
