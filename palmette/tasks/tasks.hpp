// The door of `tasks`: Placement → TaskGraph: tasks, their dependencies and their priorities. Factorization,
// solves and prediction use the same kind of graph.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "palmette/place/place.hpp"
#include "palmette/tasks/block_tasks.hpp"
#include "palmette/tasks/column_deal.hpp"
#include "palmette/tasks/fan_out.hpp"
#include "palmette/tasks/layer_exchange.hpp"
#include "palmette/tasks/rank_graph.hpp"
#include "palmette/tasks/reached_graph.hpp"
#include "palmette/tasks/solve_exchange.hpp"
#include "palmette/tasks/solve_reach.hpp"
#include "palmette/tasks/solve_tasks.hpp"

namespace palmette {

enum class TaskKind {
  subtree,   ///< everything of supernodes [first, last)
  update,    ///< gather the updates of earlier supernodes into rows of panel `first`, row chunk `chunk`
  diagonal,  ///< factor the diagonal block of supernode `first`
  panel,     ///< finish rows of panel `first`, row chunk `chunk`
  rows,      ///< rows [first, last) of a plain triangle's schedule
};

struct Task {
  TaskKind kind = TaskKind::subtree;
  index_t first = 0;
  index_t last = 0;   ///< one past the end
  index_t chunk = 0;  ///< update and panel: which row chunk
  double cost = 0;    ///< flops or bytes, in one unit for the whole graph
};

struct Edge {
  index_t from;
  index_t to;
};

/// A directed acyclic graph of tasks, numbered so that every edge goes to a larger number. Constant after
/// construction.
struct TaskGraph {
  std::vector<Task> tasks;
  std::vector<offset_t> successor_ptr = {0};    // length num_tasks + 1
  std::vector<index_t> successor;               // ascending within a task, each once
  std::vector<offset_t> predecessor_ptr = {0};  // length num_tasks + 1
  std::vector<index_t> predecessor;             // ascending within a task, each once
  // length num_tasks: cost of the costliest path from the task's start on
  std::vector<double> priority;

  index_t num_tasks() const { return static_cast<index_t>(tasks.size()); }
  std::span<const index_t> successors(index_t task) const {
    return {successor.data() + successor_ptr[task],
            static_cast<std::size_t>(successor_ptr[task + 1] - successor_ptr[task])};
  }
  std::span<const index_t> predecessors(index_t task) const {
    return {predecessor.data() + predecessor_ptr[task],
            static_cast<std::size_t>(predecessor_ptr[task + 1] - predecessor_ptr[task])};
  }
  double total_cost() const;
  /// Cost of the costliest path: a lower bound for any number of threads.
  double critical_path() const;
};

/// @param edges  duplicates allowed, each from a smaller to a larger number
/// @throws UsageError if an edge runs backwards or out of range
TaskGraph make_task_graph(std::vector<Task> tasks, std::vector<Edge> edges);

/// The same tasks with every edge reversed, numbered from the end: task t becomes num_tasks − 1 − t.
TaskGraph reversed(const TaskGraph& graph);

/// Levels: level of a task = 1 + largest level of its predecessors. Tasks of level k are
/// task[level_ptr[k] … level_ptr[k+1]), ascending.
struct LevelSets {
  std::vector<index_t> level_ptr = {0};
  std::vector<index_t> task;  // length num_tasks
  index_t num_levels() const { return static_cast<index_t>(level_ptr.size()) - 1; }
};
LevelSets level_sets(const TaskGraph& graph);

/// One task for each group, child before parent, with the given cost for each group (length num_groups).
TaskGraph tree_tasks(const TreePartition& partition, std::span<const double> cost);

/// How a supernode's panel is cut into row chunks for factorization: chunk 0 starts at the panel's first row.
struct RowChunks {
  index_t chunk_rows = 256;  ///< rows in a chunk; the last may have fewer
  /// by supernode: a single task finishes its rows; empty: none
  std::vector<char> finished_whole;
  friend bool operator==(const RowChunks&, const RowChunks&) = default;
  bool finishes_whole(index_t supernode) const {
    return !finished_whole.empty() && finished_whole[supernode] != 0;
  }
  index_t count(const SymbolicFactor& symbolic, index_t supernode) const {
    const offset_t rows = symbolic.leading_dimension(supernode);
    return static_cast<index_t>((rows + chunk_rows - 1) / chunk_rows);
  }
};

struct FactorizationTasks {
  TreePartition partition;
  RowChunks chunks;
  TaskGraph graph;
};

/// The tasks of a factorization: a group that is a subtree is one task; a supernode above the subtrees has an
/// update task for each row chunk, a diagonal task, and a panel task for each row chunk. An update task waits
/// for the groups of its children: all updaters of a supernode lie in its subtree.
FactorizationTasks factorization_tasks(const SymbolicFactor& symbolic, const Placement& placement,
                                       FactorKind kind, RowChunks chunks = {});

/// The tasks that are ready to run, highest priority first, and the counters of those that are not.
/// Thread-safe; created (or reset) for each run of a graph.
class ReadyTasks {
 public:
  explicit ReadyTasks(const TaskGraph& graph);
  /// Reset to the initial state: counters full, sources ready.
  void reset();
  /// The ready task of highest priority (lowest number among equals); −1 if none is ready.
  index_t take();
  /// Mark a task as done: decrements the counters of its successors; those that reach zero become ready.
  void finish(index_t task);
  /// True once every task has finished.
  bool all_finished() const { return unfinished_.load(std::memory_order_acquire) == 0; }

 private:
  bool less_urgent(index_t a, index_t b) const;
  void push(index_t task);  // with mutex_ held
  const TaskGraph* graph_;
  std::unique_ptr<std::atomic<index_t>[]> waiting_for_;  // length num_tasks
  std::vector<index_t> heap_;
  std::atomic<index_t> ready_count_{0};
  std::atomic<index_t> unfinished_{0};
  std::mutex mutex_;
};

}  // namespace palmette
