// Measurements first, then two small fits.
#include "palmette/solver/measure_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "palmette/factorize/factorize.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {
namespace {

template <class Work>
double best_seconds(Work&& work, double longest, int least = 5) {
  double best = 1e300;
  const Stopwatch all;
  for (int pass = 0; pass < least || all.seconds() < longest; ++pass) {
    const Stopwatch one;
    work();
    best = std::min(best, one.seconds());
  }
  return std::max(best, 1e-9);
}

RateCurve memory_curve(const ClusterMeasurement& options) {
  RateCurve curve;
  for (int threads = 1;; threads = std::min(2 * threads, options.threads)) {
    MeasureOptions how;
    how.threads = threads;
    if (options.quick) how.array_bytes = offset_t{1} << 22;
    double best = 0;
    for (int pass = 0; pass < (options.quick ? 1 : 3); ++pass) best = std::max(best, measure_machine(how).read_bandwidth_gbs);
    curve.push_back({static_cast<double>(threads), best});
    if (threads == options.threads) return curve;
  }
}

/// A panel of 256 × 128 times n columns.
RateCurve kernel_curve(bool quick) {
  constexpr index_t rows = 256, width = 128;
  RateCurve curve;
  DenseMatrix<double> panel(rows, width);
  for (index_t column = 0; column < width; ++column)
    for (index_t row = 0; row < rows; ++row) panel.view()(row, column) = 1.0 / (1 + row + column);
  blas::use_one_thread();
  for (const index_t columns : {1, 2, 8, 32, 128}) {
    DenseMatrix<double> x(width, columns), out(rows, columns);
    for (index_t column = 0; column < columns; ++column)
      for (index_t row = 0; row < width; ++row) x.view()(row, column) = 1;
    const double seconds = best_seconds(
        [&] {
          if (columns == 1) panel_multiply<double>(panel.view(), x.view(), out.view());
          else blas::gemm<double>(blas::Transpose::no, blas::Transpose::no, 1, panel.view(), x.view(), 0, out.view());
        },
        quick ? 0.002 : 0.03);
    const double rate = 2e-9 * rows * width * columns / seconds;
    curve.push_back({static_cast<double>(columns), curve.empty() ? rate : std::max(rate, curve.back().rate)});
  }
  return curve;
}

/// One model problem: what it costs by structure, and what it took.
struct Sample {
  std::string name;
  TaskWork work;       // one sweep
  double tasks = 0;    // one sweep
  double seconds = 0;  // both sweeps
};

Sample measured_sample(const GenerateOptions& problem, bool quick) {
  const SparseMatrix<double> matrix = generate(problem);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(matrix, how).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  const auto factor = std::make_shared<const Factor<double>>(factorize(matrix, symbolic, ordering).value());
  const SolvePlan<double> plan = plan_solve<double>(factor);
  DenseMatrix<double> b(matrix.rows(), 1), x(matrix.rows(), 1);
  for (index_t row = 0; row < matrix.rows(); ++row) b.view()(row, 0) = 1;
  const SolveTask all = sweep_work(*symbolic, 0, symbolic->num_supernodes());
  Sample sample;
  sample.name = problem.problem + ":" + std::to_string(problem.n);
  sample.work = {all.entries * sizeof(double), 2 * all.entries, all.panels, all.rows, 1};
  sample.tasks = sweep_groups(*symbolic).num_groups();
  sample.seconds = best_seconds([&] { plan.solve(Operation::plain, b.view(), x.view()); }, quick ? 0.005 : 0.15, quick ? 2 : 7);
  return sample;
}

std::vector<Sample> samples(bool quick) {
  struct Problem {
    const char* name;
    index_t n;
  };
  const std::vector<Problem> problems = quick ? std::vector<Problem>{{"poisson2d5", 20}, {"poisson2d9", 40}, {"poisson3d7", 8}}
                                              : std::vector<Problem>{{"poisson2d5", 100}, {"poisson2d5", 300}, {"poisson2d9", 150}, {"poisson2d9", 400},
                                                                     {"poisson3d7", 14},  {"poisson3d7", 24},  {"thermal2d", 40000}, {"elasticity3d", 10}, {"elasticity3d", 13},
                                                                     {"poisson3d27", 18}, {"poisson2d9", 600}};
  std::vector<Sample> result;
  for (const Problem& one : problems) {
    GenerateOptions options;
    options.problem = one.name;
    options.n = one.n;
    result.push_back(measured_sample(options, quick));
  }
  return result;
}

/// Columns of a least-squares problem with up to five unknowns; none may be negative.
class SmallFit {
 public:
  static constexpr std::size_t unknowns = 5;
  using Row = std::array<double, unknowns>;
  void add(const Row& row, double right) {
    rows_.push_back(row);
    right_.push_back(right);
  }
  /// The best of all choices of unknowns that are not zero, where all are positive.
  Row solve() const {
    Row best{};
    double least = misfit(best);
    for (unsigned chosen = 1; chosen < (1u << unknowns); ++chosen) {
      const Row candidate = of(chosen);
      const bool allowed = std::all_of(candidate.begin(), candidate.end(), [](double value) { return value >= 0 && std::isfinite(value); });
      if (!allowed || misfit(candidate) >= least) continue;
      least = misfit(candidate);
      best = candidate;
    }
    return best;
  }

