// Predictions against closed forms (chains, stars, dense triangles) and against the messages of the exchange.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/predict/predict_testing.hpp"

namespace palmette {
namespace {

using testing::microsecond;
using testing::simple_cluster;

SymbolicFactor by_columns(const SparseMatrix<double>& matrix) {
  return analyze(matrix.pattern, testing::natural_order(matrix.rows()), testing::single_columns());
}
SymbolicFactor chain(index_t n) { return by_columns(testing::chain_matrix(n)); }
SymbolicFactor star(index_t n) { return by_columns(testing::star_matrix(n)); }
SymbolicFactor dense(index_t n) { return by_columns(testing::dense_matrix(n)); }

SolvePrediction predicted(const SymbolicFactor& symbolic, ProcessGrid grid, const Cluster& cluster,
                          TreeShape trees = TreeShape::flat) {
  const Placement placement = place(symbolic, grid, PlacementMap::block_cyclic, {false});
  return predict_solve({symbolic, placement, FactorKind::llt, trees, 1, 8}, cluster);
}

// Forward: n diagonals and n − 1 blocks, one after the other; block k + 1, k lies with row k + 1 (P × 1) or
// column k (1 × P), so that each of the n − 1 steps has one message of one entry: 6 µs. Backward the same.
TEST(predict_solve, a_chain_takes_its_tasks_and_messages_one_after_the_other) {
  const SymbolicFactor symbolic = chain(20);
  for (const ProcessGrid grid : {ProcessGrid{4, 1}, ProcessGrid{1, 4}}) {
    const SolvePrediction made = predicted(symbolic, grid, simple_cluster());
    EXPECT_NEAR(made.schedule.seconds, 2 * (20 + 19 + 19 * 6) * microsecond, 1e-12);
    EXPECT_NEAR(made.bound.path_seconds, made.schedule.seconds, 1e-12);
    EXPECT_EQ(made.messages, 2 * 19);
  }
  // On a square grid both the value and the contribution travel.
  const SolvePrediction square = predicted(symbolic, {2, 2}, simple_cluster());
  EXPECT_NEAR(square.schedule.seconds, 2 * (20 + 19 + 2 * 19 * 6) * microsecond, 1e-12);
  const SolvePrediction alone = predicted(symbolic, {1, 1}, simple_cluster());
  EXPECT_NEAR(alone.schedule.seconds, 2 * 39 * microsecond, 1e-12);
  EXPECT_NEAR(alone.bound.seconds(), 2 * 39 * microsecond, 1e-12);
  EXPECT_EQ(alone.messages, 0);
}

// n − 1 leaves, all joined to the last column; leaf k lies on rank k of n. Forward: 1 µs, a message to the
// hub's rank, there n − 1 blocks, the hub. Backward the hub, its blocks in one task, messages, the leaves.
TEST(predict_solve, a_star_waits_for_its_hub) {
  constexpr index_t n = 9;
  const SolvePrediction made = predicted(star(n), {n, 1}, simple_cluster());
  EXPECT_NEAR(made.schedule.seconds, ((1 + 6 + (n - 1) + 1) + (1 + (n - 1) + 6 + 1)) * microsecond, 1e-12);
  EXPECT_NEAR(made.schedule.forward_seconds, (1 + 6 + (n - 1) + 1) * microsecond, 1e-12);
}

// With 2 µs for each message at both ends: the hub's rank takes n − 1 messages, 2 µs each, before its first
// block; backward it sends n − 1, 2 µs each, and the last one arrives last.
TEST(predict_solve, overheads_of_messages_stand_on_the_ranks) {
  constexpr index_t n = 9;
  Cluster cluster = simple_cluster();
  testing::set_message_overheads(cluster, 2);
  const SolvePrediction made = predicted(star(n), {n, 1}, cluster);
  const double forward = 1 + 2 + 6 + 2 * (n - 1) + (n - 1) + 1;
  EXPECT_NEAR(made.schedule.forward_seconds, forward * microsecond, 1e-12);
  EXPECT_NEAR(made.bound.rank_seconds, ((2 * (n - 1)) + 2 * (n - 1) + 2 * (n - 1 + 1)) * microsecond, 1e-12);
  EXPECT_LE(made.bound.seconds(), made.schedule.seconds);
}

// Nodes of one rank that let 1 entry in or out in 2 µs: the n − 1 values that come to the hub 5 µs after they
// leave queue at its door.
TEST(predict_solve, what_enters_a_node_queues_at_its_door) {
  constexpr index_t n = 9;
  Cluster cluster = simple_cluster();
  cluster.links[0].injection_gbs = 4e-3;
  const SolvePrediction made = predicted(star(n), {n, 1}, cluster);
  EXPECT_NEAR(made.bound.link_seconds, (n - 1) * 2 * microsecond, 1e-12);
  // The first is in at 8 µs, the last 2·(n − 2) later; its block and the hub follow.
  EXPECT_NEAR(made.schedule.forward_seconds, (1 + 5 + 2 + 2 * (n - 2) + 1 + 1) * microsecond, 1e-12);
}

TEST(predict_solve, one_rank_takes_all_entries_twice) {
  const SolvePrediction made = predicted(dense(30), {1, 1}, simple_cluster());
  EXPECT_NEAR(made.schedule.seconds, 2 * (30 * 31 / 2) * microsecond, 1e-10);
  EXPECT_NEAR(made.bound.seconds(), made.schedule.seconds, 1e-10);
  EXPECT_NEAR(made.model.compute_lower_seconds, made.schedule.seconds, 1e-10);
  EXPECT_NEAR(made.model.compute_upper_seconds, made.schedule.seconds, 1e-10);
  EXPECT_EQ(made.model.communication_flat_seconds, 0);
  EXPECT_EQ(made.factor_bytes.most, 8 * 30 * 31 / 2);
}

// Dense, P × 1: column k is passed on by its diagonal to all P ranks; the chain of diagonals has 30
// diagonals, 29 blocks and 29 messages at least.
TEST(predict_solve, a_dense_triangle_is_between_its_path_and_its_work) {
  const SymbolicFactor symbolic = dense(30);
  for (const ProcessGrid grid : {ProcessGrid{4, 1}, ProcessGrid{1, 4}, ProcessGrid{2, 2}})
    for (const TreeShape trees : {TreeShape::flat, TreeShape::binary}) {
      const SolvePrediction made = predicted(symbolic, grid, simple_cluster(), trees);
      EXPECT_GE(made.bound.path_seconds, 2 * (30 + 29) * microsecond);
      // They are equal on some grids, up to the order of additions.
      EXPECT_LE(made.bound.seconds(), made.schedule.seconds + 1e-15);
      EXPECT_LE(made.model.compute_lower_seconds, made.model.compute_upper_seconds + 1e-15);
      EXPECT_GE(made.model.compute_upper_seconds, 2 * (30 + 29) * microsecond);
      EXPECT_EQ(made.model.levels, 59);
    }
}

// [Ding et al. 2020], §7.2: on the bidiagonal the square grid communicates as long as both one-dimensional
// ones together.
TEST(path_model, a_bidiagonal_matrix_communicates_on_a_square_grid_as_on_both_others_together) {
  const SymbolicFactor symbolic = chain(100);
  const auto communication = [&](ProcessGrid grid) {
    const Placement placement = place(symbolic, grid, PlacementMap::block_cyclic, {false});
    return path_model({symbolic, placement}, simple_cluster()).communication_flat_seconds;
  };
  // 99 messages of 6 µs in each sweep.
  EXPECT_NEAR(communication({9, 1}), 2 * 99 * 6 * microsecond, 1e-12);
  EXPECT_NEAR(communication({3, 3}), communication({9, 1}) + communication({1, 9}), 1e-12);
}

SymbolicFactor grid_factor(index_t side) {
  const SparseMatrix<double> matrix = testing::grid_matrix(side);
  return analyze(matrix.pattern, testing::nested_dissection(matrix));
}

TEST(solve_tasks, have_the_messages_of_the_exchange_and_the_entries_of_the_factor) {
  const SymbolicFactor symbolic = grid_factor(60);
  const FactorWork all = sweep_work(symbolic, 0, symbolic.num_supernodes());
  for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
    for (const TreeShape trees : {TreeShape::binary, TreeShape::flat})
      for (const ProcessGrid grid :
           {ProcessGrid{1, 1}, ProcessGrid{2, 1}, ProcessGrid{3, 2}, ProcessGrid{4, 4}}) {
        const Placement placement = place(symbolic, grid, map);
        const SolveGraph tasks = solve_tasks(symbolic, placement, trees);
        const Traffic traffic = predicted_solve_traffic(symbolic, placement, trees, 8);
        std::int64_t messages = 0, bytes = 0;
        for (const SolveEdge& edge : tasks.edges) {
          ASSERT_LT(edge.from, edge.to);
          const bool crosses = tasks.tasks[edge.from].rank !=
                               tasks.tasks[edge.to].rank;
          ASSERT_EQ(crosses, edge.message_rows > 0);
          messages += crosses;
          bytes += 8 * edge.message_rows;
        }
        EXPECT_EQ(messages, traffic.messages());
        EXPECT_EQ(bytes, traffic.bytes());
        double entries = 0;
        for (const SolveTask& task : tasks.tasks) entries += task.entries;
        EXPECT_NEAR(entries, 2 * all.entries, 1e-6 * all.entries);
      }
}

TEST(predict_solve, the_bound_is_below_the_schedule_and_the_path_ends_with_it) {
  const SymbolicFactor symbolic = grid_factor(60);
  Cluster cluster = simple_cluster();
  cluster.ranks_per_memory = 2;
  cluster.memory_gbs = {{1, 10}, {2, 15}};
  cluster.overheads = {0.3, 0.1, 1};
  cluster.links = node_links(2, {0.5, 8, 0.2, 0.2}, {1.5, 10, 0.4, 0.4}, 10);
  for (const ProcessGrid grid :
       {ProcessGrid{1, 1}, ProcessGrid{2, 1}, ProcessGrid{3, 2}, ProcessGrid{4, 4}}) {
    const Placement placement = place(symbolic, grid, PlacementMap::subtree_to_subcube);
    const SolvePrediction made = predict_solve({symbolic, placement}, cluster);
    EXPECT_LE(made.bound.seconds(), made.schedule.seconds);
    ASSERT_FALSE(made.schedule.path.empty());
    EXPECT_EQ(made.schedule.path.back().end, made.schedule.seconds);
    EXPECT_NEAR(made.schedule.path.front().begin, 0, 1e-4);
    for (std::size_t at = 1; at < made.schedule.path.size(); ++at)
      EXPECT_GE(made.schedule.path[at].begin, made.schedule.path[at - 1].end - 1e-12);
  }
}

// [Ding et al. 2020], §7.2: a chain has half the messages on a one-dimensional grid.
TEST(ranked_grids, a_chain_wants_one_dimension) {
  const SymbolicFactor symbolic = chain(40);
  GridQuestion question{symbolic, 4, {PlacementMap::block_cyclic}, {false}, TreeShape::flat, 1, 8};
  const std::vector<GridChoice> choices = ranked_grids(question, simple_cluster());
  ASSERT_EQ(choices.size(), 3u);  // 1 × 4, 2 × 2, 4 × 1
  EXPECT_EQ(choices.back().grid.rows, 2);
  EXPECT_NEAR(choices.front().seconds, 2 * (40 + 39 + 39 * 6) * microsecond, 1e-12);
  question.num_ranks = 0;
  EXPECT_THROW(ranked_grids(question, simple_cluster()), UsageError);
}

// Two equal chains under one hub: with two layers each has its own, the hub is on both, and one message each
// way is all.
TEST(ranked_grids, two_branches_want_two_layers) {
  constexpr index_t length = 30, n = 2 * length + 1;
  const SymbolicFactor symbolic = by_columns(testing::joined_matrix(n, [](index_t row, index_t column) {
    return row == n - 1 ? column == length - 1 || column == n - 2 : row == column + 1 && row != length;
  }));
  GridQuestion question{symbolic, 2, {PlacementMap::block_cyclic}, {false}, TreeShape::flat, 1, 8};
  question.layers = {2, 1, 4};
  const std::vector<GridChoice> choices = ranked_grids(question, simple_cluster());
  ASSERT_EQ(choices.size(), 4u);  // 1 × 2 and 2 × 1, and two layers by either method
  EXPECT_EQ(choices.front().layers, 2);
  // Chains of 30 diagonals and blocks, then the hub; in between, its row goes up and comes down: 6 µs each
  // way, plus the cost of reading and writing 2 entries at both ends.
  EXPECT_NEAR(choices.front().seconds, (2 * (30 + 30 + 1) + 2 * (6 + 2 + 2)) * microsecond, 3 * microsecond);
  EXPECT_EQ(predicted_seconds(question, choices.front(), simple_cluster()), choices.front().seconds);
  EXPECT_EQ(chosen_layout(question, simple_cluster()).seconds, choices.front().seconds);
  const SolvePrediction made = predict_layered_solve({symbolic,
                                                      {{{1, 1}, 2}, PlacementMap::block_cyclic, {false}},
                                                      LayeredMethod::one_sync_3d,
                                                      FactorKind::llt,
                                                      TreeShape::flat},
                                                     simple_cluster());
  EXPECT_EQ(made.num_ranks, 2);
  EXPECT_EQ(made.layers, 2);
  EXPECT_NEAR(made.schedule.seconds, choices.front().seconds, 3 * microsecond) << "by either method";
  EXPECT_LE(made.bound.seconds(), made.schedule.seconds);
  EXPECT_EQ(made.messages, 2) << "one each way";
  EXPECT_EQ(made.message_bytes, 2 * 8);
  EXPECT_EQ(made.factor_bytes.least, (2 * 30 + 1) * 8) << "30 columns of two entries, and the hub on both";
  EXPECT_EQ(made.factor_bytes.most, made.factor_bytes.least);
  EXPECT_THROW(
      predict_layered_solve({symbolic, {{{0, 1}, 2}, PlacementMap::block_cyclic, {}}}, simple_cluster()),
      UsageError);
  question.layers = {3};
  EXPECT_THROW(ranked_grids(question, simple_cluster()), UsageError);
  EXPECT_THROW(chosen_layout(question, simple_cluster()), UsageError);
}

TEST(chosen_layout, takes_the_first_of_all_where_one_layer_is_asked_for) {
  const SymbolicFactor symbolic = grid_factor(60);
  const GridQuestion question{
      symbolic, 12, {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic}, {}, TreeShape::binary,
      1,        8};
  const GridChoice chosen = chosen_layout(question, simple_cluster()),
                   first = ranked_grids(question, simple_cluster()).front();
  EXPECT_EQ(chosen.seconds, first.seconds);
  EXPECT_EQ(chosen.grid.rows, first.grid.rows);
}

TEST(layered_solve_tasks, edges_go_to_larger_numbers_and_messages_are_those_of_the_exchange) {
  const SymbolicFactor symbolic = grid_factor(40);
  for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
    for (const index_t layers : {2, 3, 5}) {
      const auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, layers));
      const std::vector<LayerSystem> systems =
          layer_systems(symbolic, cut, method, {{{2, 1}, layers}, PlacementMap::block_cyclic, {}});
      const SolveGraph tasks = layered_solve_tasks(systems, TreeShape::binary);
      std::int64_t messages = 0, bytes = 0;
      for (const SolveEdge& edge : tasks.edges) {
        EXPECT_LT(edge.from, edge.to);
        if (tasks.tasks[edge.from].rank ==
            tasks.tasks[edge.to].rank)
          continue;
        ++messages;
        bytes += 8 * edge.message_rows;
      }
      const Traffic all = predicted_layered_traffic(systems, TreeShape::binary, 8).all();
      EXPECT_EQ(messages, all.messages());
      EXPECT_EQ(bytes, all.bytes());
    }
  EXPECT_THROW(layered_solve_tasks({}, TreeShape::binary), UsageError);
}

