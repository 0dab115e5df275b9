// Question: does the ordering that `auto` picks cost, with the factorization after it, about as little as the
// best method? For each problem and method: seconds of ordering, nnz(L) and flops counted by `analyze`, and
// the seconds that the factorization should take at the rates below. With --match: seconds of matching for LU
// and LDLᵀ instead.
//
//   bench_order_rule [--match] [--json FILE] [--matrices FOLDER]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/analyze/analyze.hpp"
#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"

namespace {

using namespace palmette;

// One core of a 2-core Zen 3 machine: CHOLMOD and PARDISO with METIS take, over grids, elasticity and thermal
// problems, about this many seconds (within a factor of 1.5).
constexpr double seconds_per_flop = 1.0 / 3e10;
constexpr double seconds_per_entry = 1.2e-8;

struct Problem {
  std::string name;
  SparseMatrix<double> matrix;  // complex values become moduli: orderings use only those
};

struct Row {
  std::string problem, method, used;
  double order_seconds = 0, entries = 0, flops = 0;

  double factor_seconds() const { return flops * seconds_per_flop + entries * seconds_per_entry; }
  double total_seconds() const { return order_seconds + factor_seconds(); }
};

struct Options {
  bool match = false;
  std::string json;
  std::string matrices;  // a folder; empty: model problems alone
};

SparseMatrix<double> moduli(const SparseMatrix<std::complex<double>>& matrix) {
  SparseMatrix<double> result{matrix.pattern, {}, Symmetry::general};
  for (const std::complex<double>& value : matrix.values) result.values.push_back(std::abs(value));
  return result;
}

Problem from_file(const std::filesystem::path& path) {
  const AnyMatrix any = read_matrix(path.string(), {}).matrix;
  if (const auto* real = std::get_if<SparseMatrix<double>>(&any)) return {path.filename().string(), *real};
  return {path.filename().string(), moduli(std::get<SparseMatrix<std::complex<double>>>(any))};
}

std::vector<std::filesystem::path> matrix_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() != ".md") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<GenerateOptions> generated(bool match) {
  const auto problem = [](const char* name, index_t n) {
    GenerateOptions options;
    options.problem = name;
    options.n = n;
    return options;
  };
  if (match)
    return {problem("convection_diffusion2d", 400),
            problem("convection_diffusion3d", 40),
            problem("circuit", 100000),
            problem("random_unsymmetric", 50000),
            problem("indefinite2d", 400),
            problem("kkt3d", 20)};
  return {problem("poisson2d5", 200),
          problem("poisson2d5", 700),
          problem("poisson2d9", 400),
          problem("poisson3d7", 15),
          problem("poisson3d7", 30),
          problem("poisson3d7", 50),
          problem("poisson3d27", 25),
          problem("elasticity3d", 10),
          problem("elasticity3d", 20),
          problem("elasticity3d", 30),
          problem("thermal2d", 100000),
          problem("convection_diffusion2d", 400),
          problem("convection_diffusion3d", 30),
          problem("kkt3d", 15),
          problem("circuit", 100000),
          problem("rmat", 20000),
          problem("road", 450),
          problem("random_spd", 5000)};
}

/// The least of three times, or the first if that is over a second.
template <class Work>
double best_seconds(const Work& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
    if (best > 1) break;
  }
  return best;
}

Row measure(const Problem& problem, OrderingMethod method) {
  OrderOptions options;
  options.method = method;
  Ordering ordering;
  Row row{problem.name, std::string(name_of(method)), {}};
  row.order_seconds = best_seconds([&] { ordering = order(problem.matrix, options).value(); });
  const SymbolicFactor symbolic = analyze(problem.matrix.pattern, ordering);
  row.used = name_of(ordering.method);
  row.entries = static_cast<double>(symbolic.nnz_factor);
  row.flops = symbolic.flops_llt;
  return row;
}

std::string json_of(const Row& row) {
  std::ostringstream out;
  out << "{\"problem\":\"" << row.problem << "\",\"method\":\"" << row.method << "\",\"used\":\"" << row.used
      << "\",\"order_seconds\":" << row.order_seconds << ",\"nnz_factor\":" << row.entries
      << ",\"flops\":" << row.flops << ",\"modelled_factor_seconds\":" << row.factor_seconds() << "}";
  return out.str();
}

