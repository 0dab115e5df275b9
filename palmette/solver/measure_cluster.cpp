// Measurements first, then small fits.
#include "palmette/solver/measure_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "palmette/factorize/factorize.hpp"
#include "palmette/predict/predict.hpp"
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

/// Predictions treat caches separately, so arrays must be many times as large here as the last-level cache
/// that one processor sees, and as the part of it that each of many has.
offset_t array_bytes(const ClusterMeasurement& options, offset_t cache_bytes) {
  if (options.quick) return offset_t{1} << 22;
  return std::max(std::clamp(8 * cache_bytes, offset_t{1} << 26, offset_t{1} << 28),
                  offset_t{options.threads} << 24);
}

RateCurve memory_curve(const ClusterMeasurement& options, offset_t cache_bytes) {
  RateCurve curve;
  for (int threads = 1;; threads = std::min(2 * threads, options.threads)) {
    MeasureOptions how;
    how.threads = threads;
    how.array_bytes = array_bytes(options, cache_bytes);
    std::vector<double> rates;
    for (int pass = 0; pass < (options.quick ? 1 : 3); ++pass)
      rates.push_back(measure_machine(how).read_bandwidth_gbs);
    std::sort(rates.begin(), rates.end());
    curve.push_back({static_cast<double>(threads), rates[rates.size() / 2]});
    if (threads == options.threads) break;
  }
  // One reader gets at least as much as each of several.
  for (const RatePoint& point : curve)
    curve.front().rate = std::max(curve.front().rate, point.rate / point.at);
  return curve;
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
          else
            blas::gemm<double>(blas::Transpose::no, blas::Transpose::no, 1, panel.view(), x.view(), 0,
                               out.view());
        },
        quick ? 0.002 : 0.03);
    const double rate = 2e-9 * rows * width * columns / seconds;
    curve.push_back({static_cast<double>(columns), curve.empty() ? rate : std::max(rate, curve.back().rate)});
  }
  return curve;
}

/// A solve of a model problem: its cost by structure, both sweeps, and its time.
struct Sample {
  std::string name;
  TaskWork work;
  double tasks = 0;
  double kept_bytes = 0;  // that a cache would have to hold
  double seconds = 0;
};

/// A model problem on one thread of the engines for one machine, on one rank, and on all threads.
struct Measured {
  Sample engine, rank;
  std::shared_ptr<const SymbolicFactor> symbolic;
  double threads_seconds = 0;
};

struct Model {
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Factor<double>> factor;
};

Model made(const char* name, index_t n) {
  GenerateOptions problem;
  problem.problem = name;
  problem.n = n;
  const SparseMatrix<double> matrix = generate(problem);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(matrix, how).value();
  Model model;
  model.symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  model.factor = std::make_shared<const Factor<double>>(factorize(matrix, model.symbolic, ordering).value());
  return model;
}

