// Builds and reverses task graphs, and computes their levels.
#include <algorithm>
#include <numeric>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

/// For each vertex, the other ends of its edges. The edges are sorted by (from, to) and unique.
void fill_lists(const std::vector<Edge>& edges, index_t num_tasks, TaskGraph& graph) {
  graph.successor_ptr.assign(num_tasks + 1, 0);
  graph.predecessor_ptr.assign(num_tasks + 1, 0);
  for (const Edge& edge : edges) {
    ++graph.successor_ptr[edge.from + 1];
    ++graph.predecessor_ptr[edge.to + 1];
  }
  std::partial_sum(graph.successor_ptr.begin(), graph.successor_ptr.end(), graph.successor_ptr.begin());
  std::partial_sum(graph.predecessor_ptr.begin(), graph.predecessor_ptr.end(), graph.predecessor_ptr.begin());
  graph.successor.resize(edges.size());
  graph.predecessor.resize(edges.size());
  std::vector<offset_t> next_out(graph.successor_ptr), next_in(graph.predecessor_ptr);
  for (const Edge& edge : edges) {
    graph.successor[next_out[edge.from]++] = edge.to;
    graph.predecessor[next_in[edge.to]++] = edge.from;
  }
}

void fill_priorities(TaskGraph& graph) {
  graph.priority.resize(graph.tasks.size());
  for (index_t task = graph.num_tasks() - 1; task >= 0; --task) {
    double longest = 0;
    for (const index_t next : graph.successors(task)) longest = std::max(longest, graph.priority[next]);
    graph.priority[task] = graph.tasks[task].cost + longest;
  }
}

}  // namespace

double TaskGraph::total_cost() const {
  double sum = 0;
  for (const Task& task : tasks) sum += task.cost;
  return sum;
}

double TaskGraph::critical_path() const {
  return priority.empty() ? 0 : *std::max_element(priority.begin(), priority.end());
}

TaskGraph make_task_graph(std::vector<Task> tasks, std::vector<Edge> edges) {
  TaskGraph graph;
  graph.tasks = std::move(tasks);
  for (const Edge& edge : edges)
    if (edge.from < 0 || edge.from >= edge.to || edge.to >= graph.num_tasks())
      throw UsageError("task edge from " + std::to_string(edge.from) + " to " + std::to_string(edge.to) +
                       " does not run forwards among " + std::to_string(graph.num_tasks()) + " tasks");
  const auto key = [](const Edge& edge) { return std::pair(edge.from, edge.to); };
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  edges.erase(
      std::unique(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) { return key(a) == key(b); }),
      edges.end());
  fill_lists(edges, graph.num_tasks(), graph);
  fill_priorities(graph);
  return graph;
}

TaskGraph reversed(const TaskGraph& graph) {
  const index_t last = graph.num_tasks() - 1;
  std::vector<Task> tasks(graph.tasks.rbegin(), graph.tasks.rend());
  std::vector<Edge> edges;
  edges.reserve(graph.successor.size());
  for (index_t task = 0; task <= last; ++task)
    for (const index_t next : graph.successors(task)) edges.push_back({last - next, last - task});
  return make_task_graph(std::move(tasks), std::move(edges));
}

LevelSets level_sets(const TaskGraph& graph) {
  std::vector<index_t> level(graph.tasks.size(), 0);
  index_t num_levels = 0;
  for (index_t task = 0; task < graph.num_tasks(); ++task) {
    for (const index_t before : graph.predecessors(task))
      level[task] = std::max(level[task], level[before] + 1);
    num_levels = std::max(num_levels, level[task] + 1);
  }
  LevelSets sets;
  sets.level_ptr.assign(num_levels + 1, 0);
  for (const index_t l : level) ++sets.level_ptr[l + 1];
  std::partial_sum(sets.level_ptr.begin(), sets.level_ptr.end(), sets.level_ptr.begin());
  sets.task.resize(graph.tasks.size());
  std::vector<index_t> next(sets.level_ptr);
  for (index_t task = 0; task < graph.num_tasks(); ++task) sets.task[next[level[task]]++] = task;
  return sets;
}

}  // namespace palmette
