// Is there a cliff for small and thin systems? For each family of matrices and each n: the cost of one system
// end to end (from the matrix in memory to x) and of one more right-hand side, for Palmette and, if
// installed, KLU and Eigen. Prints JSON lines; seconds are medians of warm repeats. Threads: one and two for
// Palmette, one for the others.
//
// usage: bench_small_systems [--sizes 1,10,100] [--seconds 0.02] [--palmette-only] [FAMILY | MATRIX.mtx]...
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "bench/median.hpp"
#include "palmette/solver/solver.hpp"
#ifdef PALMETTE_BENCH_KLU
#include <klu.h>
#endif
#ifdef PALMETTE_BENCH_EIGEN
#include <Eigen/Sparse>
#endif

namespace {

using namespace palmette;
using Matrix = SparseMatrix<double>;

/// A reproducible number in [−1, 1).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return double(state_ >> 11) / double(1ULL << 52) - 1;
  }
  index_t below(index_t n) { return std::min(n - 1, index_t((next() + 1) / 2 * n)); }

 private:
  std::uint64_t state_;
};

struct Triplets {
  std::map<std::pair<index_t, index_t>, double> entries;  // by column, then row
  void add(index_t row, index_t column, double value) { entries[{column, row}] += value; }
  Matrix matrix(index_t n) const {
    Matrix made;
    made.pattern.rows = made.pattern.cols = n;
    made.pattern.column_ptr.assign(std::size_t(n) + 1, 0);
    for (const auto& [place, value] : entries) {
      ++made.pattern.column_ptr[place.first + 1];
      made.pattern.row_index.push_back(place.second);
      made.values.push_back(value);
    }
    for (index_t j = 0; j < n; ++j) made.pattern.column_ptr[j + 1] += made.pattern.column_ptr[j];
    return made;
  }
};

Matrix grid(index_t n) {
  const index_t rhs = std::max<index_t>(1, index_t(std::ceil(std::sqrt(double(n)))));
  Triplets made;
  for (index_t i = 0; i < n; ++i) {
    made.add(i, i, 4);
    if (i % rhs != 0) made.add(i, i - 1, -1), made.add(i - 1, i, -1);
    if (i >= rhs) made.add(i, i - rhs, -1), made.add(i - rhs, i, -1);
  }
  return made.matrix(n);
}

/// Five entries per column at random places, and a diagonal that need not be large.
Matrix scattered(index_t n) {
  Triplets made;
  Numbers numbers(7);
  for (index_t j = 0; j < n; ++j) {
    made.add(j, j, 0.5 + numbers.next() / 4);
    for (int k = 0; k < std::min<index_t>(4, n - 1); ++k) made.add(numbers.below(n), j, numbers.next());
  }
  return made.matrix(n);
}

Matrix tridiagonal(index_t n) {
  Triplets made;
  for (index_t i = 0; i < n; ++i) {
    made.add(i, i, 2.5);
    if (i > 0) made.add(i, i - 1, -1.25), made.add(i - 1, i, -0.75);
  }
  return made.matrix(n);
}

Matrix arrow(index_t n) {
  Triplets made;
  for (index_t i = 0; i < n; ++i) {
    made.add(i, i, i == 0 ? double(n) : 2.0);
    if (i > 0) made.add(i, 0, -1), made.add(0, i, -0.5);
  }
  return made.matrix(n);
}

Matrix dense(index_t n) {
  Triplets made;
  Numbers numbers(3);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) made.add(i, j, numbers.next() + (i == j ? 1 : 0));
  return made.matrix(n);
}

Matrix circuit(index_t n) { return generate({"circuit", n, 1, 0}); }

const std::map<std::string, std::function<Matrix(index_t)>>& families() {
  static const std::map<std::string, std::function<Matrix(index_t)>> list = {
      {"grid", grid},   {"scattered", scattered}, {"tridiagonal", tridiagonal},
      {"arrow", arrow}, {"dense", dense},         {"circuit", circuit}};
  return list;
}

double seconds_for_each = 0.02;
bool with_rivals = true;

