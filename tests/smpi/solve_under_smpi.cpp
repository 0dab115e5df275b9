// Run by smpirun: the real rank programs and the two-sided transport on SimGrid's network, compared with the
// same on our own simulated cluster. Rank 0 prints one JSON object per line.
//
//   solve_under_smpi MACHINE.json CASE…      ping_pong:BYTES or problem:n:method:RxCxL:right-hand sides
//
// Needs smpirun -no-privatize: ranks are actors of one process and share static data.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/machine_file.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/predict/predict.hpp"
#include "palmette/solver/solver.hpp"
#include "tests/smpi/charged_rank.hpp"

namespace palmette::testing {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// Data that all ranks share; the first rank that needs it creates it.
struct SharedCase {
  SparseMatrix<double> matrix;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Factor<double>> factor;
  SimulatedCase what;
  SimulatedSolve found;
  std::vector<double> expected;  // in the order of the permuted matrix, one right-hand side of ones
  std::shared_ptr<const Placement> placement;
  std::vector<std::shared_ptr<const LayerSystem>> systems;
  std::vector<std::shared_ptr<const ExchangePlan>> structures;  // by layer
};

void find_expected(SharedCase& shared) {
  const auto n = static_cast<std::size_t>(shared.symbolic->n);
  DenseMatrix<double> both(shared.symbolic->n, 1);
  std::fill(both.values.begin(), both.values.end(), 1.0);
  plan_solve<double>(shared.factor).solve(Operation::plain, both.view(), both.view());
  shared.expected.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    shared.expected[k] = both.values[shared.symbolic->column.new_to_old()[k]];
}

void find_places(SharedCase& shared) {
  const SimulatedCase& what = shared.what;
  if (what.method == SolveMethod::message_driven) {
    shared.placement =
        std::make_shared<const Placement>(place(*shared.symbolic, what.ranks.grid, what.map, what.whole));
    shared.structures.push_back(
        std::make_shared<const ExchangePlan>(*shared.symbolic, *shared.placement, what.trees));
    return;
  }
  const LayeredMethod method = layered_method(what.method);
  const auto cut = std::make_shared<const Layering>(cut_into_layers(*shared.symbolic, what.ranks.layers));
  for (LayerSystem& made : layer_systems(*shared.symbolic, cut, method, {what.ranks, what.map, what.whole})) {
    shared.systems.push_back(std::make_shared<const LayerSystem>(std::move(made)));
    const LayerSystem& system = *shared.systems.back();
    shared.structures.push_back(
        std::make_shared<const ExchangePlan>(*system.symbolic, *system.placement, what.trees));
  }
}

/// A process of SMPI runs one task after the other and launches nothing.
Cluster as_processes(Cluster cluster) {
  TaskOverheads besides = cluster.overheads_of_ranks();
  besides.panel_us /= cluster.workers;
  cluster.rank_overheads = besides;
  cluster.workers = 1;
  cluster.worker_gbs = 0;
  cluster.launch_us = 0;
  return cluster;
}

SharedCase make_case(const std::vector<std::string>& words, std::shared_ptr<const Cluster> cluster) {
  SharedCase shared;
  GenerateOptions options;
  options.problem = words.at(0);
  options.n = static_cast<index_t>(std::atoi(words.at(1).c_str()));
  shared.matrix = generate(options);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  const Ordering ordering = order(shared.matrix, how).value();
  shared.symbolic = std::make_shared<const SymbolicFactor>(analyze(shared.matrix.pattern, ordering));
  shared.factor =
      std::make_shared<const Factor<double>>(factorize(shared.matrix, shared.symbolic, ordering).value());
  if (!shared.factor->row_scale.empty())
    throw UsageError("a factor with scales: choose a matrix that needs none");
  SimulatedCase& what = shared.what;
  const std::vector<std::string> grid = split(words.at(3), 'x');
  const auto rhs = [&](std::size_t at) { return static_cast<index_t>(std::atoi(grid.at(at).c_str())); };
  what.method = solve_method(words.at(2));
  what.ranks = {{rhs(0), rhs(1)}, rhs(2)};
  what.whole = subtrees_for(*shared.symbolic, what.ranks.num_ranks());
  what.num_rhs = static_cast<index_t>(std::atoi(words.at(4).c_str()));
  what.keeps_timeline = true;
  shared.found = simulate_solve(shared.matrix, *shared.factor, what, std::move(cluster));
  find_expected(shared);
  find_places(shared);
  return shared;
}

const SharedCase& shared_case(const std::string& text, const std::shared_ptr<const Cluster>& cluster) {
  static std::map<std::string, SharedCase> cases;
  auto found = cases.find(text);
  if (found == cases.end()) found = cases.emplace(text, make_case(split(text, ':'), cluster)).first;
  return found->second;
}

RankSolvePlan<double> own_plan(const SharedCase& shared, index_t rank) {
  const index_t in_layer = shared.what.ranks.grid.num_ranks(), layer = rank / in_layer;
  RankPlanOptions options;
  options.trees = shared.what.trees;
  options.max_rhs = shared.what.num_rhs;
  options.structure = shared.structures.at(static_cast<std::size_t>(layer));
  if (shared.placement)
    return {std::make_shared<const RankFactor<double>>(rank_part(*shared.factor, shared.placement, rank)),
            options};
  const auto& system = shared.systems.at(static_cast<std::size_t>(layer));
  options.layer = system;
  return {std::make_shared<const RankFactor<double>>(rank_part(
              *shared.factor, system->symbolic, system->placement, rank % in_layer, system->supernode)),
          options};
}

double simulated_forward_seconds(const SimulatedSolve& found) {
  double end = 0;
  for (const RankTimeline& line : found.run.timelines)
    for (const TimedTask& task : line.tasks)
      if (task.phase == SweepPhase::forward) end = std::max(end, task.end);
  return end;
}

Json solve_case(const std::string& text, const std::shared_ptr<const Cluster>& cluster, Transport& wire) {
  const SharedCase& shared = shared_case(text, cluster);
  RankSolvePlan<double> plan = own_plan(shared, wire.rank());
  const std::span<const index_t> rows = plan.rows();
  DenseMatrix<double> mine(static_cast<index_t>(rows.size()), shared.what.num_rhs);
  std::fill(mine.values.begin(), mine.values.end(), 1.0);
  ChargedTransport transport(wire, *cluster);
  RankProgram& solve = plan.begin(Operation::plain, mine.view(), mine.view(), transport);
  ChargedProgram program(solve, transport, *cluster,
                         shared.found.read_gbs.at(static_cast<std::size_t>(wire.rank())));
  const ChargedRun run = run_charged(program, transport);
  double error = 0;
  for (index_t rhs = 0; rhs < shared.what.num_rhs; ++rhs)
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double expected = shared.expected[rows[k]];
      error = std::max(error,
                       std::abs(mine.view()(static_cast<index_t>(k), rhs) - expected) / std::abs(expected));
    }
  return {{"smpi_s", run.seconds},
          {"simulated_s", shared.found.run.seconds},
          {"smpi_forward_s", run.forward_seconds},
          {"simulated_forward_s", simulated_forward_seconds(shared.found)},
          {"smpi_messages", run.messages},
          {"simulated_messages", shared.found.run.traffic.messages()},
          {"error", largest(error)}};
}

