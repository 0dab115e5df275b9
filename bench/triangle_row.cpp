// How fast are solves with a plain triangle compared with the simplest loops over compressed rows and with
// other programs? One lower triangular matrix, one row: prints a JSON object in the form that the
// comparison's runner collects, with the seconds of the simplest loops in the same process (csr_…) and the
// analysis in units of one solve by such a loop.
//
//   bench_triangle_row MATRIX.mtx|MATRIX.csc [method] [right-hand sides]      threads: PEERS_THREADS, default
//   1; right-hand sides: default 50
//
// .csc: 'PEERCSC1', int64 rows columns entries kind, int64 column_ptr[], int32 row[], double value[].
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "palmette/solve/solve.hpp"

namespace {

using namespace palmette;
using Matrix = SparseMatrix<double>;

template <class Item>
void read_items(std::ifstream& in, std::vector<Item>& items, std::size_t count) {
  items.resize(count);
  in.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(count * sizeof(Item)));
}

Matrix read_binary(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> magic;
  std::vector<std::int64_t> head;
  read_items(in, magic, 8);
  read_items(in, head, 4);
  if (!in || std::memcmp(magic.data(), "PEERCSC1", 8) != 0)
    throw UsageError(path + " is not a binary matrix");
  Matrix matrix;
  matrix.pattern.rows = static_cast<index_t>(head[0]);
  matrix.pattern.cols = static_cast<index_t>(head[1]);
  read_items(in, matrix.pattern.column_ptr, static_cast<std::size_t>(head[1]) + 1);
  read_items(in, matrix.pattern.row_index, static_cast<std::size_t>(head[2]));
  read_items(in, matrix.values, static_cast<std::size_t>(head[2]));
  if (!in) throw UsageError(path + " ends too early");
  return matrix;
}

Matrix read_triangle(const std::string& path) {
  if (path.size() > 4 && path.compare(path.size() - 4, 4, ".csc") == 0) return read_binary(path);
  return std::get<Matrix>(read_matrix(path).matrix);
}