 private:
  double misfit(const Row& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      double value = -right_[k];
      for (std::size_t column = 0; column < unknowns; ++column) value += rows_[k][column] * x[column];
      sum += value * value;
    }
    return sum;
  }
  /// Normal equations of the chosen unknowns by elimination; they are few and their columns of like size.
  Row of(unsigned chosen) const {
    std::array<std::array<double, unknowns + 1>, unknowns> normal{};
    for (std::size_t i = 0; i < unknowns; ++i) {
      if ((chosen >> i & 1u) == 0) {
        normal[i][i] = 1;
        continue;
      }
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        for (std::size_t j = 0; j < unknowns; ++j)
          if ((chosen >> j & 1u) != 0) normal[i][j] += rows_[k][i] * rows_[k][j];
        normal[i][unknowns] += rows_[k][i] * right_[k];
      }
    }
    for (std::size_t pivot = 0; pivot < unknowns; ++pivot)
      for (std::size_t row = 0; row < unknowns; ++row) {
        if (row == pivot) continue;
        const double factor = normal[row][pivot] / normal[pivot][pivot];
        for (std::size_t column = pivot; column <= unknowns; ++column) normal[row][column] -= factor * normal[pivot][column];
      }
    Row x{};
    for (std::size_t i = 0; i < unknowns; ++i) x[i] = normal[i][unknowns] / normal[i][i];
    return x;
  }
  std::vector<Row> rows_;
  std::vector<double> right_;
};

double fitted_seconds(const Cluster& cluster, const Sample& sample) {
  const double gbs = cluster.rank_solve_gbs(1, sample.work.bytes);
  return 2 * (cluster.seconds(sample.work, gbs) + (sample.tasks - 1) * cluster.overheads.task_us * 1e-6);
}

void fit_overheads(Cluster& cluster, const std::vector<Sample>& measured) {
  SmallFit fit;
  for (const Sample& sample : measured) {
    const double reading = fitted_seconds(cluster, sample), bytes = sample.work.bytes;
    const double from_memory = bytes - std::min(bytes, cluster.cache_bytes);
    // Relative: small problems count as much as large ones. In the units of TaskOverheads.
    fit.add({2e-6 * sample.tasks / sample.seconds, 2e-6 * sample.work.panels / sample.seconds, 2e-9 * sample.work.rows / sample.seconds,
             2e-9 * bytes / sample.seconds, 2e-9 * from_memory / sample.seconds},
            1 - reading / sample.seconds);
  }
  const SmallFit::Row found = fit.solve();
  cluster.overheads = {found[0], found[1], found[2], found[3], found[4]};
}