void compare_methods(const Problem& problem, std::vector<std::string>& json) {
  std::vector<Row> rows;
  double best = 1e300;
  for (const OrderingMethodInfo& info : ordering_method_list()) {
    if (!info.available || info.method == OrderingMethod::natural || info.method == OrderingMethod::user)
      continue;
    rows.push_back(measure(problem, info.method));
    best = std::min(best, rows.back().total_seconds());
  }
  for (const Row& row : rows) {
    std::printf("| %s | %d | %lld | %s | %.4g | %.4g | %.4g | %.4g | %.2f |\n", problem.name.c_str(),
                problem.matrix.cols(), static_cast<long long>(problem.matrix.nnz()),
                row.method == row.used ? row.method.c_str() : (row.method + " → " + row.used).c_str(),
                row.order_seconds, row.entries, row.flops, row.factor_seconds(), row.total_seconds() / best);
    json.push_back(json_of(row));
  }
  std::fflush(stdout);
}

void time_matching(const Problem& problem, std::vector<std::string>& json) {
  for (const PivotNeed need : {PivotNeed::unsymmetric, PivotNeed::indefinite}) {
    if (need == PivotNeed::indefinite && problem.matrix.symmetry == Symmetry::general) continue;
    OrderOptions options;
    options.method = OrderingMethod::natural;  // matching and scaling only
    options.pivot_need = need;
    Outcome<Ordering> outcome = Ordering{};
    const double seconds = best_seconds([&] { outcome = order(problem.matrix, options); });
    options.method = OrderingMethod::amd;
    std::string result = outcome.ok() ? "matched" : "structurally singular";
    long long pairs = 0;
    if (const Outcome<Ordering> whole = order(problem.matrix, options); whole.ok())
      pairs = std::count(whole.value().paired_with_next.begin(), whole.value().paired_with_next.end(), 1);
    const char* kind = need == PivotNeed::unsymmetric ? "LU" : "LDLT";
    std::printf("| %s | %d | %lld | %s | %.4g | %s | %lld |\n", problem.name.c_str(), problem.matrix.cols(),
                static_cast<long long>(problem.matrix.nnz()), kind, seconds, result.c_str(), pairs);
    std::ostringstream out;
    out << "{\"problem\":\"" << problem.name << "\",\"kind\":\"" << kind
        << "\",\"matching_seconds\":" << seconds << ",\"result\":\"" << result << "\",\"pairs\":" << pairs
        << "}";
    json.push_back(out.str());
  }
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    if (std::strcmp(argv[at], "--match") == 0) options.match = true;
    else if (std::strcmp(argv[at], "--json") == 0 && at + 1 < argc) options.json = argv[++at];
    else if (std::strcmp(argv[at], "--matrices") == 0 && at + 1 < argc) options.matrices = argv[++at];
    else
      throw UsageError(
          std::string("usage: bench_order_rule [--match] [--json FILE] [--matrices FOLDER]; not ") +
          argv[at]);
  }
  return options;
}

void write_json(const std::string& path, const std::vector<std::string>& rows, int argc, char** argv) {
  std::ofstream out(path);
  out << "{\"compiler\":\"" << __VERSION__ << "\",\"command\":\"";
  for (int at = 0; at < argc; ++at) out << (at > 0 ? " " : "") << argv[at];
  out << "\",\"rows\":[";
  for (std::size_t at = 0; at < rows.size(); ++at) out << (at > 0 ? ",\n" : "\n") << rows[at];
  out << "\n]}\n";
}

void run(const Options& options, std::vector<std::string>& json) {
  std::puts(
      options.match
          ? "| problem | n | nnz | kind | matching s | result | pairs |\n|---|--:|--:|---|--:|---|--:|"
          : "| problem | n | nnz | method | order s | nnz(L) | flops | factor s (model) | total ÷ best |\n"
            "|---|--:|--:|---|--:|--:|--:|--:|--:|");
  const auto handle = [&](const Problem& problem) {
    options.match ? time_matching(problem, json) : compare_methods(problem, json);
  };
  for (const GenerateOptions& generator : generated(options.match))
    handle({generator.problem + " n=" + std::to_string(generator.n), generate(generator)});
  for (const std::filesystem::path& file : matrix_files(options.matrices)) handle(from_file(file));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    std::vector<std::string> json;
    run(options, json);
    if (!options.json.empty()) write_json(options.json, json, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