/// Median of five or more calls after a first one; `budget` seconds in all.
template <class Work>
double median_seconds(Work&& work, double budget = 0.5) {
  std::vector<double> seconds;
  double total = 0;
  work();
  while (seconds.size() < 5 || (total < budget && seconds.size() < 101)) {
    const Stopwatch watch;
    work();
    seconds.push_back(watch.seconds());
    total += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// The rows of L in the order of a plain loop, the diagonal last; for Lᵀ (the columns of L), the diagonal
/// first.
struct Loops {
  const Matrix& columns;
  Matrix rows;

  void forward(double* x) const {
    for (index_t row = 0; row < rows.cols(); ++row) {
      const offset_t last = rows.pattern.column_ptr[row + 1] - 1;
      double sum = x[row];
      for (offset_t entry = rows.pattern.column_ptr[row]; entry < last; ++entry)
        sum -= rows.values[entry] * x[rows.pattern.row_index[entry]];
      x[row] = sum / rows.values[last];
    }
  }
  void backward(double* x) const {
    for (index_t row = columns.cols(); row-- > 0;) {
      const offset_t first = columns.pattern.column_ptr[row];
      double sum = x[row];
      for (offset_t entry = first + 1; entry < columns.pattern.column_ptr[row + 1]; ++entry)
        sum -= columns.values[entry] * x[columns.pattern.row_index[entry]];
      x[row] = sum / columns.values[first];
    }
  }
  /// Right-hand sides side by side in the rows of w.
  void many(bool transposed, DenseView<const double> b, std::vector<double>& w, DenseView<double> x) const {
    const Matrix& lists = transposed ? columns : rows;
    const index_t n = lists.cols(), count = b.cols;
    for (index_t row = 0; row < n; ++row)
      for (index_t rhs = 0; rhs < count; ++rhs) w[offset_t{row} * count + rhs] = b(row, rhs);
    for (index_t place = 0; place < n; ++place) {
      const index_t row = transposed ? n - 1 - place : place;
      const offset_t begin = lists.pattern.column_ptr[row], end = lists.pattern.column_ptr[row + 1];
      double* const y = &w[offset_t{row} * count];
      for (offset_t entry = begin + transposed; entry < end - !transposed; ++entry) {
        const double* const z = &w[offset_t{lists.pattern.row_index[entry]} * count];
        for (index_t rhs = 0; rhs < count; ++rhs) y[rhs] -= lists.values[entry] * z[rhs];
      }
      const double scale = 1 / lists.values[transposed ? begin : end - 1];
      for (index_t rhs = 0; rhs < count; ++rhs) y[rhs] *= scale;
    }
    for (index_t row = 0; row < n; ++row)
      for (index_t rhs = 0; rhs < count; ++rhs) x(row, rhs) = w[offset_t{row} * count + rhs];
  }
};

double backward_error(const Matrix& matrix, Operation operation, DenseView<const double> b,
                      DenseView<const double> x) {
  DenseMatrix<double> residual(b.rows, b.cols);
  for (index_t rhs = 0; rhs < b.cols; ++rhs)
    std::copy_n(b.column(rhs), b.rows, residual.view().column(rhs));
  multiply_add(matrix, operation, -1.0, x, residual.view());
  std::vector<double> sums(b.rows, 0.0);
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      sums[operation == Operation::plain ? matrix.pattern.row_index[entry] : column] +=
          std::abs(matrix.values[entry]);
  const double norm = *std::max_element(sums.begin(), sums.end());
  double worst = 0;
  for (index_t rhs = 0; rhs < b.cols; ++rhs) {
    double r = 0, size = 0;
    for (index_t row = 0; row < b.rows; ++row) {
      r = std::max(r, std::abs(residual.view()(row, rhs)));
      size = std::max(size, norm * std::abs(x(row, rhs)) + std::abs(b(row, rhs)));
    }
    worst = std::max(worst, r / size);
  }
  return worst;
}

struct Direction {
  double one = 0, many = 0, loop_one = 0, loop_many = 0, first_s = 0, error_one = 0, error_many = 0;
};

struct Setting {
  const Matrix& matrix;
  const Loops& loops;
  const SolvePlan<double>& plan;
  index_t num_rhs;
  SolveRun run;
};

Direction time_direction(const Setting& setting, bool transposed) {
  const Matrix& matrix = setting.matrix;
  const Loops& loops = setting.loops;
  const index_t n = matrix.rows(), num_rhs = setting.num_rhs;
  const Operation operation = transposed ? Operation::transpose : Operation::plain;
  DenseMatrix<double> truth(n, num_rhs), b(n, num_rhs), x(n, num_rhs);
  std::uint64_t state = 12345;
  for (double& value : truth.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = double(state >> 11) / double(1ULL << 52) - 1;
  }
  multiply_add(matrix, operation, 1.0, std::as_const(truth).view(), b.view());
  const DenseView<const double> all = std::as_const(b).view(), first = all.columns(0, 1);
  const auto solve = [&](DenseView<const double> given) {
    setting.plan.solve(operation, given, x.view().columns(0, given.cols), setting.run);
  };
  Direction out;
  const Stopwatch watch;
  solve(first);
  out.first_s = watch.seconds();
  out.one = median_seconds([&] { solve(first); });
  out.error_one = backward_error(matrix, operation, first, std::as_const(x).view().columns(0, 1));
  out.many = median_seconds([&] { solve(all); });
  out.error_many = backward_error(matrix, operation, all, std::as_const(x).view());
  // A loop in place must copy b for the same result, so the copy is timed.
  std::vector<double> y(n),
      w(static_cast<std::size_t>(n) * static_cast<std::size_t>(num_rhs));
  out.loop_one = median_seconds([&] {
    std::copy_n(first.data, n, y.data());
    transposed ? loops.backward(y.data()) : loops.forward(y.data());
  });
  out.loop_many = median_seconds([&] { loops.many(transposed, all, w, x.view()); });
  return out;
}

int run(const std::string& path, SolveMethod method, index_t num_rhs) {
  const Matrix matrix = read_triangle(path);
  const char* asked = std::getenv("PEERS_THREADS");
  ThreadTeam team(asked != nullptr ? std::max(1, std::atoi(asked)) : 1);
  const SolveRun how{method, team.size() > 1 ? &team : nullptr};
  const Loops loops{matrix, transpose(matrix)};
  const Stopwatch watch;
  const SolvePlan<double> plan = plan_triangle(matrix).value();
  const double plan_s = watch.seconds();
  const Setting setting{matrix, loops, plan, num_rhs, how};
  const Direction forward = time_direction(setting, false), backward = time_direction(setting, true);
  const double analyze_s = plan_s + forward.first_s - forward.one + backward.first_s - backward.one;
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.rfind('.'));
  std::printf(
      "{\"solver\": \"palmette_triangle\", \"matrix\": \"%s\", \"threads\": %d, \"ranks\": 1, \"n\": %d, "
      "\"nnz_a\": %lld, "
      "\"analyze_s\": %.4g, \"factor_s\": null, \"nnz_l\": %lld, \"flops\": null, \"solve1_s\": %.4g, "
      "\"solve50_s\": %.4g, "
      "\"fwd1_s\": %.4g, \"bwd1_s\": %.4g, \"fwd50_s\": %.4g, \"bwd50_s\": %.4g, \"berr\": %.3g, \"berr50\": "
      "%.3g, "
      "\"rss_mb\": %.4g, \"csr_fwd1_s\": %.4g, \"csr_bwd1_s\": %.4g, \"csr_fwd50_s\": %.4g, \"csr_bwd50_s\": "
      "%.4g, "
      "\"analysis_in_solves\": %.3g, \"gigabytes_per_second\": %.3g, \"plan_mb\": %.4g, \"note\": \"%d "
      "sides\"}\n",
      name.c_str(), team.size(), matrix.rows(), static_cast<long long>(matrix.nnz()), analyze_s,
      static_cast<long long>(matrix.nnz()), forward.one + backward.one, forward.many + backward.many,
      forward.one, backward.one, forward.many, backward.many, std::max(forward.error_one, backward.error_one),
      std::max(forward.error_many, backward.error_many), double(peak_memory_bytes()) / 1e6, forward.loop_one,
      backward.loop_one, forward.loop_many, backward.loop_many,
      analyze_s / (forward.loop_one + backward.loop_one),
      2e-9 * plan.cost(1).bytes / (forward.one + backward.one), double(plan.memory_bytes()) / 1e6, num_rhs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: bench_triangle_row MATRIX.mtx|MATRIX.csc [method] [sides]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? solve_method(argv[2]) : SolveMethod::automatic,
               argc > 3 ? std::max(1, std::atoi(argv[3])) : 50);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
