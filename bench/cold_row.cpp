// What does the first answer of a process cost? One matrix, one pass from the file to the verified answer in
// a process that has done nothing before; prints a JSON object with seconds and page faults of the phases,
// then those of a second factorization.
//
//   bench_cold_row MATRIX.mtx [ordering]
//
// Threads: PEERS_THREADS, default 1. bench_cold_pardiso prints the row of PARDISO.
#include <cstdio>

#include "bench/cold_pass.hpp"
#include "palmette/blocks/blocks.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace cold;

ordered_json row_of(const std::string& path, const SolverOptions& options) {
  ordered_json row = names("palmette_cold", path, options.threads);
  Phases phases(row);
  const auto matrix = read_real(path, options.threads);
  double first = phases.end("read");
  const DenseMatrix<double> b = right_hand_sides(*matrix, 1);
  DenseMatrix<double> x(matrix->rows(), 1);
  phases.begin();
  Outcome<Solver<double>> made = Solver<double>::create(matrix, options);
  if (!made) throw NumericalError(made.failure());
  first += phases.end("create");
  Solver<double> solver = std::move(made.value());
  const Outcome<Report> answer = solver.solve(b.view(), x.view());
  if (!answer) throw NumericalError(answer.failure());
  first += phases.end("answer");
  const Report& report = answer.value();
  row["first_s"] = first;
  row["order_s"] = report.order->seconds;
  row["symbolic_s"] = report.analyze->seconds;
  row["factor_s"] = report.factorize->seconds;
  row["plan_s"] = row["create_s"].get<double>() - report.order->seconds - report.analyze->seconds -
                  report.factorize->seconds;
  row["solve_s"] = report.solve->seconds;
  row["verify_s"] = row["answer_s"].get<double>() - report.solve->seconds;
  row["ordering"] = name_of(report.order->method);
  row["factor_kind"] = name_of(report.factorize->kind);
  row["nnz_l"] = report.analyze->nnz_factor;
  row["berr"] = report.verify->backward_error;
  row["verified"] = report.verify->verified;
  phases.begin();
  const Outcome<void> again = solver.refactor(matrix);
  if (!again) throw NumericalError(again.failure());
  phases.end("again");
  row["again_factor_s"] = solver.report().factorize->seconds;
  row["rss_mb"] = static_cast<double>(peak_memory_bytes()) / 1e6;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench_cold_row MATRIX.mtx [ordering]\n");
    return 2;
  }
  blas::end_idle_threads();  // as the command does
  SolverOptions options;
  options.threads = threads_of_environment();
  options.measure = false;
  try {
    if (argc == 3) options.ordering = ordering_method(argv[2]);
    std::puts(row_of(argv[1], options).dump().c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
