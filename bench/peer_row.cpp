// How fast is Palmette compared with other solvers? One matrix, one row: prints a JSON object with the names
// that the other solvers' drivers use, and more (docs/results/speed.md). Threads: PEERS_THREADS, default 1.
//
//   bench_peer_row MATRIX.mtx [ordering] [--counts]
//
// --counts: only seconds of the solve for each number of right-hand sides from 1 to 64, as "counts".
// Seconds are medians of warm repeats: solves, factorizations with new values, and whole passes from the file
// to the verified answer (first_s, with its phases; cold_s is the first of them). plan_s is what a
// factorization costs beyond the factor itself before it can solve. Rows of single precision begin with
// mixed_ and are null where mixed precision is refused.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/real_systems.hpp"
#include "palmette/machine/machine.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;
using nlohmann::ordered_json;
using benchmarks::Matrix;
using benchmarks::read_real;
using benchmarks::right_hand_sides;

constexpr double budget_seconds = 0.8;  // for the repeats of one figure, as in the other solvers' drivers
constexpr double long_seconds = 4;      // work that takes this long is repeated less often

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[middle] : 0.5 * (seconds[middle - 1] + seconds[middle]);
}

/// Median of what `work` returns: one warm-up, then as often as the budget allows, within [least, most]; once
/// if it is long.
double median_of(std::size_t least, std::size_t most, const std::function<double()>& work) {
  std::vector<double> seconds;
  if (work() > long_seconds) least = 1;
  for (double spent = 0; seconds.size() < least || (spent < budget_seconds && seconds.size() < most);) {
    seconds.push_back(work());
    spent += seconds.back();
  }
  return median(seconds);
}

/// The same pattern with a diagonal one per cent larger: as definite as before.
Matrix with_new_values(const SparseMatrix<double>& matrix) {
  SparseMatrix<double> changed = matrix;
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      if (matrix.pattern.row_index[entry] == column) changed.values[entry] *= 1.01;
  return std::make_shared<const SparseMatrix<double>>(std::move(changed));
}

Solver<double> made(const Matrix& matrix, const SolverOptions& options) {
  Outcome<Solver<double>> outcome = Solver<double>::create(matrix, options);
  if (!outcome) throw NumericalError(outcome.failure());
  return std::move(outcome.value());
}

void refactor(Solver<double>& solver, const Matrix& matrix) {
  const Outcome<void> again = solver.refactor(matrix);
  if (!again) throw NumericalError(again.failure());
}

SolveRequest without_refinement(int repeat) {
  SolveRequest request;
  request.max_refine_steps = 0;
  request.repeat = repeat;
  return request;
}

Report solved(Solver<double>& solver, const DenseMatrix<double>& b, DenseMatrix<double>& x,
              const SolveRequest& request) {
  Outcome<Report> report = solver.solve(b.view(), x.view(), request);
  if (!report) throw NumericalError(report.failure());
  return std::move(report.value());
}

// ---------------------------------------------------------------------------------------------------- the fi

