// Question: how near to the memory's read bandwidth do solves run, by which method, and how do plain
// triangles compare with the simplest loop over compressed rows? Both yardsticks are measured in the same
// run.
//
//   bench_solve [--repeats N] [--threads N] [--num-rhs N or N-M]… [--json FILE] [problem:n[:kind] …]
//   kind: llt, ldlt, lu or triangle
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/model_cases.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/machine/machine.hpp"
#include "palmette/solve/solve.hpp"

namespace {

using namespace palmette;

using bench::Case;
using bench::Options;

Options defaults() {
  Options options;
  options.repeats = 15;
  options.num_rhs = {1, 50};
  options.cases = {{"poisson2d9", 512, "llt"},
                   {"poisson2d9", 1024, "llt"},
                   {"poisson3d7", 40, "llt"},
                   {"elasticity3d", 18, "llt"},
                   {"thermal2d", 100000, "llt"},
                   {"kkt3d", 20, "ldlt"},
                   {"convection_diffusion2d", 512, "lu"},
                   {"poisson2d9", 512, "triangle"},
                   {"poisson3d7", 64, "triangle"},
                   {"thermal2d", 300000, "triangle"}};
  return options;
}

struct Row {
  Case what;
  std::string method;
  int threads = 1;
  index_t num_rhs = 1;
  double seconds = 0, processor_seconds = 0, bytes = 0, gigabytes_per_second = 0, read_fraction = 0,
         gigaflops = 0, critical_fraction = 0;
  double ratio_to_serial = 0;
  double ratio_to_loop = 0;  // triangles: seconds of the simplest loop ÷ seconds; 0 for other cases
};

/// Read bandwidth by number of threads, measured once.
class Yardstick {
 public:
  double read_gbs(int threads) {
    while (static_cast<int>(rates_.size()) < threads) {
      MeasureOptions options;
      options.threads = static_cast<int>(rates_.size()) + 1;
      rates_.push_back(measure_machine(options).read_bandwidth_gbs);
    }
    return rates_[static_cast<std::size_t>(threads) - 1];
  }

