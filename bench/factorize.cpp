// Question: how near to the processor's matrix-multiplication rate does the factorization run, and what does a second
// thread bring? For each problem and number of threads: seconds (the best of several), GFLOP/s of the exact structure, the
// fraction of the dgemm rate measured in the same run, and the ratio to one thread.
//
//   bench_factorize [--repeats N] [--threads N] [--json FILE] [problem:n[:kind] …]      kind: llt, ldlt or lu
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"

namespace {

using namespace palmette;

struct Case {
  std::string problem;
  index_t n;
  FactorKind kind;
};

struct Options {
  int repeats = 3;
  int threads = 2;
  std::string json;
  std::vector<Case> cases;
};

std::vector<Case> default_cases() {
  return {{"poisson2d9", 512, FactorKind::llt},    {"poisson3d7", 40, FactorKind::llt},
          {"elasticity3d", 20, FactorKind::llt},   {"thermal2d", 100000, FactorKind::llt},
          {"kkt3d", 20, FactorKind::ldlt},         {"convection_diffusion2d", 512, FactorKind::lu},
          {"convection_diffusion3d", 40, FactorKind::lu}};
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
    blas::gemm<double>(blas::Transpose::no, blas::Transpose::transpose, 1.0, a.view(), b.view(), 0.0, c.view());
    best = std::min(best, watch.seconds());
  }
  return 2e-9 * n * n * n / best;
}

struct Row {
  Case what;
  int threads = 1;
  double seconds = 0, gigaflops = 0, dgemm_fraction = 0, speed_up = 1;
  double processor_seconds = 1e30;  // of all threads together; tells the work where other programs share the machine
  index_t perturbed = 0;
  offset_t entries = 0, panel_entries = 0;
};

std::string json_of(const Row& row) {
  std::ostringstream out;
  out << "{\"problem\":\"" << row.what.problem << "\",\"n\":" << row.what.n << ",\"kind\":\"" << name_of(row.what.kind)
      << "\",\"threads\":" << row.threads << ",\"seconds\":" << row.seconds << ",\"processor_seconds\":" << row.processor_seconds << ",\"gigaflops\":" << row.gigaflops
      << ",\"fraction_of_dgemm\":" << row.dgemm_fraction << ",\"speed_up\":" << row.speed_up
      << ",\"factor_entries\":" << row.entries << ",\"panel_entries\":" << row.panel_entries
      << ",\"perturbed\":" << row.perturbed << "}";
  return out.str();
}

void run_case(const Case& what, const Options& options, double peak, std::vector<std::string>& json) {
  SparseMatrix<double> matrix = generate({what.problem, what.n});
  OrderOptions order_options;
  order_options.method = OrderingMethod::metis;
  order_options.pivot_need = need_of(what.kind);
  const Ordering ordering = order(matrix, order_options).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  double alone = 0;
  for (int threads = 1; threads <= options.threads; ++threads) {
    ThreadTeam team(threads);
    FactorizeOptions how;
    how.kind = what.kind;
    how.team = &team;
    Row row{what, threads};
    row.seconds = 1e30;
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      const std::clock_t before = std::clock();
      const auto factor = factorize(matrix, symbolic, ordering, how).value();
      row.processor_seconds =
          std::min(row.processor_seconds, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
      row.seconds = std::min(row.seconds, factor.seconds);
      row.gigaflops = factor.flops * 1e-9 / row.seconds;
      row.perturbed = factor.pivots.perturbed;
    }
    if (threads == 1) alone = row.seconds;
    row.speed_up = alone / row.seconds;
    row.dgemm_fraction = row.gigaflops / (peak * threads);
    row.entries = factor_entries(*symbolic, what.kind);
    row.panel_entries = symbolic->panel_entries();
    std::printf("| %s %d | %s | %d | %.1f | %.1f | %.2f | %.2f | %.2f | %.3g | %d |\n", what.problem.c_str(), what.n,
                std::string(name_of(what.kind)).c_str(), threads, 1e3 * row.seconds, 1e3 * row.processor_seconds, row.gigaflops, row.dgemm_fraction,
                row.speed_up, static_cast<double>(row.entries), row.perturbed);
    std::fflush(stdout);
    json.push_back(json_of(row));
  }
}

FactorKind kind_named(const std::string& name) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    if (name == name_of(kind)) return kind;
  throw UsageError("unknown kind '" + name + "': llt, ldlt or lu");
}

Case parse_case(const std::string& text) {
  std::istringstream in(text);
  std::string problem, n, kind;
  std::getline(in, problem, ':');
  std::getline(in, n, ':');
  std::getline(in, kind, ':');
  return {problem, static_cast<index_t>(std::stoi(n)), kind.empty() ? FactorKind::llt : kind_named(kind)};
}

Options parse(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    const bool more = at + 1 < argc;
    if (std::strcmp(argv[at], "--repeats") == 0 && more) options.repeats = std::stoi(argv[++at]);
    else if (std::strcmp(argv[at], "--threads") == 0 && more) options.threads = std::stoi(argv[++at]);
    else if (std::strcmp(argv[at], "--json") == 0 && more) options.json = argv[++at];
    else options.cases.push_back(parse_case(argv[at]));
  }
  if (options.cases.empty()) options.cases = default_cases();
  return options;
}

void write_json(const std::string& path, double peak, const std::vector<std::string>& rows, int argc, char** argv) {
  std::ofstream out(path);
  out << "{\"compiler\":\"" << __VERSION__ << "\",\"dgemm_gigaflops\":" << peak << ",\"command\":\"";
  for (int at = 0; at < argc; ++at) out << (at > 0 ? " " : "") << argv[at];
  out << "\",\"rows\":[";
  for (std::size_t at = 0; at < rows.size(); ++at) out << (at > 0 ? ",\n" : "\n") << rows[at];
  out << "\n]}\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    blas::use_one_thread();
    const double peak = dgemm_rate();
    std::printf("dgemm: %.1f GFLOP/s on one thread\n\n", peak);
    std::puts("| problem | kind | threads | ms | processor ms | GFLOP/s | of dgemm | speed-up | entries | replaced |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    std::vector<std::string> json;
    for (const Case& what : options.cases) run_case(what, options, peak, json);
    if (!options.json.empty()) write_json(options.json, peak, json, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
