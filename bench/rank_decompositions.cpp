// What do process grids do to a solve with the two extreme triangles of [Ding et al. 2020], §7.2: dense 1200
// and bidiagonal 1000, in 1 × 1 blocks? SIMULATED: the real rank programs under virtual time. For each grid:
// the time of a solve (both sweeps), its time if arithmetic were free (communication), the messages, and the
// paper's model (§6) of computation and communication. One JSON object for each grid
// (docs/results/reproduction.md).
//
//   bench_rank_decompositions [MOST_RANKS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/predict/predict.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

// A core of Cori's KNL nodes and its Aries network: as in data/machines/cori-knl.json, but all ranks on nodes
// of their own.
Cluster knl() {
  Cluster cluster;
  cluster.name = "cori-knl";
  cluster.memory_gbs = {{1, 1.2}};
  cluster.kernel_gflops = {{1, 1.2}};
  cluster.overheads.task_us = 1;
  cluster.links = {{"network", 0, {3.5, 8, 0, 0}, 0}};
  return cluster;
}

struct Triangle {
  std::string name;
  std::shared_ptr<const SymbolicFactor> symbolic;
};

Triangle triangle(const std::string& name, index_t n, bool dense) {
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = dense ? 0 : std::max<index_t>(0, column - 1);
         row < (dense ? n : std::min(n, column + 2)); ++row)
      entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(1);
  Ordering natural;
  natural.row = natural.column = Permutation::identity(n);
  AnalyzeOptions single;
  single.max_width = 1;
  single.relax = false;
  return {name, std::make_shared<const SymbolicFactor>(
                    analyze(from_triplets(entries, Symmetry::symmetric).pattern, natural, single))};
}

/// A rank's part of a triangle with ones on the diagonal: the values do not matter to time.
std::shared_ptr<const RankFactor<double>> part(const Triangle& one,
                                               const std::shared_ptr<const Placement>& placement,
                                               index_t rank) {
  auto factor = std::make_shared<RankFactor<double>>();
  factor->symbolic = one.symbolic;
  factor->placement = placement;
  factor->owned = owned_blocks(*one.symbolic, *placement, rank);
  factor->lower = PanelArray<double>(factor->owned.entries());
  for (index_t p = 0; p < factor->owned.num_panels(); ++p)
    if (factor->owned.owns_diagonal[p] != 0)
      *factor->rows_of(factor->lower, p, 0, 1).column(0) = 1;
  return factor;
}

std::vector<RankSolvePlan<double>> plans(const Triangle& one,
                                         const std::shared_ptr<const Placement>& placement, TreeShape trees) {
  RankPlanOptions options;
  options.trees = trees;
  options.max_rhs = 1;
  std::vector<RankSolvePlan<double>> result;
  for (index_t rank = 0; rank < placement->num_ranks(); ++rank)
    result.emplace_back(part(one, placement, rank), options);
  return result;
}

SimulationResult simulate(std::vector<RankSolvePlan<double>>& plans, const Cluster& cluster,
                          bool arithmetic) {
  SimulationOptions options;
  options.network_seconds = [&](index_t source, index_t destination, std::size_t bytes) {
    return cluster.link(source, destination).seconds(bytes);
  };
  options.seconds_per_cost = arithmetic ? 4e-9 / cluster.rank_memory_gbs(1) : 0;  // 8 bytes for 2 flops
  options.task_overhead_seconds = arithmetic ? cluster.overheads.task_us * 1e-6 : 0;
  SimulatedWorld world(static_cast<index_t>(plans.size()), options);
  std::vector<std::vector<double>> mine(plans.size());
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    mine[rank].assign(plans[rank].rows().size(), 1.0);
    const auto rows = static_cast<index_t>(mine[rank].size());
    const DenseView<double> both{mine[rank].data(), rows, 1, rows};
    programs.push_back(
        &plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank))));
  }
  return world.run(programs);
}

void print_row(const Triangle& one, ProcessGrid grid, TreeShape trees) {
  const Cluster cluster = knl();
  const auto placement =
      std::make_shared<const Placement>(place(*one.symbolic, grid, PlacementMap::block_cyclic, {false}));
  std::vector<RankSolvePlan<double>> ranks = plans(one, placement, trees);
  const SimulationResult whole = simulate(ranks, cluster, true),
                         communication = simulate(ranks, cluster, false);
  const PathModel model = path_model({*one.symbolic, *placement}, cluster);
  const nlohmann::ordered_json row{
      {"simulated", true},
      {"triangle", one.name},
      {"grid_rows", grid.rows},
      {"grid_cols", grid.cols},
      {"trees", name_of(trees)},
      {"seconds", whole.seconds},
      {"communication_seconds", communication.seconds},
      {"messages", whole.traffic.messages()},
      {"model_compute_lower", model.compute_lower_seconds},
      {"model_compute_upper", model.compute_upper_seconds},
      {"model_communication",
       trees == TreeShape::binary ? model.communication_binary_seconds : model.communication_flat_seconds},
      {"model_path_blocks", model.path.size()}};
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const index_t most = argc > 1 ? static_cast<index_t>(std::atoi(argv[1])) : 64;
  for (const Triangle& one : {triangle("dense1200", 1200, true), triangle("bidiagonal1000", 1000, false)})
    for (const TreeShape trees : {TreeShape::binary, TreeShape::flat})
      for (const index_t root : {1, 2, 3, 4, 8}) {
        if (root * root > most) continue;
        print_row(one, {root * root, 1}, trees);
        if (root == 1) continue;
        print_row(one, {1, root * root}, trees);
        print_row(one, {root, root}, trees);
      }
  return 0;
}