 private:
  std::vector<double> rates_;
};

struct Timing {
  double seconds = 1e30;
  double processor_seconds = 1e30;  // of all threads; measures the work even if other programs share the
                                    // machine
};

template <class Work>
Timing best_of(int repeats, Work&& work) {
  Timing best;
  work();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::clock_t before = std::clock();
    const Stopwatch watch;
    work();
    best.seconds = std::min(best.seconds, watch.seconds());
    best.processor_seconds =
        std::min(best.processor_seconds, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  return best;
}

std::string json_of(const Row& row) {
  std::ostringstream out;
  out << "{\"problem\":\"" << row.what.problem << "\",\"n\":" << row.what.n << ",\"kind\":\"" << row.what.kind
      << "\",\"method\":\"" << row.method << "\",\"threads\":" << row.threads
      << ",\"num_rhs\":" << row.num_rhs << ",\"seconds\":" << row.seconds
      << ",\"processor_seconds\":" << row.processor_seconds << ",\"bytes\":" << row.bytes
      << ",\"gigabytes_per_second\":" << row.gigabytes_per_second
      << ",\"fraction_of_read\":" << row.read_fraction << ",\"gigaflops\":" << row.gigaflops
      << ",\"critical_path_fraction\":" << row.critical_fraction
      << ",\"ratio_to_serial\":" << row.ratio_to_serial << ",\"ratio_to_loop\":" << row.ratio_to_loop << "}";
  return out.str();
}

void print(const Row& row) {
  std::printf("| %s %d %s | %s | %d | %d | %.3f | %.3f | %.3f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f |\n",
              row.what.problem.c_str(), row.what.n, row.what.kind.c_str(), row.method.c_str(), row.threads,
              row.num_rhs, 1e3 * row.seconds, 1e3 * row.seconds / row.num_rhs, 1e3 * row.processor_seconds,
              row.gigabytes_per_second, row.read_fraction, row.gigaflops, row.critical_fraction,
              row.ratio_to_serial, row.ratio_to_loop);
  std::fflush(stdout);
}

SolvePlan<double> plan_of(const Case& what, const SparseMatrix<double>& matrix) {
  if (what.kind == "triangle") return plan_triangle(matrix).value();
  OrderOptions order_options;
  FactorizeOptions how;
  how.kind = what.kind == "lu" ? FactorKind::lu : what.kind == "ldlt" ? FactorKind::ldlt : FactorKind::llt;
  order_options.pivot_need = how.kind == FactorKind::lu ? PivotNeed::unsymmetric
                             : how.kind == FactorKind::ldlt ? PivotNeed::indefinite : PivotNeed::none;
  order_options.method = OrderingMethod::metis;
  const Ordering ordering = order(matrix, order_options).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  return plan_solve(
      std::make_shared<const Factor<double>>(factorize(matrix, symbolic, ordering, how).value()));
}

/// The simplest loop over compressed rows: lower triangle, one right-hand side.
double simple_loop_seconds(const SparseMatrix<double>& matrix, int repeats) {
  const SparseMatrix<double> rows = transpose(matrix);
  std::vector<offset_t> ptr = {0};
  std::vector<index_t> column;
  std::vector<double> value, diagonal(static_cast<std::size_t>(matrix.rows())), x(diagonal.size()),
      b(diagonal.size(), 1.0);
  for (index_t row = 0; row < matrix.rows(); ++row) {
    for (offset_t entry = rows.pattern.column_ptr[row]; entry < rows.pattern.column_ptr[row + 1]; ++entry) {
      if (rows.pattern.row_index[entry] == row) diagonal[row] = rows.values[entry];
      if (rows.pattern.row_index[entry] < row)
        column.push_back(rows.pattern.row_index[entry]), value.push_back(rows.values[entry]);
    }
    ptr.push_back(static_cast<offset_t>(column.size()));
  }
  return best_of(repeats, [&] {
    for (index_t row = 0; row < matrix.rows(); ++row) {
      double sum = b[row];
      for (offset_t entry = ptr[row]; entry < ptr[row + 1]; ++entry) sum -= value[entry] * x[column[entry]];
      x[row] = sum / diagonal[row];
    }
  }).seconds;
}

void run_case(const Case& what, const Options& options, Yardstick& yardstick,
              std::vector<std::string>& json) {
  const SparseMatrix<double> matrix = generate({what.problem, what.n});
  const SolvePlan<double> plan = plan_of(what, matrix);
  const double loop = what.kind == "triangle" ? simple_loop_seconds(matrix, options.repeats) : 0;
  for (const index_t num_rhs : options.num_rhs) {
    DenseMatrix<double> b(plan.size(), num_rhs), x(plan.size(), num_rhs);
    std::fill(b.values.begin(), b.values.end(), 1.0);
    double serial = 0;
    const SolveCost cost = plan.cost(num_rhs);
    // Many numbers of right-hand sides are compared with each other; then methods are not compared.
    const bool counts_only = options.num_rhs.size() > 8;
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
      if (counts_only && method.method != SolveMethod::serial && method.method != SolveMethod::sync_free)
        continue;
      for (int threads = 1; threads <= (method.threaded ? options.threads : 1); ++threads) {
        ThreadTeam team(threads);
        Row row{what, std::string(method.name), threads, num_rhs};
        const Timing timing = best_of(num_rhs == 1 ? options.repeats : options.repeats / 5 + 1, [&] {
          plan.solve(Operation::plain, b.view(), x.view(), {method.method, threads > 1 ? &team : nullptr});
        });
        row.seconds = timing.seconds;
        row.processor_seconds = timing.processor_seconds;
        if (method.method == SolveMethod::serial) serial = row.seconds;
        row.bytes = cost.bytes;
        row.gigabytes_per_second = cost.bytes * 1e-9 / row.seconds;
        row.read_fraction = row.gigabytes_per_second / yardstick.read_gbs(threads);
        row.gigaflops = cost.flops * 1e-9 / row.seconds;
        row.critical_fraction = cost.critical_path_bytes / cost.bytes;
        row.ratio_to_serial = serial / row.seconds;
        row.ratio_to_loop = num_rhs == 1 ? loop / row.seconds : 0;
        print(row);
        json.push_back(json_of(row));
      }
    }
  }
}

std::string yardsticks_of(Yardstick& yardstick, int threads) {
  std::string text = "\"processor\":\"" + measure_machine({}).processor + "\",\"read_gbs\":[";
  for (int count = 1; count <= threads; ++count)
    text += (count > 1 ? "," : "") + std::to_string(yardstick.read_gbs(count));
  return text + "]";
}

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  try {
    const Options options = bench::parse(argc, argv, defaults());
    Yardstick yardstick;
    for (int threads = 1; threads <= options.threads; ++threads)
      std::printf("read bandwidth, %d threads: %.1f GB/s\n", threads, yardstick.read_gbs(threads));
    std::puts(
        "\n| problem | method | threads | sides | ms | ms per side | processor ms | GB/s | of read | GFLOP/s "
        "| critical path | of serial | of loop |"
        "\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    std::vector<std::string> json;
    for (const Case& what : options.cases) run_case(what, options, yardstick, json);
    if (!options.json.empty())
      bench::write_json(options.json, yardsticks_of(yardstick, options.threads), json, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
