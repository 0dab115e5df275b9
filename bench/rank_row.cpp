// How fast is Palmette over ranks compared with other solvers? One matrix, one row, by mpiexec: rank 0
// prints a JSON object with the names that the other solvers' drivers use (docs/results/ranks.md).
//
//   mpiexec -n P bench_rank_row MATRIX.mtx [RxC] [block_cyclic|subtree_to_subcube] [binary|flat] [TRANSPORT]
//   [push|pull] [ratios]
//
// Seconds are medians of warm repeats without refinement; a solve includes bringing x to every rank. With
// `ratios` also recorded, unwatched, checked, mpi_rma, mpi_rma_counter: a solve through a recorder, without
// watchdog, with checksums, through one-sided queues, each divided by a plain solve; the median of ratios of
// solves next to each other in time.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>

#include <nlohmann/json.hpp>

#include "bench/median.hpp"
#include "bench/real_systems.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;
using bench::median;
using benchmarks::Matrix;
using benchmarks::right_hand_sides;

RankSolver<double> made(const Matrix& matrix, const RankSolverOptions& options, Transport& transport) {
  Outcome<RankSolver<double>> outcome = RankSolver<double>::create(matrix, options, transport);
  if (!outcome) throw NumericalError(outcome.failure());
  return std::move(outcome.value());
}

RankReport solved(RankSolver<double>& solver, const DenseMatrix<double>& b) {
  DenseMatrix<double> x(b.rows, b.cols);
  SolveRequest plain;
  plain.max_refine_steps = 0;
  Outcome<RankReport> report = solver.solve(b.view(), x.view(), plain);
  if (!report) throw NumericalError(report.failure());
  return std::move(report.value());
}

struct Wanted {
  RankSolverOptions options;
  std::string transport{mpi_exchange_list[0].name};
  bool ratios = false;
};

/// Options in any order, recognized by their text.
Wanted wanted(std::span<char*> arguments) {
  Wanted all;
  for (const std::string argument : arguments) {
    const auto is_among = [&](const auto& choices) {
      return std::any_of(std::begin(choices), std::end(choices),
                         [&](const auto& choice) { return name_of(choice) == argument; });
    };
    int rows = 0, cols = 0;
    if (argument == "ratios") all.ratios = true;
    else if (is_among(block_deliveries)) all.options.delivery = delivery(argument);
    else if (is_among(tree_shapes)) all.options.trees = tree_shape(argument);
    else if (is_among(mpi_exchange_list)) all.transport = argument;
    else if (std::sscanf(argument.c_str(), "%dx%d", &rows, &cols) == 2) all.options.grid = {rows, cols};
    else all.options.map = placement_map(argument);
  }
  return all;
}

/// The processes of one run, and the system that they solve.
struct Bench {
  Matrix matrix;
  int world;
  MpiExchange exchange;
  RankSolverOptions options;

  nlohmann::ordered_json times() {
    std::vector<double> factor, one, fifty;
    RankReport report;
    for (int time = 0; time < 3; ++time) {
      RankSolver<double> solver = made(matrix, options, *exchange.transport);
      const DenseMatrix<double> b = right_hand_sides(*matrix, 1), many = right_hand_sides(*matrix, 50);
      for (int again = 0; again < 7; ++again)
        report = solved(solver, b), one.push_back(report.run.solve->seconds);
      for (int again = 0; again < 3; ++again) fifty.push_back(solved(solver, many).run.solve->seconds);
      factor.push_back(report.run.factorize->seconds);
    }
    return {{"ranks", exchange.transport->num_ranks()},
            {"grid", std::to_string(report.grid.rows) + "x" + std::to_string(report.grid.cols)},
            {"map", name_of(report.map)},
            {"trees", name_of(report.trees)},
            {"transport", exchange.name},
            {"delivery", name_of(report.delivery)},
            {"factor_s", median(factor)},
            {"solve1_s", median(one)},
            {"solve50_s", median(fifty)},
            {"berr", report.run.verify->backward_error},
            {"memory_least_mb", report.memory_bytes.least / 1e6},
            {"memory_most_mb", report.memory_bytes.most / 1e6}};
  }

  double over_plain(const RankSolverOptions& changed, Transport& other) {
    RankSolver<double> usual = made(matrix, options, *exchange.transport),
                       special = made(matrix, changed, other);
    const DenseMatrix<double> b = right_hand_sides(*matrix, 1);
    std::vector<double> ratio;
    for (int again = 0; again < 31; ++again) {
      const double before = solved(usual, b).run.solve->seconds;
      ratio.push_back(solved(special, b).run.solve->seconds / before);
    }
    return median(ratio);
  }

  void add_ratios(nlohmann::ordered_json& row) {
    Recorder recorder(*exchange.transport);
    Checked checked(*exchange.transport);
    RankSolverOptions unwatched = options;
    unwatched.watchdog_seconds = 0;
    row["recorded"] = over_plain(options, recorder);
    row["unwatched"] = over_plain(unwatched, *exchange.transport);
    row["checked"] = over_plain(options, checked);
    for (const MpiExchangeInfo& info : mpi_exchange_list) {
      if (!info.queues) continue;
      const std::string name(info.name);
      const MpiExchange one_sided = make_mpi_exchange(world, name);
      RankSolverOptions queued = options;
      queued.planned = one_sided.planned;
      row[name] = over_plain(queued, *one_sided.transport);
    }
  }
};

int run(int argc, char** argv) {
  const MpiSession session;
  const Wanted all = wanted(std::span(argv, argc).subspan(2));
  AnyMatrix any = read_matrix(argv[1]).matrix;
  auto* given = std::get_if<SparseMatrix<double>>(&any);
  if (given == nullptr) throw UsageError("the comparison is of real matrices");
  Bench bench{std::make_shared<const SparseMatrix<double>>(std::move(*given)), session.world(),
              make_mpi_exchange(session.world(), all.transport), all.options};
  bench.options.planned = bench.exchange.planned;
  nlohmann::ordered_json row{{"solver", "palmette"}, {"matrix", argv[1]}};
  row.update(bench.times());
  if (all.ratios) bench.add_ratios(row);
  if (bench.exchange.transport->rank() == 0) std::printf("%s\n", row.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: mpiexec -n P %s MATRIX.mtx [RxC] [MAP] [TREES] [TRANSPORT] [push|pull] [ratios]\n",
                 argv[0]);
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