/// The median of warm repeats, which is what a user sees. Threads of a new team may share a processor for
/// some milliseconds, until the system notices.
template <class Solve>
double usual_seconds(Solve&& solve, bool quick) {
  const double warm = quick ? 0.001 : 0.03, enough = quick ? 0.005 : 0.13;
  std::vector<double> seconds;
  for (const Stopwatch all; seconds.size() < (quick ? 3 : 15) || all.seconds() < enough;) {
    const Stopwatch one;
    solve();
    if (all.seconds() > warm) seconds.push_back(one.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  return std::max(seconds[seconds.size() / 2], 1e-9);
}

double engine_seconds(const Model& model, int threads, bool quick) {
  const SolvePlan<double> plan = plan_solve<double>(model.factor);
  DenseMatrix<double> b(model.symbolic->n, 1), x(model.symbolic->n, 1);
  for (index_t row = 0; row < model.symbolic->n; ++row) b.view()(row, 0) = 1;
  // We measure threads, not whether they are worth calling.
  HandOvers all;
  all.call_all();
  ThreadTeam team(threads, all);
  SolveRun how;
  how.team = &team;
  return usual_seconds([&] { plan.solve(Operation::plain, b.view(), x.view(), how); }, quick);
}

Sample engine_sample(const Model& model, bool quick) {
  const FactorWork sweep = sweep_work(*model.symbolic, 0, model.symbolic->num_supernodes());
  Sample sample;
  sample.work = {2 * sweep.entries * sizeof(double),
                 4 * sweep.entries,
                 2 * sweep.panels,
                 2 * sweep.rows,
                 1,
                 2 * sweep.columns};
  sample.tasks = 2 * sweep_groups(*model.symbolic).num_groups();
  sample.kept_bytes = sample.work.bytes / 2;
  sample.seconds = engine_seconds(model, 1, quick);
  return sample;
}

Sample rank_sample(const Model& model, bool quick) {
  const auto placement = std::make_shared<const Placement>(place(*model.symbolic));
  Sample sample;
  for (const SolveTask& task : solve_tasks(*model.symbolic, *placement, TreeShape::binary).tasks) {
    sample.work.bytes += task.entries * sizeof(double);
    sample.work.flops += 2 * task.entries;
    sample.work.panels += task.panels;
    sample.work.rows += task.rows;
    sample.work.columns += task.columns;
    sample.tasks += 1;
  }
  sample.kept_bytes = sample.work.bytes / 2;
  const std::unique_ptr<Transport> alone = make_loopback();
  RankSolvePlan<double> plan(
      std::make_shared<const RankFactor<double>>(rank_part(*model.factor, placement, 0)), {});
  std::vector<double> x(model.symbolic->n, 1.0);
  const DenseView<double> both{x.data(), model.symbolic->n, 1, model.symbolic->n};
  ThreadTeam team(1);
  sample.seconds = usual_seconds(
      [&] {
        std::fill(x.begin(), x.end(), 1.0);
        drive(plan.begin(Operation::plain, both, both, *alone), *alone, team);
      },
      quick);
  return sample;
}

std::vector<Measured> samples(const ClusterMeasurement& options) {
  struct Problem {
    const char* name;
    index_t n;
  };
  // Factors within the second-level cache, within the last-level cache, some times larger, and near its size,
  // where they tell most about it.
  std::vector<Problem> problems = {{"poisson2d5", 100},  {"poisson2d5", 300},   {"poisson2d5", 400},
                                   {"poisson2d9", 150},  {"poisson2d9", 200},   {"poisson2d9", 400},
                                   {"poisson3d7", 14},   {"poisson3d7", 24},    {"poisson3d7", 28},
                                   {"thermal2d", 40000}, {"thermal2d", 150000}, {"elasticity3d", 10},
                                   {"elasticity3d", 13}, {"elasticity3d", 15},  {"poisson3d27", 18}};
  if (options.quick) problems = {{"poisson2d5", 20}, {"poisson2d9", 40}, {"poisson3d7", 8}};
  std::vector<Measured> result;
  for (const Problem& one : problems) {
    const Model model = made(one.name, one.n);
    Measured all{engine_sample(model, options.quick), rank_sample(model, options.quick), model.symbolic, 0};
    all.engine.name = std::string(one.name) + ":" + std::to_string(one.n);
    all.rank.name = all.engine.name + ", a rank";
    if (options.threads > 1) all.threads_seconds = engine_seconds(model, options.threads, options.quick);
    result.push_back(std::move(all));
  }
  return result;
}

/// Columns of a least-squares problem with a few unknowns; none may be negative.
class SmallFit {
 public:
  static constexpr std::size_t unknowns = 6;
  using Row = std::array<double, unknowns>;
  void add(const Row& row, double right) {
    rows_.push_back(row);
    right_.push_back(right);
  }
  /// The best of all choices of nonzero unknowns for which all are positive.
  Row solve() const {
    Row best{};
    double least = misfit(best);
    for (unsigned chosen = 1; chosen < (1u << unknowns); ++chosen) {
      const Row candidate = of(chosen);
      const bool allowed = std::all_of(candidate.begin(), candidate.end(),
                                       [](double value) { return value >= 0 && std::isfinite(value); });
      if (!allowed || misfit(candidate) >= least) continue;
      least = misfit(candidate);
      best = candidate;
    }
    return best;
  }
  double misfit(const Row& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      double value = -right_[k];
      for (std::size_t column = 0; column < unknowns; ++column) value += rows_[k][column] * x[column];
      sum += value * value;
    }
    return sum;
  }

 private:
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
        for (std::size_t column = pivot; column <= unknowns; ++column)
          normal[row][column] -= factor * normal[pivot][column];
      }
    Row x{};
    for (std::size_t i = 0; i < unknowns; ++i) x[i] = normal[i][unknowns] / normal[i][i];
    return x;
  }
  std::vector<Row> rows_;
  std::vector<double> right_;
};

double fitted_seconds(const Cluster& cluster, const TaskOverheads& overheads, const Sample& sample) {
  const double gbs = cluster.solve_gbs(overheads, cached_share(cluster.rank_cache(1), sample.kept_bytes),
                                       rate_at(cluster.memory_gbs, 1));
  return cluster.seconds(sample.work, gbs, overheads) + (sample.tasks - 1) * overheads.task_us * 1e-6;
}

/// Overheads that explain the time not explained by bytes and flops, and the remaining misfit.
struct FittedOverheads {
  TaskOverheads overheads;
  double misfit = 0;
};

FittedOverheads fitted_overheads(const Cluster& cluster, const std::vector<const Sample*>& measured) {
  SmallFit fit;
  for (const Sample* sample : measured) {
    const TaskWork& work = sample->work;
    const double from_memory = work.bytes * (1 - cached_share(cluster.rank_cache(1), sample->kept_bytes)),
                 seconds = sample->seconds;
    // Relative: small problems count as much as large ones. In the units of TaskOverheads.
    fit.add({1e-6 * sample->tasks / seconds, 1e-6 * work.panels / seconds, 1e-9 * work.rows / seconds,
             1e-9 * work.bytes / seconds, 1e-9 * from_memory / seconds, 1e-9 * work.columns / seconds},
            1 - fitted_seconds(cluster, {}, *sample) / seconds);
  }
  const SmallFit::Row found = fit.solve();
  return {{found[0], found[1], found[2], found[3], found[4], found[5]}, fit.misfit(found)};
}

