// Run by mpiexec with any number of processes: factorization, hand-over and solves over layers of MPI ranks
// must give the same bits as layers of one simulated rank each. One line for each case on rank 0; exit status
// 1 if any value differs.
#include <cstdio>

#include "tests/oracle/mpi/mpi_solve_testing.hpp"

namespace palmette {
namespace {

using namespace testing;

struct Case {
  const Problem<double>& problem;
  FactorKind kind;
  LayeredGrid ranks;
  LayeredMethod method;
  std::vector<LayerSystem> systems;
};

Case make_case(const Problem<double>& problem, FactorKind kind, const LayeredGrid& ranks,
               LayeredMethod method) {
  auto cut = std::make_shared<const Layering>(cut_into_layers(*problem.symbolic, ranks.layers));
  return {problem, kind, ranks, method,
          layer_systems(*problem.symbolic, std::move(cut), method,
                        {ranks, PlacementMap::subtree_to_subcube, {true, 200}})};
}

/// x by rows and right-hand sides, from one simulated rank for each layer.
std::vector<double> expected_answer(const Case& given) {
  const Factor<double> factor = given.problem.factored(given.kind).value();
  const Case alone = make_case(given.problem, given.kind, {{1, 1}, given.ranks.layers}, given.method);
  std::vector<RankSolvePlan<double>> plans;
  RankPlanOptions options = plan_options();
  for (const LayerSystem& system : alone.systems) {
    options.layer = std::make_shared<const LayerSystem>(system);
    plans.emplace_back(std::make_shared<const RankFactor<double>>(
                           rank_part(factor, system.symbolic, system.placement, 0, system.supernode)),
                       options);
  }
  SimulatedWorld world(given.ranks.layers, {});
  std::vector<std::vector<double>> mine(plans.size());
  std::vector<RankProgram*> programs;
  for (std::size_t layer = 0; layer < plans.size(); ++layer) {
    for (index_t rhs = 0; rhs < num_rhs; ++rhs)
      for (const index_t row : plans[layer].rows()) mine[layer].push_back(right_hand_side(row, rhs));
    const auto count = static_cast<index_t>(plans[layer].rows().size());
    const DenseView<double> both{mine[layer].data(), count, num_rhs, count};
    programs.push_back(
        &plans[layer].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(layer))));
  }
  world.run(programs);
  std::vector<double> x(unknowns * num_rhs);
  for (std::size_t layer = 0; layer < plans.size(); ++layer) {
    const auto rows = plans[layer].rows();
    for (index_t rhs = 0; rhs < num_rhs; ++rhs)
      for (std::size_t k = 0; k < rows.size(); ++k)
        x[rows[k] + rhs * unknowns] = mine[layer][k + static_cast<std::size_t>(rhs) * rows.size()];
  }
  return x;
}

/// Transports of the three kinds of run, each created for the messages of its run.
struct Exchange {
  Begin factorize, hand, solve;
};

/// Values of this rank that differ.
double wrong_values(const Case& given, const std::shared_ptr<const Placement>& placement,
                    const Exchange& exchange, const std::vector<double>& expected) {
  Transport& blocks = exchange.factorize();
  const LayerSystem& system =
      given.systems[blocks.rank() / given.ranks.grid.num_ranks()];
  const auto shared = std::make_shared<const LayerSystem>(system);
  RankFactorization<double> part(
      {given.problem.matrix, given.problem.symbolic, placement, given.problem.ordering}, {given.kind, 0, 1},
      blocks);
  drive_together(part.program(), blocks);
  Transport& hands = exchange.hand();
  LayerFactorHanding<double> handing(part.take(), shared, hands);
  drive_together(handing.program(), hands);
  RankPlanOptions options = plan_options();
  options.layer = shared;
  RankSolvePlan<double> plan(std::make_shared<const RankFactor<double>>(handing.take()), options);
  double wrong = 0;
  for (int time = 0; time < 2; ++time)
    wrong += values_that_differ(plan.rows(), solved(plan, exchange.solve), expected);
  return wrong;
}

bool run_case(int world, Transport& two_sided, const Case& given) {
  const auto placement =
      std::make_shared<const Placement>(layered_placement(*given.problem.symbolic, given.systems));
  const std::vector<double> expected = expected_answer(given);
  bool good = true;
  const auto judge = [&](const char* name, double wrong) {
    wrong = two_sided.sum(wrong);
    if (two_sided.rank() == 0)
      std::printf("%-18s %-5s %-12s %d x %d x %d %s\n", name, name_of(given.kind).data(),
                  name_of(solve_method(2, given.method)).data(), given.ranks.grid.rows, given.ranks.grid.cols,
                  given.ranks.layers, wrong == 0 ? "bits as on one rank for each layer" : "WRONG BITS");
    good = good && wrong == 0;
  };
  const Begin messages = begin_with(two_sided);
  judge("mpi_two_sided", wrong_values(given, placement, {messages, messages, messages}, expected));
  const SymbolicFactor& symbolic = *given.problem.symbolic;
  MpiOneSided blocks(
      world, transport_plan(predicted_fan_out_traffic(symbolic, *placement, given.kind, sizeof(double))),
      Publication::checksum);
  MpiOneSided hands(world,
                    transport_plan(predicted_handing_traffic(symbolic, *placement, given.systems[0],
                                                             given.kind, sizeof(double))),
                    Publication::checksum);
  const offset_t row_bytes = padded_rhs(sizeof(double), num_rhs) * offset_t{sizeof(double)};
  MpiOneSided vectors(
      world, transport_plan(predicted_layered_traffic(given.systems, TreeShape::binary, row_bytes).all()),
      Publication::checksum);
  judge(
      "mpi_rma checksum",
      wrong_values(given, placement, {begin_with(blocks), begin_with(hands), begin_with(vectors)}, expected));
  return good;
}

bool run_all(int world) {
  const auto two_sided = make_mpi_two_sided(world);
  const index_t ranks = two_sided->num_ranks();
  bool good = true;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem = narrow_problem(kind, 1.2);
    for (index_t layers = 1; layers <= ranks; ++layers)
      for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
        if (ranks % layers == 0)
          good = run_case(world, *two_sided,
                          make_case(problem, kind, {nearly_square_grid(ranks / layers), layers}, method)) &&
                 good;
  }
  return two_sided->agree(good ? 0 : 1) == 0;
}

}  // namespace
}  // namespace palmette

int main() {
  palmette::MpiSession session;
  return palmette::run_all(session.world()) ? 0 : 1;
}