/// Median of as many runs as the time allows, at least three.
double median_seconds(const std::function<void()>& work) {
  work();
  std::vector<double> all;
  const Stopwatch whole;
  while (all.size() < 3 || (whole.seconds() < seconds_for_each && all.size() < 10000)) {
    const Stopwatch watch;
    work();
    all.push_back(watch.seconds());
  }
  return bench::median(std::move(all));
}

/// Microseconds from the matrix to x, microseconds of one more solve, and the error of x.
struct Row {
  double total = 0, first_phases = 0, factor = 0, solve = 0, backward_error = 0;
  std::string what;
};

double backward_error(const Matrix& matrix, const std::vector<double>& b, const std::vector<double>& x) {
  const index_t n = matrix.rows();
  return verify<double>(matrix, Operation::plain, {b.data(), n, 1, n}, {x.data(), n, 1, n}).backward_error;
}

Row palmette_row(const std::shared_ptr<const Matrix>& matrix, const std::vector<double>& b, int threads) {
  const index_t n = matrix->rows();
  std::vector<double> x(b.size());
  SolverOptions options;
  options.threads = threads;
  options.measure = false;
  const auto solve_with = [&](Solver<double>& solver) {
    return solver.solve({b.data(), n, 1, n}, {x.data(), n, 1, n}).value();
  };
  Row row;
  row.total = median_seconds([&] {
    Solver<double> solver = Solver<double>::create(matrix, options).value();
    solve_with(solver);
  });
  row.backward_error = backward_error(*matrix, b, x);
  Solver<double> solver = Solver<double>::create(matrix, options).value();
  row.first_phases = solver.report().order->seconds + solver.report().analyze->seconds;
  row.factor = median_seconds([&] { solver.refactor(matrix).value(); });
  row.solve = median_seconds([&] { solve_with(solver); });
  const Report report = solve_with(solver);
  row.what = std::string(name_of(report.factorize->kind)) + " " + std::to_string(report.analyze->supernodes) +
             " supernodes, " + std::to_string(report.analyze->nnz_factor) + " entries, " +
             std::to_string(report.solve->threads) + " threads";
  return row;
}

#ifdef PALMETTE_BENCH_KLU
Row klu_row(const Matrix& matrix, const std::vector<double>& b) {
  std::vector<int> start(matrix.pattern.column_ptr.begin(), matrix.pattern.column_ptr.end());
  std::vector<int> rows(matrix.pattern.row_index.begin(), matrix.pattern.row_index.end());
  std::vector<double> values = matrix.values, x;
  klu_common common;
  klu_defaults(&common);
  const int n = matrix.rows();
  Row row;
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  const auto forget = [&] {
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  };
  row.total = median_seconds([&] {
    forget();
    symbolic = klu_analyze(n, start.data(), rows.data(), &common);
    numeric = klu_factor(start.data(), rows.data(), values.data(), symbolic, &common);
    x = b;
    klu_solve(symbolic, numeric, n, 1, x.data(), &common);
  });
  row.backward_error = backward_error(matrix, b, x);
  row.first_phases = median_seconds([&] {
    klu_symbolic* other = klu_analyze(n, start.data(), rows.data(), &common);
    klu_free_symbolic(&other, &common);
  });
  row.factor = median_seconds([&] {
    klu_numeric* other = klu_factor(start.data(), rows.data(), values.data(), symbolic, &common);
    klu_free_numeric(&other, &common);
  });
  row.solve = median_seconds([&] {
    x = b;
    klu_solve(symbolic, numeric, n, 1, x.data(), &common);
  });
  row.what = std::to_string(symbolic->nblocks) + " blocks, " +
             std::to_string(numeric->lnz + numeric->unz + numeric->nzoff) + " entries";
  forget();
  return row;
}
#endif