/// Two ranks send a message back and forth; the others do nothing.
class PingPong final : public RankProgram {
 public:
  PingPong(Transport& transport, index_t other, std::size_t bytes)
      : transport_(transport), other_(other), bytes_(bytes) {}
  static constexpr int rounds = 20;
  void start() override {
    if (transport_.rank() == 0) send();
  }
  void on_message(const Message&) override {
    ++received_;
    if (transport_.rank() == other_ || received_ < rounds) send();
  }
  bool run_one_task(int) override { return false; }
  bool done() const override {
    return received_ == rounds || (transport_.rank() != 0 && transport_.rank() != other_);
  }

 private:
  void send() { transport_.send(transport_.rank() == 0 ? other_ : 0, 0, pool_.take(bytes_)); }
  Transport& transport_;
  index_t other_;
  std::size_t bytes_;
  BytePool pool_;
  int received_ = 0;
};

/// Between the first rank and the last.
Json ping_pong(std::size_t bytes, const std::shared_ptr<const Cluster>& cluster, Transport& wire) {
  const index_t ranks = wire.num_ranks();
  ChargedTransport transport(wire, *cluster);
  PingPong mine(transport, ranks - 1, bytes);
  ChargedProgram program(mine, transport, *cluster, 1);
  const ChargedRun run = run_charged(program, transport);
  SimulationOptions options;
  options.cluster = cluster;
  SimulatedWorld world(ranks, options);
  std::vector<std::unique_ptr<RankProgram>> programs;
  std::vector<RankProgram*> pointers;
  for (index_t rank = 0; rank < ranks; ++rank) {
    programs.push_back(std::make_unique<PingPong>(world.rank(rank), ranks - 1, bytes));
    pointers.push_back(programs.back().get());
  }
  const SimulationResult found = world.run(pointers);
  return {{"smpi_s", run.seconds},
          {"simulated_s", found.seconds},
          {"smpi_messages", run.messages},
          {"simulated_messages", found.traffic.messages()},
          {"error", 0.0}};
}

void run_all(int argc, char** argv) {
  const MpiSession session;
  const auto cluster = std::make_shared<const Cluster>(as_processes(cli::read_machine(argv[1]).cluster));
  const auto wire = make_mpi_two_sided(session.world());
  for (int at = 2; at < argc; ++at) {
    const std::string text = argv[at];
    const std::vector<std::string> words = split(text, ':');
    Json line = words.at(0) == "ping_pong"
                    ? ping_pong(static_cast<std::size_t>(std::atoll(words.at(1).c_str())), cluster, *wire)
                    : solve_case(text, cluster, *wire);
    line["case"] = text;
    line["ranks"] = wire->num_ranks();
    if (wire->rank() == 0) std::printf("%s\n", line.dump().c_str());
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace palmette::testing

int main(int argc, char** argv) {
  try {
    palmette::testing::run_all(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    std::abort();  // the other ranks wait inside SimGrid
  }
}
