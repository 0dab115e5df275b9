// Task graphs: edges, levels, priorities, tree partitions, and the ready queue under several threads.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

std::vector<Task> tasks_of_cost(const std::vector<double>& costs) {
  std::vector<Task> tasks;
  for (const double cost : costs) tasks.push_back({TaskKind::subtree, 0, 0, 0, cost});
  return tasks;
}

// A diamond 0 → {1, 2} → 3 with costs 1, 5, 2, 1: priorities from the end are 1, 6, 3, 7.
TEST(task_graph, priority_is_the_costliest_path_from_a_task_on) {
  const TaskGraph graph =
      make_task_graph(tasks_of_cost({1, 5, 2, 1}), {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 1}});
  EXPECT_EQ(graph.priority, (std::vector<double>{7, 6, 3, 1}));
  EXPECT_EQ(graph.critical_path(), 7);
  EXPECT_EQ(graph.total_cost(), 9);
  EXPECT_EQ(graph.successors(0).size(), 2u);  // the double edge counts once
  const LevelSets levels = level_sets(graph);
  EXPECT_EQ(levels.level_ptr, (std::vector<index_t>{0, 1, 3, 4}));
}

TEST(task_graph, turned_round_it_keeps_its_path_and_turning_twice_gives_it_back) {
  const TaskGraph graph =
      make_task_graph(tasks_of_cost({1, 5, 2, 1, 4}), {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}});
  const TaskGraph back = reversed(graph);
  EXPECT_EQ(back.critical_path(), graph.critical_path());
  EXPECT_EQ(back.tasks[0].cost, 4);
  const TaskGraph again = reversed(back);
  EXPECT_EQ(again.successor, graph.successor);
  EXPECT_EQ(again.successor_ptr, graph.successor_ptr);
  EXPECT_EQ(again.predecessor, graph.predecessor);
}

TEST(task_graph, edges_that_run_backwards_or_out_of_range_are_refused) {
  EXPECT_THROW(make_task_graph(tasks_of_cost({1, 1}), {{1, 0}}), UsageError);
  EXPECT_THROW(make_task_graph(tasks_of_cost({1, 1}), {{0, 0}}), UsageError);
  EXPECT_THROW(make_task_graph(tasks_of_cost({1, 1}), {{0, 2}}), UsageError);
  EXPECT_EQ(make_task_graph({}, {}).critical_path(), 0);
}

SymbolicFactor analyzed_grid(index_t side) {
  GenerateOptions options;
  options.problem = "poisson2d9";
  options.n = side;
  const SparseMatrix<double> matrix = generate(options);
  OrderOptions how;
  how.method = OrderingMethod::amd;
  return analyze(matrix.pattern, order(matrix, how).value());
}

TEST(partition_tree, groups_are_whole_subtrees_within_the_limit_or_single_supernodes) {
  const SymbolicFactor symbolic = analyzed_grid(40);
  std::vector<double> weight(symbolic.num_supernodes());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) weight[s] = 1 + s % 5;
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  for (const double limit : {0.0, 1.0, 20.0, 200.0, total}) {
    const TreePartition partition = partition_tree(symbolic, weight, limit);
    ASSERT_EQ(partition.group_begin.back(), symbolic.num_supernodes());
    for (index_t group = 0; group < partition.num_groups(); ++group) {
      const index_t first = partition.group_begin[group], last = partition.group_begin[group + 1] - 1;
      const double sum = std::accumulate(weight.begin() + first, weight.begin() + last + 1, 0.0);
      if (last > first) {
        EXPECT_EQ(symbolic.first_descendant[last], first)
            << "a group of several supernodes is not a whole subtree";
        EXPECT_LE(sum, limit);
      }
      if (partition.parent[group] != -1) {
        EXPECT_GT(partition.parent[group], group);
        const index_t above = symbolic.parent[last];
        EXPECT_GE(above, partition.group_begin[partition.parent[group]]);
        EXPECT_LT(above, partition.group_begin[partition.parent[group] + 1]);
      }
    }
  }
  EXPECT_EQ(partition_tree(symbolic, weight, 0).num_groups(), symbolic.num_supernodes());
}

TEST(factorization_tasks, every_supernode_is_done_once_and_after_all_its_updaters) {
  const SymbolicFactor symbolic = analyzed_grid(120);
  const FactorizationTasks tasks = factorization_tasks(symbolic, place(symbolic), FactorKind::llt);
  const TaskGraph& graph = tasks.graph;
  // finished[s]: last task that writes s; begun[s]: first.
  std::vector<index_t> begun(symbolic.num_supernodes(), -1), finished(begun);
  std::vector<std::set<index_t>> ends(begun.size());
  bool above_subtrees = false;
  for (index_t task = 0; task < graph.num_tasks(); ++task) {
    above_subtrees = above_subtrees || graph.tasks[task].kind == TaskKind::panel;
    for (index_t s = graph.tasks[task].first; s < graph.tasks[task].last; ++s) {
      if (begun[s] == -1) begun[s] = task;
      finished[s] = task;
    }
  }
  EXPECT_TRUE(above_subtrees);
  // Reachability by closure over the graph: an updater's last tasks all precede the target's first.
  std::vector<std::vector<char>> reaches(graph.tasks.size(), std::vector<char>(graph.tasks.size(), 0));
  for (index_t task = graph.num_tasks() - 1; task >= 0; --task)
    for (const index_t next : graph.successors(task)) {
      reaches[task][next] = 1;
      for (index_t other = next; other < graph.num_tasks(); ++other)
        reaches[task][other] |= reaches[next][other];
    }
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    ASSERT_NE(begun[s], -1);
    for (const Updater& updater : symbolic.updaters_of(s)) {
      if (begun[s] == begun[updater.source]) continue;  // the same subtree task
      EXPECT_TRUE(reaches[finished[updater.source]][begun[s]]);
    }
  }
  EXPECT_THROW(factorization_tasks(symbolic, place(symbolic, {2, 1}), FactorKind::llt), UsageError);
}

TEST(ready_tasks, several_threads_run_each_task_once_and_never_before_its_predecessors) {
  std::vector<Edge> edges;
  const index_t count = 400;
  std::uint64_t state = 3;
  for (index_t to = 1; to < count; ++to)
    for (int k = 0; k < 3; ++k) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      edges.push_back({static_cast<index_t>((state >> 33) % std::uint64_t(to)), to});
    }
  const TaskGraph graph = make_task_graph(tasks_of_cost(std::vector<double>(count, 1)), edges);
  ReadyTasks ready(graph);
  ThreadTeam team(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::atomic<int>> runs(count);
    std::atomic<bool> too_early = false;
    ready.reset();
    team.run([&](int) {
      while (!ready.all_finished()) {
        const index_t task = ready.take();
        if (task == -1) continue;
        for (const index_t before : graph.predecessors(task))
          if (runs[before].load() != 1) too_early = true;
        ++runs[task];
        ready.finish(task);
      }
    });
    EXPECT_FALSE(too_early.load());
    for (const auto& run : runs) ASSERT_EQ(run.load(), 1);
  }
}

TEST(ready_tasks, the_most_urgent_task_comes_first) {
  const TaskGraph graph = make_task_graph(tasks_of_cost({1, 9, 4, 9}), {});
  ReadyTasks ready(graph);
  EXPECT_EQ(ready.take(), 1);
  EXPECT_EQ(ready.take(), 3);
  EXPECT_EQ(ready.take(), 2);
  EXPECT_EQ(ready.take(), 0);
  EXPECT_EQ(ready.take(), -1);
}

}  // namespace
}  // namespace palmette