TEST(predict_solve, nothing_takes_no_time) {
  const SymbolicFactor nothing = dense(0);
  const SolvePrediction made = predicted(nothing, {2, 1}, simple_cluster());
  EXPECT_EQ(made.schedule.seconds, 0);
  EXPECT_EQ(made.bound.seconds(), 0);
  EXPECT_EQ(predict_on_threads({nothing, 2, 1, 8}, simple_cluster()).seconds, 0);
}

/// A star on one rank whose workers read an entry in 1 µs each, and all together one in `shared_us`.
Schedule star_on_workers(index_t n, index_t workers, double shared_us, double launch_us = 0) {
  Cluster cluster = simple_cluster();
  cluster.memory_gbs = {{1, 8e-3 / shared_us}};
  cluster.workers = workers;
  cluster.worker_gbs = 8e-3;
  cluster.launch_us = launch_us;
  return predicted(star(n), {1, 1}, cluster).schedule;
}

// Forward: six leaves of 1 µs, a block of 1 µs after each, and the hub.
TEST(predict_solve, workers_of_a_rank_go_side_by_side) {
  EXPECT_NEAR(star_on_workers(7, 1, 0.1).forward_seconds, 13 * microsecond, 1e-12);
  EXPECT_NEAR(star_on_workers(7, 3, 0.1).forward_seconds, 5 * microsecond, 1e-12);
  EXPECT_NEAR(star_on_workers(7, 6, 0.1).forward_seconds, 3 * microsecond, 1e-12);
  EXPECT_NEAR(star_on_workers(7, 99, 0.1).forward_seconds, 3 * microsecond, 1e-12);
}