#ifdef PALMETTE_BENCH_EIGEN
template <class Method>
Row eigen_row(const Matrix& matrix, const std::vector<double>& b, const char* name) {
  const index_t n = matrix.rows();
  std::vector<int> start(matrix.pattern.column_ptr.begin(), matrix.pattern.column_ptr.end());
  const Eigen::Map<const Eigen::SparseMatrix<double>> mapped(
      n, n, Eigen::Index(matrix.nnz()), start.data(), matrix.pattern.row_index.data(), matrix.values.data());
  const Eigen::SparseMatrix<double> given = mapped;
  const Eigen::VectorXd rhs = Eigen::Map<const Eigen::VectorXd>(b.data(), n);
  Eigen::VectorXd x;
  Row row;
  row.total = median_seconds([&] {
    Method method;
    method.compute(given);
    x = method.solve(rhs);
  });
  row.backward_error = backward_error(matrix, b, std::vector<double>(x.data(), x.data() + n));
  Method method;
  row.first_phases = median_seconds([&] { method.analyzePattern(given); });
  row.factor = median_seconds([&] { method.factorize(given); });
  row.solve = median_seconds([&] { x = method.solve(rhs); });
  row.what = name;
  return row;
}
#endif

void print(const std::string& family, const Matrix& matrix, const std::string& solver, const Row& row) {
  std::printf(
      "{\"family\": \"%s\", \"n\": %d, \"nnz\": %lld, \"solver\": \"%s\", \"total_us\": %.2f, "
      "\"first_phases_us\": %.2f, "
      "\"factor_us\": %.2f, \"solve_us\": %.3f, \"backward_error\": %.1e, \"what\": \"%s\"}\n",
      family.c_str(), matrix.rows(), static_cast<long long>(matrix.nnz()), solver.c_str(), row.total * 1e6,
      row.first_phases * 1e6, row.factor * 1e6, row.solve * 1e6, row.backward_error, row.what.c_str());
  std::fflush(stdout);
}

void measure(const std::string& family, Matrix given) {
  if (given.symmetry == Symmetry::general) given.symmetry = detect_symmetry(given);
  const auto matrix = std::make_shared<const Matrix>(std::move(given));
  std::vector<double> b(std::size_t(matrix->rows()));
  Numbers numbers(1);
  for (double& value : b) value = numbers.next();
  for (const int threads : {1, 2})
    print(family, *matrix, "palmette" + std::to_string(threads), palmette_row(matrix, b, threads));
  if (!with_rivals) return;
#ifdef PALMETTE_BENCH_KLU
  print(family, *matrix, "klu", klu_row(*matrix, b));
#endif
#ifdef PALMETTE_BENCH_EIGEN
  print(family, *matrix, "eigen_lu",
        eigen_row<Eigen::SparseLU<Eigen::SparseMatrix<double>>>(*matrix, b, "SparseLU"));
  if (choose_kind(*matrix) == FactorKind::llt)
    print(family, *matrix, "eigen_llt",
          eigen_row<Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>>(*matrix, b, "SimplicialLLT"));
#endif
}

std::vector<index_t> sizes_of(const char* text) {
  std::vector<index_t> sizes;
  for (const char* at = text; *at != 0;
       at = std::strchr(at, ',') != nullptr ? std::strchr(at, ',') + 1 : at + std::strlen(at))
    sizes.push_back(std::atoi(at));
  return sizes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<index_t> sizes = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
  std::vector<std::string> wanted;
  for (int at = 1; at < argc; ++at) {
    if (std::strcmp(argv[at], "--sizes") == 0 && at + 1 < argc) sizes = sizes_of(argv[++at]);
    else if (std::strcmp(argv[at], "--palmette-only") == 0) with_rivals = false;
    else if (std::strcmp(argv[at], "--seconds") == 0 && at + 1 < argc)
      seconds_for_each = std::atof(argv[++at]);
    else wanted.push_back(argv[at]);
  }
  if (wanted.empty())
    for (const auto& family : families()) wanted.push_back(family.first);
  try {
    for (const std::string& family : wanted) {
      const auto known = families().find(family);
      if (known == families().end()) {
        AnyMatrix any = read_matrix(family).matrix;
        if (std::holds_alternative<Matrix>(any))
          measure(family.substr(family.find_last_of('/') + 1), std::get<Matrix>(std::move(any)));
        continue;
      }
      for (const index_t n : sizes)
        if (family != "dense" || n <= 1000) measure(family, known->second(n));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
