// Question: does Palmette's nested dissection order as fast as METIS, and with as little fill? For each
// problem: milliseconds of `metis`, of `nd` on one and two threads and of `amd`, measured in turn, and the
// factor's entries and flops, counted by `analyze`, over those of METIS. Printed as rows of
// docs/results/ordering.md. With --auto the same for `auto` against `amd`, on large planar meshes.
//
//   bench_dissection [--auto] [--repeats R] [--matrices FOLDER] [PROBLEM:N | FILE ...]
//
// PROBLEM:N is a problem of `palmette generate`; without any, problems of that page. FILE is looked for in
// FOLDER.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "palmette/analyze/analyze.hpp"
#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"

namespace {

using namespace palmette;

struct Options {
  OrderingMethod ours = OrderingMethod::nd, rival = OrderingMethod::metis;
  int repeats = 3;
  std::string matrices;  // a folder
  std::vector<std::string> problems;
};

/// One way to order: the best time so far, and what the factor holds.
struct Run {
  OrderingMethod method;
  int threads;
  double seconds = 1e300, entries = 0, flops = 0;
};

const std::vector<std::string> generated = {
    "kkt3d:20",        "convection_diffusion3d:40", "poisson3d7:15",  "poisson3d7:30", "poisson3d7:50",
    "elasticity3d:10", "elasticity3d:20",           "poisson3d27:20", "kkt3d:15",      "poisson2d9:200",
    "thermal2d:50000"};
const std::vector<std::string> planar = {"thermal2d:100000", "thermal2d:200000", "thermal2d:500000",
                                         "thermal2d:1000000", "poisson2d5:320", "poisson2d5:512",
                                         "poisson2d5:1000"};
const std::vector<std::string> from_files = {"ncvxqp1.rsa.gz", "octocat_elast.mtx.gz",
                                             "monkey8K_elast.mtx.gz", "delaunay_n16.mtx.gz",
                                             "Andrews.mtx.gz"};

SparseMatrix<double> read_or_make(const std::string& name, const std::string& folder) {
  const std::size_t colon = name.find(':');
  if (colon != std::string::npos) {
    GenerateOptions options;
    options.problem = name.substr(0, colon);
    options.n = static_cast<index_t>(std::stol(name.substr(colon + 1)));
    return generate(options);
  }
  return std::get<SparseMatrix<double>>(
      read_matrix((std::filesystem::path(folder) / name).string(), {}).matrix);
}

void measure(const SparseMatrix<double>& matrix, Run& run, bool count) {
  OrderOptions options;
  options.method = run.method;
  options.threads = run.threads;
  const Stopwatch watch;
  const Ordering ordering = order(matrix, options).value();
  run.seconds = std::min(run.seconds, watch.seconds());
  if (!count) return;
  const SymbolicFactor symbolic = analyze(matrix.pattern, ordering);
  run.entries = static_cast<double>(symbolic.nnz_factor);
  run.flops = symbolic.flops_llt;
}

/// Sums of logarithms, for geometric means.
struct Means {
  int rows = 0;
  double one = 0, two = 0, entries = 0, flops = 0;
};

/// @param runs  the rival, ours on one and two threads, and AMD unless it is the rival
void print_row(const std::string& name, const std::vector<Run>& runs, Means& means) {
  const Run &rival = runs[0], &one = runs[1], &two = runs[2];
  std::printf("| %s |", name.c_str());
  for (const Run& run : runs) std::printf(" %.1f |", 1e3 * run.seconds);
  std::printf(" %.2f | %.2f |", one.entries / rival.entries, one.flops / rival.flops);
  if (runs.size() > 3) std::printf(" %.2f |", runs[3].entries / rival.entries);
  std::puts("");
  std::fflush(stdout);
  ++means.rows;
  means.one += std::log(one.seconds / rival.seconds);
  means.two += std::log(two.seconds / rival.seconds);
  means.entries += std::log(one.entries / rival.entries);
  means.flops += std::log(one.flops / rival.flops);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    if (std::strcmp(argv[at], "--repeats") == 0 && at + 1 < argc)
      options.repeats = std::stoi(argv[++at]);
    else if (std::strcmp(argv[at], "--matrices") == 0 && at + 1 < argc)
      options.matrices = argv[++at];
    else if (std::strcmp(argv[at], "--auto") == 0)
      options.ours = OrderingMethod::automatic, options.rival = OrderingMethod::amd;
    else if (argv[at][0] == '-')
      throw UsageError(
          std::string(
              "usage: bench_dissection [--auto] [--repeats R] [--matrices FOLDER] [PROBLEM:N | FILE ...]; "
              "not ") +
          argv[at]);
    else
      options.problems.push_back(argv[at]);
  }
  if (!options.problems.empty()) return options;
  options.problems = options.ours == OrderingMethod::nd ? generated : planar;
  if (!options.matrices.empty())
    options.problems.insert(options.problems.end(), from_files.begin(), from_files.end());
  return options;
}

void print_head(const std::string& ours, const std::string& rival) {
  const bool has_amd = rival != "amd";
  const std::string over = " ÷ " + rival;
  std::cout << "| problem | ms " << rival << " | ms " << ours << ", 1 thread | ms " << ours << ", 2 threads |"
            << (has_amd ? " ms amd |" : "") << " nnz(L) " << ours << over << " | flops " << ours << over
            << " |" << (has_amd ? " nnz(L) amd" + over + " |" : "") << "\n|---|--:|--:|--:|--:|--:|"
            << (has_amd ? "--:|--:|" : "") << std::endl;
}

void compare(const Options& options) {
  const std::string rival(name_of(options.rival));
  print_head(std::string(name_of(options.ours)), rival);
  Means means;
  for (const std::string& name : options.problems) {
    const SparseMatrix<double> matrix = read_or_make(name, options.matrices);
    std::vector<Run> runs = {{options.rival, 1}, {options.ours, 1}, {options.ours, 2}};
    if (options.rival != OrderingMethod::amd) runs.push_back({OrderingMethod::amd, 1});
    for (int repeat = 0; repeat < options.repeats; ++repeat)
      for (Run& run : runs) measure(matrix, run, repeat == 0);
    print_row(name, runs, means);
  }
  const auto mean = [&](double sum) { return std::exp(sum / means.rows); };
  std::printf(
      "\nGeometric means over %s: time %.2f on one thread and %.2f on two, entries %.3f, flops %.3f\n",
      rival.c_str(), mean(means.one), mean(means.two), mean(means.entries), mean(means.flops));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compare(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
