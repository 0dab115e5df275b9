// Builds a schedule of a task graph: levels gathered into phases, and tickets in order of priority.
#include <algorithm>
#include <numeric>

#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {
namespace {

// A barrier costs about as much as moving this many bytes: one thread runs levels with less work.
constexpr double bytes_worth_a_barrier = 8192;

bool worth_sharing(const TaskGraph& graph, const LevelSets& levels, index_t level) {
  const index_t begin = levels.level_ptr[level];
  const index_t end = levels.level_ptr[level + 1];
  if (end - begin < 2) return false;
  double cost = 0;
  double largest = 0;
  for (index_t place = begin; place < end; ++place) {
    cost += graph.tasks[levels.task[place]].cost;
    largest = std::max(largest, graph.tasks[levels.task[place]].cost);
  }
  return cost - largest > bytes_worth_a_barrier;
}

std::vector<Phase> gather_phases(const TaskGraph& graph, const LevelSets& levels) {
  std::vector<Phase> phases;
  for (index_t level = 0; level < levels.num_levels(); ++level) {
    const bool alone = !worth_sharing(graph, levels, level);
    if (alone && !phases.empty() && phases.back().alone) phases.back().end = levels.level_ptr[level + 1];
    else phases.push_back({levels.level_ptr[level], levels.level_ptr[level + 1], alone});
  }
  return phases;
}

// A branch of a tree that costs less than one of so many parts of the whole is one ticket. Thirty threads
// have several each; many more would lack work.
constexpr double parts_of_the_whole = 128;

/// In a tree, the one task after each task, or the one before it if the tree's edges run from the root to the
/// leaves; −1 at roots, and everywhere if the graph is no tree.
struct TreeOfTasks {
  bool roots_last = true;
  std::vector<index_t> parent;  // length num_tasks

  explicit TreeOfTasks(const TaskGraph& graph) : parent(graph.tasks.size(), -1) {
    bool roots_first = true;
    for (index_t task = 0; task < graph.num_tasks(); ++task) {
      roots_last = roots_last && graph.successors(task).size() <= 1;
      roots_first = roots_first && graph.predecessors(task).size() <= 1;
    }
    if (!roots_last && !roots_first) return;
    for (index_t task = 0; task < graph.num_tasks(); ++task) {
      const auto next = roots_last ? graph.successors(task) : graph.predecessors(task);
      if (!next.empty()) parent[task] = next.front();
    }
  }
  /// visit(task) for every task: children before parents, or parents before children.
  template <class Visit>
  void visit_all(bool children_first, Visit&& visit) const {
    const index_t last = static_cast<index_t>(parent.size()) - 1;
    for (index_t k = 0; k <= last; ++k) visit(children_first == roots_last ? k : last - k);
  }
};

/// For each task, the root of its branch: the largest one that costs less than the limit, or the task alone.
std::vector<index_t> branch_roots(const TaskGraph& graph) {
  const double most = graph.total_cost() / parts_of_the_whole;
  const TreeOfTasks tree(graph);
  std::vector<double> cost(graph.tasks.size(), 0.0);
  tree.visit_all(true, [&](index_t task) {
    cost[task] += graph.tasks[task].cost;
    if (tree.parent[task] != -1) cost[tree.parent[task]] += cost[task];
  });
  std::vector<index_t> root(graph.tasks.size());
  tree.visit_all(false, [&](index_t task) {
    const index_t above = tree.parent[task];
    root[task] = above != -1 && cost[above] < most ? root[above] : task;
  });
  return root;
}

/// Branches by the costliest remaining path of their tasks; within each, tasks in the order of their numbers.
void order_by_priority(const TaskGraph& graph, SweepSchedule& schedule) {
  const std::vector<index_t> root = branch_roots(graph);
  std::vector<double> priority(graph.tasks.size(), 0.0);  // of a branch, at its root
  for (index_t task = 0; task < graph.num_tasks(); ++task)
    priority[root[task]] = std::max(priority[root[task]], graph.priority[task]);
  schedule.by_priority.resize(graph.tasks.size());
  std::iota(schedule.by_priority.begin(), schedule.by_priority.end(), index_t{0});
  // An edge between branches leaves or enters one at its root, and its upper end is alone, since all above it
  // costs as much as the limit. So the priority of the predecessor's branch is at least that of the
  // successor's, and at equal priority the smaller root comes first: the order is topological.
  std::vector<index_t>& order = schedule.by_priority;
  std::stable_sort(order.begin(), order.end(), [&](index_t left, index_t right) {
    const index_t a = root[left], b = root[right];
    return priority[a] != priority[b] ? priority[a] > priority[b] : a < b;
  });
  schedule.ticket_ptr = {0};
  for (index_t place = 1; place <= graph.num_tasks(); ++place)
    if (place == graph.num_tasks() || root[order[place]] != root[order[place - 1]])
      schedule.ticket_ptr.push_back(place);
}

}  // namespace

SweepSchedule make_schedule(TaskGraph graph) {
  SweepSchedule schedule;
  schedule.levels = level_sets(graph);
  schedule.phases = gather_phases(graph, schedule.levels);
  order_by_priority(graph, schedule);
  schedule.graph = std::move(graph);
  return schedule;
}

offset_t SweepSchedule::memory_bytes() const {
  const auto bytes = [](const auto& list) { return static_cast<offset_t>(list.size() * sizeof(list[0])); };
  return bytes(graph.tasks) + bytes(graph.successor_ptr) + bytes(graph.successor) +
         bytes(graph.predecessor_ptr) + bytes(graph.predecessor) + bytes(graph.priority) +
         bytes(levels.level_ptr) + bytes(levels.task) + bytes(phases) + bytes(by_priority) +
         bytes(ticket_ptr);
}

EngineState::EngineState(const SweepSchedule& schedule)
    : finished_in_run(new std::atomic<std::uint32_t>[schedule.graph.tasks.size()]),
      next_in_phase(new std::atomic<index_t>[schedule.phases.size()]) {
  for (std::size_t task = 0; task < schedule.graph.tasks.size(); ++task) finished_in_run[task].store(0);
}

}  // namespace palmette::solve_detail
