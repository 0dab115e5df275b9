// Question: how near to the processor's matrix-multiplication rate does the factorization run, and how much
// does a second thread gain? For each problem and number of threads: seconds (the best of several in the same
// memory), GFLOP/s of the exact structure, the fraction of the dgemm rate measured in the same run, and the
// ratio to one thread.
//
//   bench_factorize [--repeats N] [--threads N] [--json FILE] [problem:n[:kind] …]      kind: llt, ldlt or lu
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/model_cases.hpp"
#include "palmette/factorize/factorize.hpp"

namespace {

using namespace palmette;

using bench::Case;
using bench::Options;

Options defaults() {
  Options options;
  options.cases = {{"poisson2d9", 512, "llt"},        {"poisson3d7", 40, "llt"},
                   {"elasticity3d", 20, "llt"},       {"thermal2d", 100000, "llt"},
                   {"kkt3d", 20, "ldlt"},             {"convection_diffusion2d", 512, "lu"},
                   {"convection_diffusion3d", 40, "lu"}};
  return options;
}

FactorKind kind_named(const std::string& name) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    if (name == name_of(kind)) return kind;
  throw UsageError("unknown kind '" + name + "': llt, ldlt or lu");
}

PivotNeed need_of(FactorKind kind) {
  return kind == FactorKind::llt ? PivotNeed::none
                                 : kind == FactorKind::ldlt ? PivotNeed::indefinite : PivotNeed::unsymmetric;
}

/// GFLOP/s of a 1000 × 1000 product on one thread, the best of five.
double dgemm_rate() {
  const index_t n = 1000;
  DenseMatrix<double> a(n, n), b(n, n), c(n, n);
  std::fill(a.values.begin(), a.values.end(), 0.5);
  std::fill(b.values.begin(), b.values.end(), 0.25);
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Stopwatch watch;
    blas::gemm<double>(blas::Transpose::no, blas::Transpose::transpose, 1.0, a.view(), b.view(), 0.0,
                       c.view());
    best = std::min(best, watch.seconds());
  }
  return 2e-9 * n * n * n / best;
}

struct Row {
  Case what;
  int threads = 1;
  double seconds = 0, gigaflops = 0, dgemm_fraction = 0, speed_up = 1;
  // of all threads together; measures the work even if other programs share the machine
  double processor_seconds = 1e30;
  index_t perturbed = 0;
  offset_t entries = 0, panel_entries = 0;
};

std::string json_of(const Row& row) {
  std::ostringstream out;
  out << "{\"problem\":\"" << row.what.problem << "\",\"n\":" << row.what.n << ",\"kind\":\"" << row.what.kind
      << "\",\"threads\":" << row.threads << ",\"seconds\":" << row.seconds
      << ",\"processor_seconds\":" << row.processor_seconds << ",\"gigaflops\":" << row.gigaflops
      << ",\"fraction_of_dgemm\":" << row.dgemm_fraction << ",\"speed_up\":" << row.speed_up
      << ",\"factor_entries\":" << row.entries << ",\"panel_entries\":" << row.panel_entries
      << ",\"perturbed\":" << row.perturbed << "}";
  return out.str();
}

void run_case(const Case& what, const Options& options, double peak, std::vector<std::string>& json) {
  const FactorKind kind = kind_named(what.kind);
  SparseMatrix<double> matrix = generate({what.problem, what.n});
  OrderOptions order_options;
  order_options.method = OrderingMethod::metis;
  order_options.pivot_need = need_of(kind);
  const Ordering ordering = order(matrix, order_options).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  double alone = 0;
  for (int threads = 1; threads <= options.threads; ++threads) {
    ThreadTeam team(threads);
    FactorizeOptions how;
    how.kind = kind;
    how.team = &team;
    Row row{what, threads};
    row.seconds = 1e30;
    FactorizeMemory<double> memory;
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      const std::clock_t before = std::clock();
      const auto factor = factorize_again(memory, matrix, symbolic, ordering, how).value();
      row.processor_seconds =
          std::min(row.processor_seconds, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
      row.seconds = std::min(row.seconds, factor->seconds);
      row.gigaflops = factor->flops * 1e-9 / row.seconds;
      row.perturbed = factor->pivots.perturbed;
    }
    if (threads == 1) alone = row.seconds;
    row.speed_up = alone / row.seconds;
    row.dgemm_fraction = row.gigaflops / (peak * threads);
    row.entries = factor_entries(*symbolic, kind);
    row.panel_entries = symbolic->panel_entries();
    std::printf("| %s %d | %s | %d | %.1f | %.1f | %.2f | %.2f | %.2f | %.3g | %d |\n", what.problem.c_str(),
                what.n, what.kind.c_str(), threads, 1e3 * row.seconds, 1e3 * row.processor_seconds,
                row.gigaflops, row.dgemm_fraction, row.speed_up, static_cast<double>(row.entries),
                row.perturbed);
    std::fflush(stdout);
    json.push_back(json_of(row));
  }
}

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  try {
    const Options options = bench::parse(argc, argv, defaults());
    blas::use_one_thread();
    const double peak = dgemm_rate();
    std::printf("dgemm: %.1f GFLOP/s on one thread\n\n", peak);
    std::puts(
        "| problem | kind | threads | ms | processor ms | GFLOP/s | of dgemm | speed-up | entries | replaced "
        "|\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    std::vector<std::string> json;
    for (const Case& what : options.cases) run_case(what, options, peak, json);
    if (!options.json.empty())
      bench::write_json(options.json, "\"dgemm_gigaflops\":" + std::to_string(peak), json, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
