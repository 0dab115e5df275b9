// Question: how near to the best is what predictions choose? One JSON object for each candidate: the
// prediction and the result.
//
//   bench_choices grids MACHINE RANKS [problem:n[:kind] …]     every grid and map, SIMULATED (real rank
//   programs in virtual time)
//   bench_choices layers MACHINE RANKS [problem:n[:kind] …]    every number of layers, method and grid,
//   SIMULATED
//   bench_choices threads [problem:n[:kind] …]                 every method of one machine on 1, 2, …
//   threads, measured
//   bench_choices ranks RANKS [problem:n[:kind] …]             every grid and map of ranks that are threads,
//   measured
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "bench/model_solves.hpp"
#include "cli/machine_file.hpp"
#include "palmette/predict/predict.hpp"

namespace {

using namespace palmette;
using Json = nlohmann::ordered_json;
using bench::ModelCase;
using bench::Products;

constexpr int repeats = 30, solves_in_turn = 3;
/// Threads of a new team may share a processor for some milliseconds, until the system notices.
constexpr double warm_seconds = 0.05;

void print(const ModelCase& what, Json line) {
  line["problem"] = what.name();
  line["kind"] = name_of(what.kind);
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

Json layout_json(const GridChoice& one) {
  return {{"grid_rows", one.grid.rows},
          {"grid_cols", one.grid.cols},
          {"map", name_of(one.map)},
          {"layers", one.layers},
          {"method", name_of(solve_method(one.layers, one.method))},
          {"predicted_s", one.seconds}};
}

bool same_layout(const GridChoice& a, const GridChoice& b) {
  return a.grid.rows == b.grid.rows && a.grid.cols == b.grid.cols && a.map == b.map && a.layers == b.layers &&
         (a.layers == 1 || a.method == b.method);
}

GridQuestion question_for(const SymbolicFactor& symbolic, index_t ranks) {
  return {
      symbolic, ranks, {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic}, {}, TreeShape::binary,
      1,        8};
}

void simulate_layouts(const ModelCase& what, const std::string& machine, index_t ranks, bool with_layers) {
  const auto cluster = std::make_shared<const Cluster>(cli::known_machine("MACHINE", machine).cluster);
  const Products all = bench::made(what);
  GridQuestion question = question_for(*all.symbolic, ranks);
  question.whole = subtrees_for(*all.symbolic, ranks);
  // Layers times grids times methods are many: with layers, only the better map.
  if (with_layers)
    question.layers = doubling_layers(ranks), question.maps = {PlacementMap::subtree_to_subcube};
  Stopwatch watch;
  const std::vector<GridChoice> layouts = ranked_grids(question, *cluster);
  const double all_seconds = watch.seconds();
  watch = {};
  const GridChoice chosen = chosen_layout(question, *cluster);
  const double chosen_seconds = watch.seconds();
  for (const GridChoice& one : layouts) {
    SimulatedCase given;
    given.ranks = {one.grid, one.layers};
    given.map = one.map;
    given.whole = question.whole;
    given.method = solve_method(one.layers, one.method);
    Json line = {{"what", with_layers ? "layers" : "grids"},
                 {"simulated", true},
                 {"machine", machine},
                 {"ranks", ranks}};
    line.update(layout_json(one));
    line["seconds"] = simulate_solve(all.matrix, *all.factor, given, cluster).run.seconds;
    line["chosen"] = same_layout(one, chosen);
    line["predicting_all_s"] = all_seconds;
    line["choosing_s"] = chosen_seconds;
    print(what, line);
  }
}

/// Methods take turns, so that other load of the machine affects all of them.
void measure_methods(const ModelCase& what, int threads) {
  const Products all = bench::made(what);
  const SolvePlan<double> plan = plan_solve<double>(all.factor);
  ThreadTeam team(threads);
  DenseMatrix<double> b(all.matrix.rows(), 1), x(all.matrix.rows(), 1);
  for (index_t row = 0; row < all.matrix.rows(); ++row) b.view()(row, 0) = 1;
  std::vector<std::pair<std::string, SolveMethod>> methods = {{"auto", SolveMethod::automatic}};
  for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine))
    methods.push_back({std::string(info.name), info.method});
  std::vector<std::vector<double>> seconds(methods.size());
  SolveRun first;
  first.team = &team;
  for (const Stopwatch warm; warm.seconds() < warm_seconds;)
    plan.solve(Operation::plain, b.view(), x.view(), first);
  for (int turn = 0; turn < repeats; turn += solves_in_turn)
    for (std::size_t at = 0; at < methods.size(); ++at)
      for (int solve = 0; solve <= solves_in_turn; ++solve) {
        SolveRun how;
        how.method = methods[at].second;
        how.team = &team;
        const Stopwatch watch;
        plan.solve(Operation::plain, b.view(), x.view(), how);
        if (solve > 0) seconds[at].push_back(watch.seconds());
      }
  for (std::size_t at = 0; at < methods.size(); ++at) {
    const bench::Measured found = bench::measured(seconds[at]);
    print(what, {{"what", "threads"},
                 {"threads", threads},
                 {"method", methods[at].first},
                 {"seconds", found.median},
                 {"least_s", found.least}});
  }
}