/// Whole passes from the file to the verified answer; the phases are those of the median pass.
void add_first_solution(ordered_json& row, const std::string& path, const SolverOptions& options) {
  std::map<double, ordered_json> passes;
  DenseMatrix<double> b;
  double total = 0;
  for (int pass = 0;
       pass < 5 && (pass < 3 || total < 2 * budget_seconds) && (pass < 2 || total < 2 * long_seconds);
       ++pass) {
    Stopwatch watch;
    const Matrix matrix = read_real(path, options.threads);
    const double read_s = watch.seconds();
    if (pass == 0) b = right_hand_sides(*matrix, 1);
    DenseMatrix<double> x(matrix->rows(), 1);
    watch.restart();
    Solver<double> solver = made(matrix, options);
    const double create_s = watch.seconds();
    watch.restart();
    const Report report = solved(solver, b, x, {});
    const double answer_s = watch.seconds(), seconds = read_s + create_s + answer_s;
    if (pass == 0)
      row["cold_s"] = seconds, row["cold_read_s"] = read_s,
      row["cold_verify_s"] = answer_s - report.solve->seconds;
    total += seconds;
    passes[seconds] = {{"first_s", seconds},
                       {"read_s", read_s},
                       {"create_s", create_s},
                       {"order_s", report.order->seconds},
                       {"symbolic_s", report.analyze->seconds},
                       {"first_factor_s", report.factorize->seconds},
                       {"first_solve_s", report.solve->seconds},
                       {"verify_s", answer_s - report.solve->seconds}};
    row["first_berr"] = report.verify->backward_error;
    row["verified"] = report.verify->verified;
  }
  row.update(std::next(passes.begin(), static_cast<std::ptrdiff_t>(passes.size() / 2))->second);
  row["analyze_s"] = row["order_s"].get<double>() + row["symbolic_s"].get<double>();
}

/// Factorize again with new values and solve: both together, and the factorization alone.
void add_refactor(ordered_json& row, Solver<double>& solver, const Matrix& matrix) {
  const Matrix changed = with_new_values(*matrix);
  const DenseMatrix<double> b = right_hand_sides(*matrix, 1);
  DenseMatrix<double> x(matrix->rows(), 1);
  const SolveRequest plain = without_refinement(1);
  bool odd = false;
  std::vector<double> factor, plan;
  row["refactor_solve_s"] = median_of(3, 51, [&] {
    odd = !odd;
    const Stopwatch watch;
    refactor(solver, odd ? changed : matrix);
    const double refactor_s = watch.seconds();
    const double solve_s = solved(solver, b, x, plain).solve->seconds;
    factor.push_back(solver.report().factorize->seconds);
    plan.push_back(refactor_s - factor.back());
    return refactor_s + solve_s;
  });
  factor.erase(factor.begin());  // the warm-up
  plan.erase(plan.begin());
  row["factor_s"] = median(factor);
  row["plan_s"] = median(plan);
  refactor(solver, matrix);
}

void add_solve(ordered_json& row, Solver<double>& solver, const SparseMatrix<double>& matrix,
               index_t num_rhs) {
  const DenseMatrix<double> b = right_hand_sides(matrix, num_rhs);
  DenseMatrix<double> x(matrix.rows(), num_rhs);
  const double once = solved(solver, b, x, without_refinement(1)).solve->seconds;
  const double repeat = std::clamp(budget_seconds / std::max(once, 1e-9), 5.0, 101.0);
  const Report report = solved(solver, b, x, without_refinement(static_cast<int>(repeat)));
  const std::string solve = "solve" + std::to_string(num_rhs);
  row[solve + "_s"] = report.solve->seconds;
  row[solve + "_bytes"] = report.solve->bytes;
  row[solve + "_method"] = name_of(report.solve->method);
  row[solve + "_threads"] = report.solve->threads;
  row[num_rhs == 1 ? "berr" : "berr" + std::to_string(num_rhs)] = report.verify->backward_error;
}

/// The memory's bandwidth and a solve in turn: on hosts that others use too, the memory's speed changes
/// within seconds.
void add_bandwidth_beside(ordered_json& row, Solver<double>& solver, const SparseMatrix<double>& matrix,
                          int threads) {
  constexpr int rounds = 7;
  const DenseMatrix<double> b = right_hand_sides(matrix, 1);
  DenseMatrix<double> x(matrix.rows(), 1);
  const double repeat = std::clamp(0.1 / row["solve1_s"].get<double>(), 3.0, 31.0);
  const SolveRequest request = without_refinement(static_cast<int>(repeat));
  MeasureOptions measure;
  measure.threads = threads;
  std::vector<double> gbs, seconds;
  for (int round = 0; round < rounds; ++round) {
    gbs.push_back(measure_machine(measure).read_bandwidth_gbs);
    seconds.push_back(solved(solver, b, x, request).solve->seconds);
  }
  row["beside_read_gbs"] = gbs;
  row["beside_solve1_s"] = seconds;
}

