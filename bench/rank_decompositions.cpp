// What do process grids do to a solve with the two extreme triangles of papers/002 §7.2: dense 1200 and bidiagonal 1000, in 1 × 1
// blocks? SIMULATED: the real rank programs under virtual time. For each grid the time of a solve (both sweeps), the time were
// arithmetic free (communication), and the messages. One JSON object for each grid (docs/results/reproduction.md).
//
//   bench_rank_decompositions [MOST_RANKS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

// A core of Cori's KNL nodes and its Aries network (papers/002 §7): estimates, as data/machines says.
constexpr double core_bytes_per_second = 1.2e9;
constexpr double task_seconds = 1e-6;
constexpr double latency_seconds = 3.5e-6;
constexpr double network_bytes_per_second = 8e9;

struct Triangle {
  std::string name;
  std::shared_ptr<const SymbolicFactor> symbolic;
};

Triangle triangle(const std::string& name, index_t n, bool dense) {
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = dense ? 0 : std::max<index_t>(0, column - 1); row < (dense ? n : std::min(n, column + 2)); ++row)
      entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(1);
  Ordering natural;
  natural.row = natural.column = Permutation::identity(n);
  AnalyzeOptions single;
  single.max_width = 1;
  single.relax = false;
  return {name, std::make_shared<const SymbolicFactor>(analyze(from_triplets(entries, Symmetry::symmetric).pattern, natural, single))};
}

/// A rank's part of a triangle with ones on the diagonal: the values do not matter to time.
std::shared_ptr<const RankFactor<double>> part(const Triangle& one, const std::shared_ptr<const Placement>& placement, index_t rank) {
  auto factor = std::make_shared<RankFactor<double>>();
  factor->symbolic = one.symbolic;
  factor->placement = placement;
  factor->owned = owned_blocks(*one.symbolic, *placement, rank);
  factor->lower = PanelArray<double>(factor->owned.entries());
  for (index_t p = 0; p < factor->owned.num_panels(); ++p)
    if (factor->owned.owns_diagonal[static_cast<std::size_t>(p)] != 0) *factor->rows_of(factor->lower, p, 0, 1).column(0) = 1;
  return factor;
}

std::vector<RankSolvePlan<double>> plans(const Triangle& one, ProcessGrid grid, TreeShape trees) {
  const auto placement = std::make_shared<const Placement>(place(*one.symbolic, grid, PlacementMap::block_cyclic, {false}));
  RankPlanOptions options;
  options.trees = trees;
  options.most_sides = 1;
  std::vector<RankSolvePlan<double>> result;
  for (index_t rank = 0; rank < grid.num_ranks(); ++rank) result.emplace_back(part(one, placement, rank), options);
  return result;
}

SimulationResult simulate(std::vector<RankSolvePlan<double>>& plans, bool arithmetic) {
  SimulationOptions options;
  options.network_seconds = [](index_t, index_t, std::size_t bytes) { return latency_seconds + static_cast<double>(bytes) / network_bytes_per_second; };
  options.seconds_per_cost = arithmetic ? 4 / core_bytes_per_second : 0;  // 8 bytes for 2 flops
  options.task_overhead_seconds = arithmetic ? task_seconds : 0;
  SimulatedWorld world(static_cast<index_t>(plans.size()), options);
  std::vector<std::vector<double>> mine(plans.size());
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    mine[rank].assign(plans[rank].rows().size(), 1.0);
    const auto rows = static_cast<index_t>(mine[rank].size());
    const DenseView<double> both{mine[rank].data(), rows, 1, rows};
    programs.push_back(&plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank))));
  }
  return world.run(programs);
}

void print_row(const Triangle& one, ProcessGrid grid, TreeShape trees) {
  std::vector<RankSolvePlan<double>> ranks = plans(one, grid, trees);
  const SimulationResult whole = simulate(ranks, true), communication = simulate(ranks, false);
  const nlohmann::ordered_json row{{"simulated", true},
                                   {"triangle", one.name},
                                   {"grid_rows", grid.rows},
                                   {"grid_cols", grid.cols},
                                   {"trees", name_of(trees)},
                                   {"seconds", whole.seconds},
                                   {"communication_seconds", communication.seconds},
                                   {"messages", whole.traffic.messages()}};
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
