// How fast is Palmette beside other solvers? One matrix, one row: prints a JSON object with the phases' seconds in the form
// that the comparison's runner collects (see docs/results/peers.md). Threads: PEERS_THREADS, 1 where absent.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;

struct Row {
  double analyze_s, factor_s, solve1_s, solve50_s, berr, berr50;
};

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

/// b = A·x for a repeatable x with entries in [−1, 1].
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

struct Timed {
  double seconds;
  double backward_error;
};

Timed timed_solve(Solver<double>& solver, const SparseMatrix<double>& matrix, index_t num_rhs) {
  const DenseMatrix<double> b = right_hand_sides(matrix, num_rhs);
  DenseMatrix<double> x(matrix.rows(), num_rhs);
  SolveRequest request;
  request.repeat = 7;
  request.max_refine_steps = 0;
  const Report report = solver.solve(b.view(), x.view(), request).value();
  return {report.solve->seconds, report.verify->backward_error};
}

void print_row(const std::string& name, int threads, const Report& report, const Row& row) {
  std::printf("{\"solver\": \"palmette\", \"matrix\": \"%s\", \"threads\": %d, \"ranks\": 1, \"n\": %d, \"nnz_a\": %lld, "
              "\"analyze_s\": %s, \"factor_s\": %s, \"nnz_l\": %lld, \"flops\": %s, \"solve1_s\": %s, \"solve50_s\": %s, "
              "\"fwd1_s\": null, \"bwd1_s\": null, \"fwd50_s\": null, \"bwd50_s\": null, \"berr\": %s, \"berr50\": %s, "
              "\"rss_mb\": %s, \"note\": \"%s %s\"}\n",
              name.c_str(), threads, report.matrix.rows, static_cast<long long>(report.matrix.nnz),
              number(row.analyze_s).c_str(), number(row.factor_s).c_str(),
              static_cast<long long>(report.analyze->nnz_factor), number(report.analyze->flops).c_str(),
              number(row.solve1_s).c_str(), number(row.solve50_s).c_str(), number(row.berr).c_str(),
              number(row.berr50).c_str(), number(double(peak_memory_bytes()) / 1e6).c_str(),
              std::string(name_of(report.factorize->kind)).c_str(), std::string(name_of(report.order->method)).c_str());
}

int run(const std::string& path, const SolverOptions& options) {
  AnyMatrix any = read_matrix(path).matrix;
  auto* given = std::get_if<SparseMatrix<double>>(&any);
  if (given == nullptr) throw UsageError("the comparison is of real matrices");
  if (given->symmetry == Symmetry::general) given->symmetry = detect_symmetry(*given);
  const auto matrix = std::make_shared<const SparseMatrix<double>>(std::move(*given));
  Solver<double> solver = Solver<double>::create(matrix, options).value();
  Row row{};
  row.analyze_s = solver.report().order->seconds + solver.report().analyze->seconds;
  row.factor_s = solver.report().factorize->seconds;
  // Warm figures: the first passes also pay for memory that the system has yet to find.
  for (int warm = 0; warm < 3; ++warm) {
    const Outcome<bool> again = solver.refactor(matrix);
    if (!again) throw NumericalError(again.failure());
    row.factor_s = std::min(row.factor_s, solver.report().factorize->seconds);
  }
  const Timed one = timed_solve(solver, *matrix, 1), fifty = timed_solve(solver, *matrix, 50);
  row.solve1_s = one.seconds;
  row.berr = one.backward_error;
  row.solve50_s = fifty.seconds;
  row.berr50 = fifty.backward_error;
  std::string name = path.substr(path.find_last_of('/') + 1);
  print_row(name.substr(0, name.find(".mtx")), options.threads, solver.report(), row);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench_peer_row MATRIX.mtx [ordering]\n");
    return 2;
  }
  SolverOptions options;
  const char* threads = std::getenv("PEERS_THREADS");
  options.threads = threads != nullptr ? std::max(1, std::atoi(threads)) : 1;
  options.measure = false;
  try {
    if (argc == 3) options.ordering = ordering_method(argv[2]);
    return run(argv[1], options);
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