// If one worker exhausts the rank, six at once are six times as slow. The k-th to begin has k at its side for
// as long as it runs, so the last leaf takes 6 µs, as does the last block.
TEST(predict_solve, workers_share_the_rate_of_their_rank) {
  const double six = star_on_workers(7, 6, 1).forward_seconds;
  EXPECT_NEAR(star_on_workers(7, 1, 1).forward_seconds, 13 * microsecond, 1e-12);
  EXPECT_GE(six, 7 * microsecond);
  EXPECT_LE(six, 13 * microsecond + 1e-12);
}

TEST(predict_solve, each_sweep_of_a_rank_begins_with_a_launch) {
  for (const index_t workers : {1, 4})
    EXPECT_NEAR(star_on_workers(5, workers, 0.1, 3).seconds,
                star_on_workers(5, workers, 0.1).seconds + 6 * microsecond, 1e-12);
}

// Two workers wait for the launch of 3 µs: six leaves and their blocks on two of them take 6 µs, the hub
// 1 µs.
TEST(predict_solve, no_worker_begins_before_the_launch) {
  EXPECT_NEAR(star_on_workers(7, 2, 0.1, 3).forward_seconds, 10 * microsecond, 1e-12);
}

// A chain of n columns: forward and backward, each column waits for the one before, however many workers
// there are. Column k has 2 entries (the last one 1), read at 1 µs each, after 3 µs of launch. Before and
// after the sweeps a launch reads and writes the 10 entries of a vector.
TEST(predict_on_device, a_chain_goes_link_after_link) {
  Cluster device = simple_cluster();
  device.workers = 4;
  device.launch_us = 3;
  const DevicePrediction made = predict_on_device({chain(10)}, device);
  EXPECT_NEAR(made.forward_seconds, (3 + 19) * microsecond, 1e-12);
  EXPECT_NEAR(made.seconds, 2 * (3 + 19 + 3 + 20) * microsecond, 1e-12);
  EXPECT_NEAR(made.path_seconds, made.seconds, 1e-12);
  EXPECT_NEAR(made.roofline_seconds, (38 + 40) * microsecond, 1e-12);
  EXPECT_NEAR(made.latency_seconds, 12 * microsecond, 1e-12);
  EXPECT_EQ(made.path_supernodes, 10);
  EXPECT_EQ(predict_on_device({SymbolicFactor()}, device).seconds, 0);
}

