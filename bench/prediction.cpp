// Question: how accurate are predictions? The machine is measured first, in the same run; then each problem's
// solve is predicted (and simulated) from structure, and run: on one thread, on all threads of the engines
// for one machine, and on ranks that are threads. One JSON object a line.
//
//   bench_prediction [--ranks P,P,…] [problem:n[:kind] …]      kind: llt, ldlt or lu
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/model_solves.hpp"
#include "palmette/predict/predict.hpp"

namespace {

using namespace palmette;
using Json = nlohmann::ordered_json;
using bench::Measured;
using bench::ModelCase;
using bench::Products;

// Threads of a new team may share a processor for some milliseconds, until the system notices.
constexpr double warm_seconds = 0.05, measured_seconds = 0.15;
constexpr std::size_t repeats = 15;

const std::vector<std::string> usual_problems = {"poisson2d9:256",   "poisson2d9:512",
                                                 "poisson2d5:512",   "poisson3d7:20",
                                                 "poisson3d7:30",    "poisson3d27:20",
                                                 "thermal2d:100000", "elasticity3d:14",
                                                 "kkt3d:16:ldlt",    "convection_diffusion2d:400:lu"};

Measured on_threads(const Products& all, int threads) {
  const SolvePlan<double> plan = plan_solve<double>(all.factor);
  ThreadTeam team(threads);
  DenseMatrix<double> b(all.matrix.rows(), 1), x(all.matrix.rows(), 1);
  for (index_t row = 0; row < all.matrix.rows(); ++row) b.view()(row, 0) = 1;
  SolveRun how;
  how.team = &team;
  std::vector<double> seconds;
  for (const Stopwatch all_solves;
       seconds.size() < repeats || all_solves.seconds() < warm_seconds + measured_seconds;) {
    const Stopwatch watch;
    plan.solve(Operation::plain, b.view(), x.view(), how);
    if (all_solves.seconds() > warm_seconds) seconds.push_back(watch.seconds());
  }
  return bench::measured(seconds);
}

Measured on_ranks(const Products& all, const std::shared_ptr<const Placement>& placement) {
  ThreadWorld world(placement->num_ranks());
  std::vector<double> seconds;
  world.run([&](Transport& transport) {
    bench::ModelRank mine(all, placement, transport);
    const bool judges = transport.rank() == 0;
    for (const Stopwatch all_solves;;) {
      const double taken = mine.solve();
      if (judges && all_solves.seconds() > warm_seconds) seconds.push_back(taken);
      if (transport.agree(judges && seconds.size() >= repeats &&
                                  all_solves.seconds() > warm_seconds + measured_seconds
                              ? 1
                              : 0) == 1)
        break;
    }
  });
  return bench::measured(seconds);
}

Json row(const char* what, double predicted, double bound, const Measured& real) {
  return {{"what", what},
          {"predicted_s", predicted},
          {"bound_s", bound},
          {"measured_s", real.median},
          {"least_s", real.least},
          {"predicted_over_measured", predicted / real.median},
          {"bound_over_least", bound / real.least}};
}

void compare(const ModelCase& what, const std::shared_ptr<const Cluster>& cluster,
             const std::vector<index_t>& ranks, int threads) {
  const Products all = bench::made(what);
  const auto print = [&](Json line) {
    line["problem"] = what.name();
    line["kind"] = name_of(what.kind);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  };
  for (int count = 1; count <= threads; count *= 2) {
    const ThreadPrediction planned = predict_on_threads({*all.symbolic, count, 1, 8, what.kind}, *cluster);
    Json line = row("threads", planned.seconds, planned.bound_seconds, on_threads(all, count));
    line["count"] = count;
    print(line);
  }
  for (const index_t count : ranks) {
    const index_t turns = (count + cluster->ranks_per_memory - 1) / cluster->ranks_per_memory;
    const auto machine =
        turns == 1 ? cluster : std::make_shared<const Cluster>(with_shared_processors(*cluster, turns));
    SimulatedCase given;
    given.ranks.grid = nearly_square_grid(count);
    const auto placement =
        std::make_shared<const Placement>(place(*all.symbolic, given.ranks.grid, given.map));
    const SolvePrediction planned =
        predict_solve({*all.symbolic, *placement, what.kind, TreeShape::binary, 1, 8}, *machine);
    Json line = row("ranks", planned.schedule.seconds, planned.bound.seconds(), on_ranks(all, placement));
    line["count"] = count;
    line["simulated_s"] = simulate_solve(all.matrix, *all.factor, given, machine).run.seconds;
    print(line);
  }
}

Json json_of(const TaskOverheads& one) {
  return {{"task_us", one.task_us},      {"panel_us", one.panel_us}, {"column_ns", one.column_ns},
          {"row_ns", one.row_ns},        {"byte_ns", one.byte_ns},   {"memory_byte_ns", one.memory_byte_ns},
          {"handoff_us", one.handoff_us}};
}

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  std::vector<std::string> problems;
  std::vector<index_t> ranks = {1, 2, 4};
  for (int at = 1; at < argc; ++at) {
    const std::string text = argv[at];
    if (text == "--ranks" && at + 1 < argc) {
      ranks.clear();
      for (const char* place = argv[++at]; *place != '\0'; place += *place == ',')
        ranks.push_back(static_cast<index_t>(std::strtol(place, const_cast<char**>(&place), 10)));
    } else {
      problems.push_back(text);
    }
  }
  ClusterMeasurement options;
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const MeasuredCluster found = measure_cluster(options);
  const auto cluster = std::make_shared<const Cluster>(found.cluster);
  Json machine = {{"machine", cluster->description},
                  {"lone_cache_mb", 1e-6 * cluster->lone_cache_bytes},
                  {"cache_mb", 1e-6 * cluster->cache_bytes},
                  {"cache_gbs", cluster->cache_gbs},
                  {"overheads", json_of(cluster->overheads)},
                  {"rank_overheads", json_of(cluster->overheads_of_ranks())},
                  {"latency_us", cluster->links.front().link.latency_us}};
  for (const RatePoint& point : cluster->memory_gbs) machine["memory_gbs"].push_back({point.at, point.rate});
  std::printf("%s\n", machine.dump().c_str());
  for (const std::string& problem : problems.empty() ? usual_problems : problems)
    compare(bench::model_case(problem), cluster, ranks, options.threads);
  return 0;
}
