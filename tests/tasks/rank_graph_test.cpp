// The tasks of each rank of a solve: what they wait for is sent or done somewhere, once.
#include <gtest/gtest.h>

#include "palmette/tasks/tasks.hpp"
#include "tests/predict/predict_testing.hpp"

namespace palmette {
namespace {

/// Follows all edges and messages of a solve over layers. @returns number of tasks that ran
index_t run_all(const std::vector<std::vector<RankGraph>>& layers) {
  std::vector<std::vector<std::vector<index_t>>> waits;  // by layer, rank and task
  struct Task {
    std::size_t layer, rank;
    index_t task;
  };
  std::vector<Task> ready;
  for (std::size_t z = 0; z < layers.size(); ++z)
    for (std::size_t rank = 0; rank < layers[z].size(); ++rank) {
      if (rank == 0) waits.emplace_back(layers[z].size());
      for (index_t task = 0; task < layers[z][rank].num_tasks(); ++task) {
        waits[z][rank].push_back(layers[z][rank].tasks[task].num_waits);
        if (waits[z][rank].back() == 0) ready.push_back({z, rank, task});
      }
    }
  const auto satisfy = [&](std::size_t z, std::size_t rank, index_t task) {
    ASSERT_GE(task, 0) << "a message reaches a task";
    ASSERT_GT(waits[z][rank][task], 0) << "a task that has run waits for more";
    if (--waits[z][rank][task] == 0) ready.push_back({z, rank, task});
  };
  for (std::size_t at = 0; at < ready.size(); ++at) {
    const auto [z, rank, task] = ready[at];
    const RankGraph& graph = layers[z][rank];
    for (const index_t next : graph.next_of(task)) satisfy(z, rank, next);
    for (const LocalMessage& message : graph.messages_of(task)) {
      const auto ranks = static_cast<index_t>(layers[z].size());
      const bool within = static_cast<int>(message.kind) < num_messages_within;
      const std::size_t layer = within ? z : message.rank / ranks, other = message.rank % ranks;
      const RankGraph& to = layers[layer][other];
      if (within) {
        satisfy(layer, other, to.receiver_of(message.kind, graph.tasks[task].supernode));
        continue;
      }
      index_t step = 0;
      while (to.steps[step].node != graph.steps[graph.tasks[task].number].node) ++step;
      const bool up = message.kind == SolveMessage::layer_up;
      satisfy(layer, other, up ? to.meeting_up(step) : to.meeting_down(step));
    }
  }
  return static_cast<index_t>(ready.size());
}

TEST(rank_graph, every_task_of_every_rank_and_layer_runs_once) {
  const SparseMatrix<double> matrix = testing::grid_matrix(24);
  const SymbolicFactor symbolic = analyze(matrix.pattern, testing::nested_dissection(matrix));
  for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
    for (const index_t num_layers : {1, 2, 3, 4, 5, 8})
      for (const ProcessGrid grid : {ProcessGrid{1, 1}, {2, 1}, {1, 3}, {2, 2}})
        for (const TreeShape trees : {TreeShape::binary, TreeShape::flat}) {
          const auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, num_layers));
          std::vector<std::vector<RankGraph>> layers;
          index_t num_tasks = 0, num_waits = 0;
          for (const LayerSystem& system : layer_systems(
                   symbolic, cut, method, {{grid, num_layers}, PlacementMap::block_cyclic, {true, 60}})) {
            std::vector<RankGraph>& ranks = layers.emplace_back();
            for (index_t rank = 0; rank < grid.num_ranks(); ++rank) {
              const SolveExchange exchange =
                  solve_exchange(*system.symbolic, *system.placement, trees, rank);
              ranks.push_back(rank_graph(exchange, *system.symbolic, &system));
              num_tasks += ranks.back().num_tasks();
              for (const LocalTask& task : ranks.back().tasks) num_waits += task.num_waits;
            }
          }
          const std::string where =
              std::to_string(grid.rows) + "x" + std::to_string(grid.cols) + "x" + std::to_string(num_layers);
          EXPECT_EQ(run_all(layers), num_tasks) << where;
          EXPECT_GT(num_waits, num_layers) << where;
        }
}

// A rank alone: nothing is relayed or sent, and the first tasks are its subtrees.
TEST(rank_graph, a_rank_alone_sends_nothing) {
  const SparseMatrix<double> matrix = testing::grid_matrix(12);
  const SymbolicFactor symbolic = analyze(matrix.pattern, testing::nested_dissection(matrix));
  const Placement placement = place(symbolic, {1, 1}, PlacementMap::block_cyclic, {true, 60});
  const SolveExchange exchange = solve_exchange(symbolic, placement, TreeShape::binary, 0);
  const RankGraph graph = rank_graph(exchange, symbolic);
  EXPECT_TRUE(graph.messages.empty());
  EXPECT_EQ(graph.first_meeting, graph.num_tasks());
  double entries = 0;
  for (index_t task = 0; task < graph.num_tasks(); ++task) {
    EXPECT_FALSE(is_relay(graph.tasks[task].part));
    entries += work_of(exchange, graph, task).entries;
  }
  EXPECT_EQ(entries, 2 * sweep_work(symbolic, 0, symbolic.num_supernodes()).entries);
}

}  // namespace
}  // namespace palmette