TEST(predict_on_device, workers_help_where_the_tree_is_wide_until_the_memory_is_exhausted) {
  const SymbolicFactor symbolic = grid_factor(40);
  Cluster device = simple_cluster();
  device.memory_gbs = {{1, 100}};
  device.worker_gbs = 10;
  device.overheads = {0.5, 1, 0};
  double before = 1e9;
  for (const index_t workers : {1, 4, 16}) {
    device.workers = workers;
    const DevicePrediction made = predict_on_device({symbolic}, device);
    EXPECT_LT(made.seconds, before);
    EXPECT_GE(made.seconds, made.bound_seconds() * (1 - 1e-12));
    before = made.seconds;
  }
}

TEST(predict_on_threads, threads_share_what_the_memory_gives) {
  const SymbolicFactor symbolic = grid_factor(100);
  Cluster cluster = simple_cluster();
  cluster.ranks_per_memory = 2;
  cluster.memory_gbs = {{1, 10}, {2, 10}};
  const double one = predict_on_threads({symbolic, 1, 1, 8}, cluster).seconds;
  const FactorWork all = sweep_work(symbolic, 0, symbolic.num_supernodes());
  EXPECT_NEAR(one, 2 * all.entries * 8 / 10e9, 1e-9);
  // If one thread exhausts the memory bandwidth, a second thread gains nothing.
  EXPECT_NEAR(predict_on_threads({symbolic, 2, 1, 8}, cluster).seconds, one, 1e-9);
  cluster.memory_gbs = {{1, 10}, {2, 20}};
  const ThreadPrediction two = predict_on_threads({symbolic, 2, 1, 8}, cluster);
  EXPECT_LT(two.seconds, 0.7 * one);
  EXPECT_GE(two.seconds, 0.5 * one);
  EXPECT_LE(two.bound_seconds, two.seconds);
}

}  // namespace
}  // namespace palmette