/// What sending and taking a message costs a rank's thread, microseconds each.
double message_overhead_us(bool quick) {
  const std::unique_ptr<Transport> alone = make_loopback();
  BytePool pool;
  const int count = quick ? 100 : 2000;
  const double seconds = best_seconds(
      [&] {
        for (int k = 0; k < count; ++k) alone->send(0, k, pool.take(64));
        Message message;
        while (alone->poll(message)) continue;
      },
      0.01);
  return 1e6 * seconds / count / 2;
}

}  // namespace

std::vector<PingPong> ping_pong(Transport& transport, bool quick) {
  std::vector<PingPong> figures;
  BytePool pool;
  std::vector<std::byte> seen(std::size_t{1} << 20);
  const index_t other = 1 - transport.rank();
  const auto receive = [&] {
    Message message;
    for (int turns = 0; !transport.poll(message);) transport.rest(turns++);
    std::memcpy(seen.data(), message.payload.data(), message.payload.size());
  };
  for (std::size_t bytes = 8; bytes <= seen.size(); bytes *= 4) {
    const int trips = quick ? 20 : static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 22) / bytes, 20, 500));
    double best = 1e300;
    for (int repeat = 0; repeat < (quick ? 2 : 9); ++repeat) {
      transport.agree(0);
      const Stopwatch watch;
      for (int trip = 0; trip < trips; ++trip) {
        if (transport.rank() == 1) receive();
        SharedBytes payload = pool.take(bytes);
        std::memcpy(payload.writable().data(), seen.data(), bytes);
        transport.send(other, trip, std::move(payload));
        transport.flush();
        if (transport.rank() == 0) receive();
      }
      best = std::min(best, watch.seconds() / (2 * trips));
    }
    if (transport.rank() == 0) figures.push_back({bytes, best});
  }
  transport.agree(0);
  return figures;
}

Link fitted_link(const std::vector<PingPong>& figures, double overhead_us) {
  SmallFit fit;
  for (const PingPong& one : figures) fit.add({1e-6 / one.seconds, 1e-9 * static_cast<double>(one.bytes) / one.seconds, 0, 0, 0}, 1);
  const SmallFit::Row found = fit.solve();
  Link link;
  link.send_overhead_us = link.receive_overhead_us = std::min(overhead_us, found[0] / 2);
  link.latency_us = found[0] - 2 * link.send_overhead_us;
  link.bandwidth_gbs = found[1] > 0 ? 1 / found[1] : 1000;
  return link;
}

MeasuredCluster measure_cluster(const ClusterMeasurement& options) {
  if (options.threads < 1) throw UsageError("a measurement with " + std::to_string(options.threads) + " threads; there must be at least 1");
  MeasuredCluster result;
  Cluster& cluster = result.cluster;
  cluster.name = "this";
  cluster.ranks_per_node = static_cast<index_t>(options.threads);
  cluster.memory_gbs = memory_curve(options);
  MeasureOptions small;
  small.array_bytes = offset_t{1} << 20;
  Machine machine = measure_machine(small);
  if (machine.last_level_cache_bytes > 0) {
    // A quarter of the cache of all: beyond what a core has for itself, and there still.
    small.array_bytes = std::max(small.array_bytes, machine.last_level_cache_bytes / 4);
    machine = measure_machine(small);
  }
  cluster.description = machine.processor + ", " + std::to_string(options.threads) + " processors";
  cluster.cache_bytes = static_cast<double>(machine.last_level_cache_bytes) / options.threads;
  cluster.cache_gbs = machine.read_bandwidth_gbs;
  cluster.kernel_gflops = kernel_curve(options.quick);
  const std::vector<Sample> measured = samples(options.quick);
  fit_overheads(cluster, measured);
  for (const Sample& sample : measured) result.solves.push_back({sample.name, sample.seconds, fitted_seconds(cluster, sample)});
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    std::vector<PingPong> figures = ping_pong(transport, options.quick);
    if (transport.rank() == 0) result.ping_pong = std::move(figures);
  });
  cluster.on_node = cluster.network = fitted_link(result.ping_pong, message_overhead_us(options.quick));
  check(cluster);
  return result;
}

}  // namespace palmette
