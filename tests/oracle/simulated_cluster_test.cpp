// Solves on simulated clusters: against closed forms, against the schedule that is predicted from structure
// alone, and against the records of ranks.
#include <gtest/gtest.h>

#include "palmette/factorize/factorize.hpp"
#include "palmette/solver/solver.hpp"
#include "tests/predict/predict_testing.hpp"

namespace palmette {
namespace {

using testing::microsecond;

std::shared_ptr<Cluster> simple_cluster() { return std::make_shared<Cluster>(testing::simple_cluster()); }

struct System {
  SparseMatrix<double> matrix;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<Factor<double>> factor;
};

System factored(SparseMatrix<double> matrix, Ordering ordering, const AnalyzeOptions& options) {
  System system{std::move(matrix), std::move(ordering), nullptr, nullptr};
  system.symbolic =
      std::make_shared<const SymbolicFactor>(analyze(system.matrix.pattern, system.ordering, options));
  system.factor =
      std::make_shared<Factor<double>>(factorize(system.matrix, system.symbolic, system.ordering).value());
  return system;
}

System by_columns(SparseMatrix<double> matrix) {
  Ordering natural = testing::natural_order(matrix.rows());
  return factored(std::move(matrix), std::move(natural), testing::single_columns());
}
System chain(index_t n) { return by_columns(testing::chain_matrix(n)); }
System star(index_t n) { return by_columns(testing::star_matrix(n)); }
System dense(index_t n) { return by_columns(testing::dense_matrix(n)); }
System grid(index_t side) {
  SparseMatrix<double> matrix = testing::grid_matrix(side);
  Ordering ordering = testing::nested_dissection(matrix);
  return factored(std::move(matrix), std::move(ordering), {});
}

SimulatedCase all_dealt_out(ProcessGrid grid) {
  SimulatedCase given;
  given.ranks.grid = grid;
  given.map = PlacementMap::block_cyclic;
  given.whole.kept = false;
  given.trees = TreeShape::flat;
  return given;
}

SimulatedSolve simulated(const System& system, const SimulatedCase& given,
                         std::shared_ptr<const Cluster> cluster) {
  SimulatedSolve found = simulate_solve(system.matrix, *system.factor, given, std::move(cluster));
  EXPECT_LE(found.backward_error, 1e-14);
  return found;
}

Schedule predicted(const System& system, const SimulatedCase& given, const Cluster& cluster) {
  const Placement placement = place(*system.symbolic, given.ranks.grid, given.map, given.whole);
  return predict_solve({*system.symbolic, placement, FactorKind::llt, given.trees, given.num_rhs, 8}, cluster)
      .schedule;
}

// As in tests/predict: n diagonals, n − 1 blocks and as many messages of 6 µs, in each sweep; twice the
// messages on a square grid.
TEST(simulate_solve, a_chain_takes_its_tasks_and_messages_one_after_the_other) {
  const System system = chain(20);
  for (const ProcessGrid shape : {ProcessGrid{4, 1}, ProcessGrid{1, 4}})
    EXPECT_NEAR(simulated(system, all_dealt_out(shape), simple_cluster()).run.seconds,
                2 * (20 + 19 + 19 * 6) * microsecond, 1e-12);
  EXPECT_NEAR(simulated(system, all_dealt_out({2, 2}), simple_cluster()).run.seconds,
              2 * (20 + 19 + 2 * 19 * 6) * microsecond, 1e-12);
  EXPECT_NEAR(simulated(system, all_dealt_out({1, 1}), simple_cluster()).run.seconds, 2 * 39 * microsecond,
              1e-12);
}

// Forward: a leaf, its message, the hub's n − 1 blocks and the hub; backward the hub, its blocks, messages,
// leaves. With 2 µs at both ends of each message: the hub's rank takes n − 1 of them before its first block,
// and sends n − 1.
TEST(simulate_solve, a_star_waits_for_its_hub) {
  constexpr index_t n = 9;
  const System system = star(n);
  const SimulatedSolve found = simulated(system, all_dealt_out({n, 1}), simple_cluster());
  EXPECT_NEAR(found.run.seconds, ((1 + 6 + (n - 1) + 1) + (1 + (n - 1) + 6 + 1)) * microsecond, 1e-12);
  auto costly = simple_cluster();
  testing::set_message_overheads(*costly, 2);
  const SimulatedSolve slower = simulated(system, all_dealt_out({n, 1}), costly);
  const double forward = 1 + 2 + 6 + 2 * (n - 1) + (n - 1) + 1;
  EXPECT_GE(slower.run.seconds, 2 * forward * microsecond - 1e-12);
  EXPECT_NEAR(slower.run.seconds, predicted(system, all_dealt_out({n, 1}), *costly).seconds, 1e-12);
}

TEST(simulate_solve, what_enters_a_node_queues_at_its_door) {
  constexpr index_t n = 9;
  auto narrow = simple_cluster();
  narrow->links[0].injection_gbs = 4e-3;  // an entry in 2 µs
  const System system = star(n);
  const SimulatedSolve open = simulated(system, all_dealt_out({n, 1}), simple_cluster()),
                       queued = simulated(system, all_dealt_out({n, 1}), narrow);
  EXPECT_GE(queued.run.seconds, open.run.seconds + (n - 2) * microsecond);
  EXPECT_NEAR(queued.run.seconds, predicted(system, all_dealt_out({n, 1}), *narrow).seconds, 1e-12);
}

TEST(simulate_solve, takes_as_long_as_the_schedule_predicted_from_structure_alone) {
  auto cluster = simple_cluster();
  cluster->ranks_per_memory = 2;
  cluster->memory_gbs = {{1, 10}, {2, 15}};
  cluster->cache_bytes = 1e5;
  cluster->cache_gbs = 30;
  cluster->overheads = {0.3, 0.1, 1};
  cluster->links = node_links(2, {0.5, 8, 0.2, 0.2}, {1.5, 10, 0.4, 0.4}, 10);
  for (const System& system : {dense(40), grid(60)})
    for (const ProcessGrid shape :
         {ProcessGrid{1, 1}, ProcessGrid{2, 1}, ProcessGrid{1, 3}, ProcessGrid{4, 4}})
      for (const TreeShape trees : {TreeShape::flat, TreeShape::binary}) {
        SimulatedCase given;
        given.ranks.grid = shape;
        given.trees = trees;
        const double real = simulated(system, given, cluster).run.seconds,
                     planned = predicted(system, given, *cluster).seconds;
        // If two tasks are equally urgent, either may go first; with many ranks and few tasks that is
        // visible.
        EXPECT_NEAR(real / planned, 1, shape.num_ranks() < 16 ? 0.03 : 0.15)
            << shape.rows << " x " << shape.cols << " " << name_of(trees) << " n " << system.matrix.rows();
      }
}

/// A rank with workers that read an entry in 1 µs each, and all together one in 0.1 µs.
std::shared_ptr<Cluster> with_workers(index_t workers, double launch_us = 0, index_t launch_tasks = 0) {
  auto cluster = simple_cluster();
  cluster->memory_gbs = {{1, 0.08}};
  cluster->workers = workers;
  cluster->worker_gbs = 8e-3;
  cluster->launch_us = launch_us;
  cluster->launch_tasks = launch_tasks;
  return cluster;
}

// A worker needs 1 µs for each entry. Forward: six leaves, a block after each, the hub. Backward: the hub,
// its six blocks as one task, the leaves. A task's results are there when it ends, not when it begins.
TEST(simulate_solve, workers_of_a_rank_go_side_by_side_and_hand_results_on_when_tasks_end) {
  const System system = star(7);
  const auto seconds = [&](std::shared_ptr<Cluster> cluster) {
    return simulated(system, all_dealt_out({1, 1}), std::move(cluster)).run.seconds;
  };
  EXPECT_NEAR(seconds(with_workers(1)), (13 + 13) * microsecond, 1e-12);
  EXPECT_NEAR(seconds(with_workers(3)), (2 + 2 + 1 + 1 + 6 + 2) * microsecond, 1e-12);
  EXPECT_NEAR(seconds(with_workers(6)), (1 + 1 + 1 + 1 + 6 + 1) * microsecond, 1e-12);
  EXPECT_NEAR(seconds(with_workers(99)), 11 * microsecond, 1e-12);
  // A launch for each sweep; a launch for each two of the 13 and the 8 tasks.
  EXPECT_NEAR(seconds(with_workers(6, 3)), (11 + 2 * 3) * microsecond, 1e-12);
  EXPECT_NEAR(seconds(with_workers(1, 3, 2)), (26 + (7 + 4) * 3) * microsecond, 1e-12);
  EXPECT_NEAR(predicted(system, all_dealt_out({1, 1}), *with_workers(1, 3, 2)).seconds,
              (26 + (7 + 4) * 3) * microsecond, 1e-12);
}

TEST(simulate_solve, ranks_with_workers_have_the_same_answer_and_the_predicted_time) {
  const System system = grid(60);
  for (const LayeredGrid& ranks : {LayeredGrid{{1, 1}, 1}, LayeredGrid{{3, 1}, 1}, LayeredGrid{{2, 2}, 1},
                                   LayeredGrid{{1, 1}, 4}, LayeredGrid{{2, 1}, 3}}) {
    SimulatedCase given;
    given.ranks = ranks;
    given.method = solve_method(ranks.layers, LayeredMethod::one_sync_3d);
    given.whole.kept = false;
    const double error = simulated(system, given, with_workers(1)).backward_error;
    double before = 1e9;
    for (const index_t workers : {1, 2, 8, 32}) {
      const auto cluster = with_workers(workers, 2);
      const SimulatedSolve found = simulated(system, given, cluster);
      EXPECT_EQ(found.backward_error, error);
      // Ten exhaust the rank; of more, those with less urgent tasks take their share from the others.
      EXPECT_LE(found.run.seconds, (workers > 10 ? 1.1 : 1.0) * before) << workers;
      before = found.run.seconds;
      if (ranks.layers > 1) continue;
      EXPECT_NEAR(found.run.seconds / predicted(system, given, *cluster).seconds, 1, 0.03) << workers;
    }
  }
}

TEST(simulate_solve, packed_messages_give_the_same_answer_in_the_predicted_time) {
  auto cluster = simple_cluster();
  cluster->overheads = {0.1, 0.05, 1};
  cluster->links = node_links(4, {0.5, 8, 0.5, 0.5}, {1.5, 10, 0.5, 0.5});
  const System system = grid(60);
  SimulatedCase given = all_dealt_out({4, 4});
  const SimulatedSolve alone = simulated(system, given, cluster);
  for (const std::int64_t age : {0, 1, 4, 64}) {
    given.packing.emplace();
    given.packing->max_age_tasks = age;
    const SimulatedSolve packed = simulated(system, given, cluster);
    EXPECT_EQ(packed.backward_error, alone.backward_error);
    // At an age of one task, only what a task sends is packed: never two messages to one rank.
    EXPECT_LE(packed.run.traffic.messages(), alone.run.traffic.messages() * (age == 1 ? 1.0 : 0.9)) << age;
    const Placement placement = place(*system.symbolic, given.ranks.grid, given.map, given.whole);
    const SolveGraph tasks = solve_tasks(*system.symbolic, placement, given.trees);
    const RankRates rates = rank_rates(tasks, *cluster, 1, 8);
    EXPECT_NEAR(packed.run.seconds / schedule_solve(tasks, rates, given.packing).seconds, 1, 0.1) << age;
  }
}

TEST(simulate_solve, layers_take_as_long_as_predicted_from_structure_alone) {
  auto cluster = simple_cluster();
  cluster->ranks_per_memory = 4;
  cluster->memory_gbs = {{1, 10}, {4, 25}};
  cluster->overheads = {0.3, 0.1, 1};
  cluster->links = node_links(4, {0.5, 8, 0.2, 0.2}, {1.5, 10, 0.4, 0.4});
  const System system = grid(60);
  for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
    for (const LayeredGrid& ranks :
         {LayeredGrid{{1, 1}, 2}, LayeredGrid{{2, 1}, 3}, LayeredGrid{{1, 2}, 4}, LayeredGrid{{1, 1}, 8}}) {
      SimulatedCase given;
      given.method = solve_method(ranks.layers, method);
      given.ranks = ranks;
      const SimulatedSolve real = simulated(system, given, cluster);
      const auto cut = std::make_shared<const Layering>(cut_into_layers(*system.symbolic, ranks.layers));
      const SolveGraph tasks = layered_solve_tasks(
          layer_systems(*system.symbolic, cut, method, {ranks, given.map, given.whole}), given.trees);
      std::int64_t messages = 0;
      for (const SolveEdge& edge : tasks.edges)
        messages += tasks.tasks[edge.from].rank !=
                    tasks.tasks[edge.to].rank;
      EXPECT_EQ(messages, real.run.traffic.messages()) << name_of(given.method) << " " << ranks.layers;
      const double planned = schedule_solve(tasks, rank_rates(tasks, *cluster, 1, 8)).seconds;
      EXPECT_NEAR(real.run.seconds / planned, 1, 0.06) << name_of(given.method) << " " << ranks.layers;
    }
}

TEST(simulate_solve, every_method_gives_a_verified_answer_and_says_where_its_time_goes) {
  const System system = grid(60);
  for (const SolveMethodInfo& info : solve_method_list())
    for (const index_t layers : {1, 2, 3}) {
      const bool fits = info.where == SolveWhere::layers || (info.where == SolveWhere::ranks && layers == 1);
      if (!fits) continue;
      SimulatedCase given;
      given.method = info.method;
      given.ranks = {{2, 1}, layers};
      given.num_rhs = 2;
      given.keeps_timeline = true;
      auto cluster = simple_cluster();
      testing::set_message_overheads(*cluster, 0.5);
      const SimulatedSolve found = simulated(system, given, cluster);
      ASSERT_EQ(found.run.times.size(), static_cast<std::size_t>(2 * layers));
      double messages = 0, between = 0;
      for (std::size_t rank = 0; rank < found.run.times.size(); ++rank) {
        const PhaseTimes all = found.run.times[rank].total();
        EXPECT_NEAR(all.work, found.run.busy_seconds[rank], 1e-9);
        EXPECT_LE(all.total(), found.run.seconds + 1e-12);
        messages += all.messages;
        between += found.run.times[rank].of(SweepPhase::between).work;
        EXPECT_GT(found.run.times[rank].of(SweepPhase::forward).work, 0);
        EXPECT_GT(found.run.times[rank].of(SweepPhase::backward).work, 0);
      }
      EXPECT_EQ(between > 0, layers > 1) << info.name << " " << layers;
      // Half a microsecond at each end of every message.
      EXPECT_NEAR(messages, 1e-6 * static_cast<double>(found.run.traffic.messages()), 1e-9);
      std::size_t sent = 0, taken = 0;
      for (const RankTimeline& line : found.run.timelines)
        for (const TimedMessage& message : line.messages) (message.is_sent ? sent : taken) += 1;
      EXPECT_EQ(sent, static_cast<std::size_t>(found.run.traffic.messages()));
      EXPECT_EQ(taken, sent);
    }
}

TEST(solve_method, is_found_by_its_name_and_by_what_its_layers_do) {
  for (const SolveMethodInfo& info : solve_method_list()) {
    EXPECT_EQ(name_of(info.method), info.name);
    EXPECT_EQ(solve_method(info.name), info.method);
    if (info.where == SolveWhere::layers) {
      EXPECT_EQ(solve_method(2, layered_method(info.method)), info.method);
    } else {
      EXPECT_THROW(layered_method(info.method), UsageError);
    }
    for (const SolveWhere where :
         {SolveWhere::one_machine, SolveWhere::ranks, SolveWhere::layers, SolveWhere::device}) {
      if (info.where == where) EXPECT_EQ(solve_method(info.name, where), info.method);
      else EXPECT_THROW(solve_method(info.name, where), UsageError) << info.name;
    }
  }
  EXPECT_EQ(solve_method(1, LayeredMethod::baseline_3d), SolveMethod::message_driven);
  EXPECT_THROW(solve_method("two_sync_3d"), UsageError);
}

TEST(simulate_solve, several_layers_need_a_layered_method) {
  SimulatedCase given;
  given.ranks = {{1, 1}, 2};
  const System system = chain(5);
  EXPECT_THROW(simulate_solve(system.matrix, *system.factor, given, simple_cluster()), UsageError);
}

}  // namespace
}  // namespace palmette
