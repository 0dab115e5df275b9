// How fast is Palmette over ranks beside other solvers over ranks? One matrix, one row, by mpiexec: rank 0 prints a JSON object with the names
// that the other solvers' drivers use (docs/results/ranks.md).
//
//   mpiexec -n P bench_rank_row MATRIX.mtx [GRID_ROWS GRID_COLS] [block_cyclic|subtree_to_subcube] [binary|flat]
//
// Seconds are medians of warm repeats without refinement; a solve includes bringing x to every rank. recorded and unwatched: a solve through
// a recorder, and one without watchdog, over a plain one, each the median of ratios of neighbours in time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;
using Matrix = std::shared_ptr<const SparseMatrix<double>>;

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

DenseMatrix<double> right_hand_sides(const SparseMatrix<double>& matrix, index_t count) {
  DenseMatrix<double> x(matrix.cols(), count), b(matrix.rows(), count);
  std::uint64_t state = 12345;
  for (double& value : x.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = double(state >> 11) / double(1ULL << 52) - 1;
  }
  multiply_add(matrix, Operation::plain, 1.0, std::as_const(x).view(), b.view());
  return b;
}

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

int run(int argc, char** argv) {
  const MpiSession session;
  const auto transport = make_mpi_two_sided(session.world());
  AnyMatrix any = read_matrix(argv[1]).matrix;
  auto* given = std::get_if<SparseMatrix<double>>(&any);
  if (given == nullptr) throw UsageError("the comparison is of real matrices");
  const Matrix matrix = std::make_shared<const SparseMatrix<double>>(std::move(*given));
  RankSolverOptions options;
  if (argc > 3) options.grid = {static_cast<index_t>(std::atoi(argv[2])), static_cast<index_t>(std::atoi(argv[3]))};
  if (argc > 4) options.map = placement_map(argv[4]);
  if (argc > 5) options.trees = tree_shape(argv[5]);
  std::vector<double> factor, one, fifty;
  RankReport report;
  for (int time = 0; time < 3; ++time) {
    RankSolver<double> solver = made(matrix, options, *transport);
    const DenseMatrix<double> b = right_hand_sides(*matrix, 1), many = right_hand_sides(*matrix, 50);
    for (int again = 0; again < 7; ++again) report = solved(solver, b), one.push_back(report.run.solve->seconds);
    for (int again = 0; again < 3; ++again) fifty.push_back(solved(solver, many).run.solve->seconds);
    factor.push_back(report.run.factorize->seconds);
  }
  const auto over_plain = [&](Transport& other, double watchdog_seconds) {
    RankSolverOptions changed = options;
    changed.watchdog_seconds = watchdog_seconds;
    RankSolver<double> usual = made(matrix, options, *transport), special = made(matrix, changed, other);
    const DenseMatrix<double> b = right_hand_sides(*matrix, 1);
    std::vector<double> ratio;
    for (int again = 0; again < 31; ++again) {
      const double before = solved(usual, b).run.solve->seconds;
      ratio.push_back(solved(special, b).run.solve->seconds / before);
    }
    return median(ratio);
  };
  Recorder recorder(*transport);
  const double recorded = over_plain(recorder, options.watchdog_seconds), unwatched = over_plain(*transport, 0);
  if (transport->rank() != 0) return 0;
  nlohmann::ordered_json row{{"solver", "palmette"},
                             {"matrix", argv[1]},
                             {"ranks", transport->num_ranks()},
                             {"grid", std::to_string(report.grid.rows) + "x" + std::to_string(report.grid.cols)},
                             {"map", name_of(report.map)},
                             {"trees", name_of(report.trees)},
                             {"factor_s", median(factor)},
                             {"solve1_s", median(one)},
                             {"solve50_s", median(fifty)},
                             {"recorded", recorded},
                             {"unwatched", unwatched},
                             {"berr", report.run.verify->backward_error},
                             {"memory_least_mb", report.memory_bytes.least / 1e6},
                             {"memory_most_mb", report.memory_bytes.most / 1e6}};
  std::printf("%s\n", row.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: mpiexec -n P %s MATRIX.mtx [GRID_ROWS GRID_COLS] [MAP] [TREES]\n", argv[0]);
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