void measure_layouts(const ModelCase& what, const Cluster& cluster, index_t ranks) {
  const Products all = bench::made(what);
  const GridQuestion question = question_for(*all.symbolic, ranks);
  const std::vector<GridChoice> layouts = ranked_grids(question, cluster);
  std::vector<std::vector<double>> seconds(layouts.size());
  ThreadWorld world(ranks);
  world.run([&](Transport& transport) {
    std::vector<std::unique_ptr<bench::ModelRank>> mine;
    for (const GridChoice& one : layouts)
      mine.push_back(std::make_unique<bench::ModelRank>(
          all, std::make_shared<const Placement>(place(*all.symbolic, one.grid, one.map, question.whole)),
          transport));
    for (const Stopwatch warm;
         transport.agree(transport.rank() == 0 && warm.seconds() > warm_seconds ? 1 : 0) == 0;)
      mine.front()->solve();
    // Each layout has its own copy of the factor: the first solve of a turn brings it into the caches, as in
    // repeated solves.
    for (int turn = 0; turn < repeats; turn += solves_in_turn)
      for (std::size_t at = 0; at < mine.size(); ++at)
        for (int solve = 0; solve <= solves_in_turn; ++solve) {
          const double taken = mine[at]->solve();
          if (transport.rank() == 0 && solve > 0) seconds[at].push_back(taken);
        }
  });
  for (std::size_t at = 0; at < layouts.size(); ++at) {
    const bench::Measured found = bench::measured(seconds[at]);
    Json line = {{"what", "ranks"}, {"ranks", ranks}};
    line.update(layout_json(layouts[at]));
    line["seconds"] = found.median;
    line["least_s"] = found.least;
    line["chosen"] = at == 0;
    print(what, line);
  }
}

std::vector<ModelCase> cases_from(int argc, char** argv, int first, std::vector<std::string> usual) {
  if (argc > first) usual.assign(argv + first, argv + argc);
  std::vector<ModelCase> cases;
  for (const std::string& text : usual) cases.push_back(bench::model_case(text));
  return cases;
}

const std::vector<std::string> simulated_problems = {"poisson2d9:256",  "poisson2d5:300",  "poisson3d7:24",
                                                     "elasticity3d:10", "thermal2d:40000", "kkt3d:12:ldlt"};
const std::vector<std::string> measured_problems = {
    "poisson2d9:64",   "poisson2d9:256", "poisson2d9:512", "poisson2d5:512",
    "poisson3d7:14",   "poisson3d7:30",  "poisson3d27:20", "thermal2d:100000",
    "elasticity3d:14", "kkt3d:16:ldlt",  "kkt3d:8:ldlt",   "convection_diffusion2d:400:lu"};

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  const std::string what = argc > 1 ? argv[1] : "";
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if ((what == "grids" || what == "layers") && argc > 3) {
    for (const ModelCase& one : cases_from(argc, argv, 4, simulated_problems))
      simulate_layouts(one, argv[2], static_cast<index_t>(std::atoi(argv[3])), what == "layers");
  } else if (what == "threads") {
    for (const ModelCase& one : cases_from(argc, argv, 2, measured_problems))
      for (int count = 1; count <= threads; count *= 2) measure_methods(one, count);
  } else if (what == "ranks" && argc > 2) {
    ClusterMeasurement options;
    options.threads = threads;
    const index_t ranks = std::max(1, std::atoi(argv[2]));
    const Cluster cluster =
        with_shared_processors(measure_cluster(options).cluster, (ranks + threads - 1) / threads);
    for (const ModelCase& one : cases_from(argc, argv, 3, measured_problems))
      measure_layouts(one, cluster, ranks);
  } else {
    std::fprintf(
        stderr,
        "usage: %s grids|layers MACHINE RANKS [problem:n[:kind] ...] | threads [...] | ranks RANKS [...]\n",
        argv[0]);
    return 2;
  }
  return 0;
}
