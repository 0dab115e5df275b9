// Run by mpiexec with any number of processes: factorization and solve over each MPI transport must give the
// same bits as one rank. One line for each case on rank 0; exit status 1 if any value differs.
#include <cstdio>

#include "palmette/solver/solver.hpp"
#include "tests/oracle/mpi/mpi_solve_testing.hpp"

namespace palmette {
namespace {

using namespace testing;

/// One transport for each kind of run, since a one-sided transport is created for the messages of its run.
struct Exchange {
  Begin factorize, solve;
};

/// This rank's rows of x, and which they are.
struct Answer {
  std::vector<index_t> rows;
  std::vector<double> x;
};

Answer answer(const Problem<double>& problem, FactorKind kind,
              const std::shared_ptr<const Placement>& placement, const Exchange& exchange) {
  Transport& blocks = exchange.factorize();
  RankFactorization<double> part({problem.matrix, problem.symbolic, placement, problem.ordering},
                                 {kind, 0, 1}, blocks);
  drive_together(part.program(), blocks);
  RankSolvePlan<double> plan(std::make_shared<const RankFactor<double>>(part.take()), plan_options());
  Answer result{{plan.rows().begin(), plan.rows().end()}, {}};
  for (int time = 0; time < 2; ++time) result.x = solved(plan, exchange.solve);
  return result;
}

bool run_all(int world) {
  const auto two_sided = make_mpi_two_sided(world);
  const index_t ranks = two_sided->num_ranks();
  bool good = true;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem = narrow_problem(kind, 1.5);
    const auto alone = make_loopback();
    const auto one = std::make_shared<const Placement>(
        place(*problem.symbolic, {1, 1}, PlacementMap::block_cyclic, {true, 200}));
    const Answer expected = answer(problem, kind, one, {begin_with(*alone), begin_with(*alone)});
    for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube}) {
      const auto placement = std::make_shared<const Placement>(
          place(*problem.symbolic, nearly_square_grid(ranks), map, {true, 200}));
      const auto judge = [&](const char* name, const Answer& mine) {
        const double wrong = two_sided->sum(values_that_differ(mine.rows, mine.x, expected.x));
        if (two_sided->rank() == 0)
          std::printf("%-18s %-5s %-20s %s\n", name, name_of(kind).data(), name_of(map).data(),
                      wrong == 0 ? "bits as on one rank" : "WRONG BITS");
        good = good && wrong == 0;
      };
      judge("mpi_two_sided",
            answer(problem, kind, placement, {begin_with(*two_sided), begin_with(*two_sided)}));
      const TransportPlan factorize =
          transport_plan(predicted_fan_out_traffic(*problem.symbolic, *placement, kind, sizeof(double)));
      const TransportPlan solve = transport_plan(
          predicted_solve_traffic(*problem.symbolic, *placement, TreeShape::binary,
                                  padded_rhs(sizeof(double), num_rhs) * offset_t{sizeof(double)}));
      for (const Publication publication : {Publication::checksum, Publication::counter}) {
        MpiOneSided blocks(world, factorize, publication), vectors(world, solve, publication);
        judge(publication == Publication::checksum ? "mpi_rma checksum" : "mpi_rma counter",
              answer(problem, kind, placement, {begin_with(blocks), begin_with(vectors)}));
      }
    }
  }
  return two_sided->agree(good ? 0 : 1) == 0;
}

/// x of the whole hall, the same on all ranks.
std::vector<double> hall(const std::shared_ptr<const SparseMatrix<double>>& matrix, FactorKind kind,
                         Transport& transport, const MpiExchange* mpi, BlockDelivery delivery, bool& good) {
  RankSolverOptions options;
  options.delivery = delivery;
  options.kind = kind;
  options.whole = {true, 200};
  options.watchdog_seconds = watchdog_seconds;
  if (mpi != nullptr) options.planned = mpi->planned;
  Outcome<RankSolver<double>> solver = RankSolver<double>::create(matrix, options, transport);
  DenseMatrix<double> x(matrix->rows(), num_rhs);
  for (std::size_t at = 0; at < x.values.size(); ++at) x.values[at] = static_cast<double>(at * 7 % 11) - 5;
  for (int time = 0; time < 2; ++time) {
    const Outcome<RankReport> report = solver.value().solve(std::as_const(x).view(), x.view());
    good = good && report && report.value().run.verify->backward_error <= 1e-14;
  }
  return x.values;
}

bool run_hall(int world) {
  bool good = true;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const auto matrix = std::make_shared<const SparseMatrix<double>>(
        random_sparse<double>(flavour_of(kind), unknowns, 1.5, 3));
    const auto alone = make_loopback();
    const std::vector<double> expected = hall(matrix, kind, *alone, nullptr, BlockDelivery::push, good);
    for (const MpiExchangeInfo& info : mpi_exchange_list) {
      const std::string name(info.name);
      const MpiExchange mpi = make_mpi_exchange(world, name);
      for (const BlockDelivery delivery : {BlockDelivery::push, BlockDelivery::pull}) {
        const std::vector<double> x = hall(matrix, kind, *mpi.transport, &mpi, delivery, good);
        good = good && x == expected && mpi.name == name;
        if (mpi.transport->rank() == 0)
          std::printf("hall %-15s %-5s %s %s\n", mpi.name.c_str(), name_of(kind).data(),
                      name_of(delivery).data(), good ? "bits as on one rank" : "WRONG");
      }
    }
  }
  return make_mpi_two_sided(world)->agree(good ? 0 : 1) == 0;
}

}  // namespace
}  // namespace palmette

int main() {
  palmette::MpiSession session;
  const bool good = palmette::run_all(session.world());
  return palmette::run_hall(session.world()) && good ? 0 : 1;
}
