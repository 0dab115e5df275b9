// Question: how near do predictions come? The machine is measured first, in the same run; then each problem's solve is predicted (and simulated)
// from structure, and run: on one thread, on all threads of the engines for one machine, and on ranks that are threads. One JSON object a line.
//
//   bench_prediction [--ranks P,P,…] [problem:n[:kind] …]      kind: llt, ldlt or lu
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "palmette/factorize/factorize.hpp"
#include "palmette/predict/predict.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;
using Json = nlohmann::ordered_json;

constexpr int repeats = 15;

struct Case {
  std::string problem;
  index_t n = 0;
  FactorKind kind = FactorKind::llt;
};

const std::vector<Case>& usual_cases() {
  static const std::vector<Case> cases = {{"poisson2d9", 256},  {"poisson2d9", 512},     {"poisson2d5", 512},  {"poisson3d7", 20},
                                          {"poisson3d7", 30},   {"poisson3d27", 20},     {"thermal2d", 100000}, {"elasticity3d", 14},
                                          {"kkt3d", 16, FactorKind::ldlt}, {"convection_diffusion2d", 400, FactorKind::lu}};
  return cases;
}

/// The middle and the least of some seconds: the first is what a user sees, the second what a bound must stay below.
struct Measured {
  double median = 0, least = 0;
};
Measured measured(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds[0]};
}

struct Products {
  SparseMatrix<double> matrix;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Factor<double>> factor;
};

Products made(const Case& what) {
  GenerateOptions options;
  options.problem = what.problem;
  options.n = what.n;
  Products all;
  all.matrix = generate(options);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  how.pivot_need = pivot_need(what.kind);
  all.ordering = order(all.matrix, how).value();
  all.symbolic = std::make_shared<const SymbolicFactor>(analyze(all.matrix.pattern, all.ordering));
  FactorizeOptions factorizing;
  factorizing.kind = what.kind;
  all.factor = std::make_shared<const Factor<double>>(factorize(all.matrix, all.symbolic, all.ordering, factorizing).value());
  return all;
}

Measured on_threads(const Products& all, int threads) {
  const SolvePlan<double> plan = plan_solve<double>(all.factor);
  ThreadTeam team(threads);
  DenseMatrix<double> b(all.matrix.rows(), 1), x(all.matrix.rows(), 1);
  for (index_t row = 0; row < all.matrix.rows(); ++row) b.view()(row, 0) = 1;
  SolveRun how;
  how.team = &team;
  std::vector<double> seconds;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    const Stopwatch watch;
    plan.solve(Operation::plain, b.view(), x.view(), how);
    if (repeat > 0) seconds.push_back(watch.seconds());
  }
  return measured(seconds);
}

/// From the moment when all ranks are ready until the last is done.
Measured on_ranks(const Products& all, std::shared_ptr<const Placement> placement) {
  ThreadWorld world(placement->num_ranks());
  std::vector<double> seconds(repeats);
  world.run([&](Transport& transport) {
    RankPlanOptions options;
    options.most_sides = 1;
    RankSolvePlan<double> plan(std::make_shared<const RankFactor<double>>(rank_part(*all.factor, placement, transport.rank())), options);
    std::vector<double> mine(plan.rows().size());
    const auto count = static_cast<index_t>(mine.size());
    ThreadTeam team(1);
    for (int repeat = -2; repeat < repeats; ++repeat) {
      std::fill(mine.begin(), mine.end(), 1.0);
      const DenseView<double> both{mine.data(), count, 1, count};
      RankProgram& program = plan.begin(Operation::plain, both, both, transport);
      transport.agree(0);
      const Stopwatch watch;
      drive(program, transport, team);
      transport.agree(0);
      if (transport.rank() == 0 && repeat >= 0) seconds[static_cast<std::size_t>(repeat)] = watch.seconds();
    }
  });
  return measured(seconds);
}

Json row(const char* what, double predicted, double bound, const Measured& real) {
  return {{"what", what},          {"predicted_s", predicted},          {"bound_s", bound},
          {"measured_s", real.median}, {"least_s", real.least}, {"predicted_over_measured", predicted / real.median}, {"bound_over_least", bound / real.least}};
}

void compare(const Case& what, const std::shared_ptr<const Cluster>& cluster, const std::vector<index_t>& ranks, int threads) {
  const Products all = made(what);
  const auto print = [&](Json line) {
    line["problem"] = what.problem + ":" + std::to_string(what.n);
    line["kind"] = name_of(what.kind);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  };
  for (int count = 1; count <= threads; count *= 2) {
    const ThreadPrediction planned = predict_on_threads({*all.symbolic, count, 1, 8}, *cluster);
    Json line = row("threads", planned.seconds, planned.bound_seconds, on_threads(all, count));
    line["count"] = count;
    print(line);
  }
  for (const index_t count : ranks) {
    SimulatedCase given;
    given.ranks.grid = nearly_square_grid(count);
    const auto placement = std::make_shared<const Placement>(place(*all.symbolic, given.ranks.grid, given.map));
    const SolvePrediction planned = predict_solve({*all.symbolic, *placement, what.kind, TreeShape::binary, 1, 8}, *cluster);
    Json line = row("ranks", planned.schedule.seconds, planned.bound.seconds(), on_ranks(all, placement));
    line["count"] = count;
    line["simulated_s"] = simulate_solve(all.matrix, *all.factor, given, cluster).run.seconds;
    print(line);
  }
}

Case case_of(const std::string& text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  Case what{text.substr(0, first), static_cast<index_t>(std::atoi(text.c_str() + first + 1)), FactorKind::llt};
  const std::string kind = second == std::string::npos ? "llt" : text.substr(second + 1);
  what.kind = kind == "lu" ? FactorKind::lu : kind == "ldlt" ? FactorKind::ldlt : FactorKind::llt;
  return what;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases;
  std::vector<index_t> ranks = {1, 2, 4};
  for (int at = 1; at < argc; ++at) {
    const std::string text = argv[at];
    if (text == "--ranks" && at + 1 < argc) {
      ranks.clear();
      for (const char* place = argv[++at]; *place != '\0'; place += *place == ',') ranks.push_back(static_cast<index_t>(std::strtol(place, const_cast<char**>(&place), 10)));
    } else {
      cases.push_back(case_of(text));
    }
  }
  ClusterMeasurement options;
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const MeasuredCluster found = measure_cluster(options);
  const auto cluster = std::make_shared<const Cluster>(found.cluster);
  Json machine = {{"machine", cluster->description}, {"cache_gbs", cluster->cache_gbs}, {"task_us", cluster->overheads.task_us},
                  {"panel_us", cluster->overheads.panel_us}, {"row_ns", cluster->overheads.row_ns}, {"byte_ns", cluster->overheads.byte_ns},
                  {"memory_byte_ns", cluster->overheads.memory_byte_ns}, {"latency_us", cluster->on_node.latency_us}};
  for (const RatePoint& point : cluster->memory_gbs) machine["memory_gbs"].push_back({point.at, point.rate});
  std::printf("%s\n", machine.dump().c_str());
  for (const Case& what : cases.empty() ? usual_cases() : cases) compare(what, cluster, ranks, options.threads);
  return 0;
}
