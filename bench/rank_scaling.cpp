// How do factorization and solve scale over ranks? SIMULATED: the real rank programs under virtual time on a
// described machine; real arithmetic, so that the answer is checked. One JSON object for each number of ranks
// and layout (docs/results/rank_scaling.md).
//
//   bench_rank_scaling MACHINE PROBLEM GRID_SIDE RANKS,RANKS,…
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/machine_file.hpp"
#include "palmette/predict/predict.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

struct Case {
  const SparseMatrix<double>& matrix;
  std::shared_ptr<const SymbolicFactor> symbolic;
  const Ordering& ordering;
  std::shared_ptr<const Cluster> cluster;
};

double busy_share(const SimulationResult& result) {
  double busy = 0;
  for (const double seconds : result.busy_seconds) busy += seconds;
  return result.seconds > 0 ? busy / (result.seconds * static_cast<double>(result.busy_seconds.size())) : 1;
}

struct Factored {
  SimulationResult run;
  std::vector<std::shared_ptr<const RankFactor<double>>> parts;
};

Factored factorized(const Case& given, const std::shared_ptr<const Placement>& placement) {
  const index_t ranks = placement->num_ranks();
  SimulationOptions options;
  options.cluster = given.cluster;
  SimulatedWorld world(ranks, options);
  std::vector<RankFactorization<double>> parts;
  std::vector<RankProgram*> programs;
  for (index_t rank = 0; rank < ranks; ++rank)
    parts.emplace_back(RankSystem<double>{given.matrix, given.symbolic, placement, given.ordering},
                       RankFactorizeOptions{FactorKind::llt, 0, 1}, world.rank(rank));
  for (auto& part : parts) programs.push_back(&part.program());
  Factored result{world.run(programs), {}};
  for (auto& part : parts) result.parts.push_back(std::make_shared<const RankFactor<double>>(part.take()));
  return result;
}

/// The run, and the error against a solution of ones.
std::pair<double, SimulationResult> solved(const Case& given, const Factored& factor,
                                           const std::shared_ptr<const Placement>& placement) {
  const SymbolicFactor& symbolic = *given.symbolic;
  std::vector<double> b(given.matrix.rows(), 1.0);
  SimulationOptions options;
  options.cluster = given.cluster;
  RankPlanOptions planning;
  planning.max_rhs = 1;
  planning.structure = std::make_shared<const ExchangePlan>(symbolic, *placement, planning.trees);
  std::vector<RankSolvePlan<double>> plans;
  for (const auto& part : factor.parts) {
    options.read_gbs.push_back(given.cluster->rank_solve_gbs(
        placement->num_ranks(), static_cast<double>(part->owned.entries()) * sizeof(double)));
    plans.emplace_back(part, planning);
  }
  SimulatedWorld world(placement->num_ranks(), options);
  std::vector<std::vector<double>> mine;
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    std::vector<double>& own = mine.emplace_back(plans[rank].rows().size(), 1.0);
    const auto count = static_cast<index_t>(own.size());
    const DenseView<double> both{own.data(), count, 1, count};
    programs.push_back(
        &plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank))));
  }
  SimulationResult run = world.run(programs);
  // b − A·x, with x in the matrix's own order.
  std::vector<double> x(b.size());
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    for (std::size_t k = 0; k < mine[rank].size(); ++k)
      x[
          symbolic.column.new_to_old()[plans[rank].rows()[k]]] = mine[rank][k];
  const index_t n = given.matrix.rows();
  multiply_add<double>(given.matrix, Operation::plain, -1.0, {x.data(), n, 1, n}, {b.data(), n, 1, n});
  double error = 0, largest = 0;
  for (const double value : b) error = std::max(error, std::abs(value));
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return {error / (norm_infinity(given.matrix) * largest + 1), std::move(run)};
}

nlohmann::ordered_json row(const Case& given, const GridChoice& layout, const char* rule) {
  const index_t ranks = layout.grid.num_ranks();
  const auto placement = std::make_shared<const Placement>(
      place(*given.symbolic, layout.grid, layout.map, subtrees_for(*given.symbolic, ranks)));
  const Factored factor = factorized(given, placement);
  const auto [error, run] = solved(given, factor, placement);
  return {{"simulated", true},
          {"machine", given.cluster->name},
          {"n", given.matrix.rows()},
          {"factor_gflop", given.symbolic->flops_llt / 1e9},
          {"factor_entries", given.symbolic->nnz_factor},
          {"ranks", ranks},
          {"rule", rule},
          {"grid_rows", layout.grid.rows},
          {"grid_cols", layout.grid.cols},
          {"map", name_of(layout.map)},
          {"factor_s", factor.run.seconds},
          {"factor_busy", busy_share(factor.run)},
          {"factor_messages", factor.run.traffic.messages()},
          {"factor_megabytes", static_cast<double>(factor.run.traffic.bytes()) / 1e6},
          {"solve_s", run.seconds},
          {"solve_busy", busy_share(run)},
          {"solve_messages", run.traffic.messages()},
          {"solve_megabytes", static_cast<double>(run.traffic.bytes()) / 1e6},
          {"backward_error", error}};
}

void print(const nlohmann::ordered_json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s MACHINE PROBLEM GRID_SIDE RANKS,RANKS,...\n", argv[0]);
    return 2;
  }
  GenerateOptions problem;
  problem.problem = argv[2];
  problem.n = static_cast<index_t>(std::atoi(argv[3]));
  const SparseMatrix<double> matrix = generate(problem);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(matrix, how).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  const Case given{matrix, symbolic, ordering,
                   std::make_shared<const Cluster>(cli::known_machine("MACHINE", argv[1]).cluster)};
  const std::string list = argv[4];
  for (std::size_t at = 0; at < list.size(); at = std::min(list.find(',', at), list.size() - 1) + 1) {
    const auto ranks = static_cast<index_t>(std::atoi(list.c_str() + at));
    GridChoice square;
    square.grid = nearly_square_grid(ranks);
    print(row(given, square, "square"));
    const GridQuestion question{*symbolic,
                                ranks,
                                {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic},
                                subtrees_for(*symbolic, ranks),
                                TreeShape::binary,
                                1,
                                8};
    print(row(given, chosen_layout(question, *given.cluster), "predicted"));
  }
  return 0;
}