/// The part of a last-level cache of this many bytes that a solve on one thread can use (others may use it
/// too, invisibly on a virtual machine), and the overheads with it: those that fit best.
void fit_lone(Cluster& cluster, double cache_bytes, const std::vector<Measured>& measured) {
  std::vector<const Sample*> engines, ranks;
  for (const Measured& one : measured) engines.push_back(&one.engine), ranks.push_back(&one.rank);
  constexpr int steps = 16;
  Cluster best;
  double least = -1;
  for (int step = cache_bytes > 0 ? 1 : steps; step <= steps; ++step) {
    cluster.cache_bytes = cluster.lone_cache_bytes = cache_bytes * step / steps;
    const FittedOverheads engine = fitted_overheads(cluster, engines),
                          rank = fitted_overheads(cluster, ranks);
    if (least >= 0 && engine.misfit + rank.misfit >= least) continue;
    least = engine.misfit + rank.misfit;
    best = cluster;
    best.overheads = engine.overheads;
    best.rank_overheads = rank.overheads;
  }
  cluster = best;
}

/// The part of the cache that all threads together have, between that of one thread alone and as much for
/// each thread, and the cost of a handoff: those that fit the solves on all threads best.
void fit_together(Cluster& cluster, int threads, const std::vector<Measured>& measured) {
  constexpr int steps = 8;
  constexpr double step_us = 0.1;
  Cluster best;
  double least = -1;
  for (int share = 0; share <= steps; ++share)
    for (int handoff = 0; handoff <= 2 * steps; ++handoff) {
      cluster.cache_bytes = cluster.lone_cache_bytes * (1 + (threads - 1.0) * share / steps) / threads;
      cluster.overheads.handoff_us = step_us * handoff;
      double misfit = 0;
      for (const Measured& one : measured) {
        const double off = predict_on_threads({*one.symbolic, threads, 1, sizeof(double)}, cluster).seconds /
                               one.threads_seconds -
                           1;
        misfit += off * off;
      }
      if (least >= 0 && misfit >= least) continue;
      least = misfit;
      best = cluster;
    }
  cluster = best;
}

/// The cost of sending and of receiving a message for a rank's thread, microseconds each.
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
    const int trips =
        quick ? 20 : static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 22) / bytes, 20, 500));
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
  for (const PingPong& one : figures)
    fit.add({1e-6 / one.seconds, 1e-9 * static_cast<double>(one.bytes) / one.seconds}, 1);
  const SmallFit::Row found = fit.solve();
  Link link;
  link.send_overhead_us = link.receive_overhead_us = std::min(overhead_us, found[0] / 2);
  link.latency_us = found[0] - 2 * link.send_overhead_us;
  link.bandwidth_gbs = found[1] > 0 ? 1 / found[1] : 1000;
  return link;
}

MeasuredCluster measure_cluster(const ClusterMeasurement& options) {
  if (options.threads < 1)
    throw UsageError("a measurement with " + std::to_string(options.threads) +
                     " threads; there must be at least 1");
  MeasuredCluster result;
  Cluster& cluster = result.cluster;
  cluster.name = "this";
  cluster.ranks_per_memory = static_cast<index_t>(options.threads);
  MeasureOptions small;
  small.array_bytes = offset_t{1} << 20;
  Machine machine = measure_machine(small);
  if (machine.last_level_cache_bytes > 0) {
    // Three arrays, a quarter of the shared cache: more than a core's own caches, but still within it.
    small.array_bytes = std::max(offset_t{1} << 20, machine.last_level_cache_bytes / 4) / 3;
    machine = measure_machine(small);
  }
  cluster.description = machine.processor + ", " + std::to_string(options.threads) + " processors";
  cluster.memory_gbs = memory_curve(options, machine.last_level_cache_bytes);
  cluster.cache_gbs = machine.read_bandwidth_gbs;
  cluster.kernel_gflops = kernel_curve(options.quick);
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    std::vector<PingPong> figures = ping_pong(transport, options.quick);
    if (transport.rank() == 0) result.ping_pong = std::move(figures);
  });
  cluster.links = {{"node", 0, fitted_link(result.ping_pong, message_overhead_us(options.quick)), 0}};
  const std::vector<Measured> measured = samples(options);
  fit_lone(cluster, static_cast<double>(machine.last_level_cache_bytes), measured);
  if (options.threads > 1) fit_together(cluster, options.threads, measured);
  for (const Measured& one : measured) {
    result.solves.push_back(
        {one.engine.name, one.engine.seconds, fitted_seconds(cluster, cluster.overheads, one.engine)});
    result.solves.push_back(
        {one.rank.name, one.rank.seconds, fitted_seconds(cluster, cluster.overheads_of_ranks(), one.rank)});
    if (options.threads == 1) continue;
    const double fitted =
        predict_on_threads({*one.symbolic, options.threads, 1, sizeof(double)}, cluster).seconds;
    result.solves.push_back({one.engine.name + ", all threads", one.threads_seconds, fitted});
  }
  check(cluster);
  return result;
}

}  // namespace palmette