void add_mixed_precision(ordered_json& row, const Matrix& matrix, SolverOptions options) {
  options.mixed_precision = true;
  Outcome<Solver<double>> outcome = Solver<double>::create(matrix, options);
  row["mixed_factor_s"] = nullptr;
  if (!outcome) {
    row["mixed_refused"] = outcome.failure().message;
    return;
  }
  Solver<double> solver = std::move(outcome.value());
  const DenseMatrix<double> b = right_hand_sides(*matrix, 1);
  DenseMatrix<double> x(matrix->rows(), 1);
  const Outcome<Report> answer = solver.solve(b.view(), x.view(), {});
  if (!answer || !answer.value().verify->verified) {
    row["mixed_refused"] = answer ? "the refined answer is not verified" : answer.failure().message;
    return;
  }
  row["mixed_berr"] = answer.value().verify->backward_error;
  row["mixed_refine_steps"] = answer.value().verify->refine_steps;
  row["mixed_factor_bytes"] = solver.report().factorize->memory_bytes;
  row["mixed_factor_s"] = median_of(3, 51, [&] {
    refactor(solver, matrix);
    return solver.report().factorize->seconds;
  });
}

ordered_json names(const std::string& path, int threads) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return {{"solver", "palmette"},
          {"threads", threads},
          {"ranks", 1},
          {"matrix", name.substr(0, name.find(".mtx"))}};
}

ordered_json counts(const std::string& path, const SolverOptions& options) {
  const Matrix matrix = read_real(path, options.threads);
  Solver<double> solver = made(matrix, options);
  std::vector<double> seconds;
  for (index_t num_rhs = 1; num_rhs <= 64; ++num_rhs) {
    const DenseMatrix<double> b = right_hand_sides(*matrix, num_rhs);
    DenseMatrix<double> x(matrix->rows(), num_rhs);
    seconds.push_back(solved(solver, b, x, without_refinement(7)).solve->seconds);
  }
  ordered_json row = names(path, options.threads);
  row["counts"] = seconds;
  return row;
}

ordered_json figures(const std::string& path, const SolverOptions& options) {
  ordered_json row = names(path, options.threads);
  add_first_solution(row, path, options);
  const Matrix matrix = read_real(path, options.threads);
  Solver<double> solver = made(matrix, options);
  const Report report = solver.report();
  row["n"] = report.matrix.rows;
  row["nnz_a"] = report.matrix.nnz;
  row["factor_kind"] = name_of(report.factorize->kind);
  row["ordering"] = name_of(report.order->method);
  row["nnz_l"] = report.analyze->nnz_factor;
  row["flops"] = report.analyze->flops;
  row["factor_bytes"] = report.factorize->memory_bytes;
  add_refactor(row, solver, matrix);
  add_solve(row, solver, *matrix, 1);
  add_solve(row, solver, *matrix, 50);
  row["rss_mb"] = static_cast<double>(peak_memory_bytes()) / 1e6;
  add_bandwidth_beside(row, solver, *matrix, options.threads);  // its arrays are no part of that memory
  add_mixed_precision(row, matrix, options);
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_counts = argc > 2 && std::string(argv[argc - 1]) == "--counts";
  if (only_counts) --argc;
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench_peer_row MATRIX.mtx [ordering] [--counts]\n");
    return 2;
  }
  SolverOptions options;
  const char* threads = std::getenv("PEERS_THREADS");
  options.threads = threads != nullptr ? std::max(1, std::atoi(threads)) : 1;
  options.measure = false;
  try {
    if (argc == 3) options.ordering = ordering_method(argv[2]);
    std::puts((only_counts ? counts(argv[1], options) : figures(argv[1], options)).dump().c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
