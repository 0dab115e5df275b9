// Builds a schedule of a task graph: levels gathered into phases, and a topological order by priority.
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

}  // namespace

SweepSchedule make_schedule(TaskGraph graph) {
  SweepSchedule schedule;
  schedule.levels = level_sets(graph);
  schedule.phases = gather_phases(graph, schedule.levels);
  schedule.by_priority.resize(graph.tasks.size());
  std::iota(schedule.by_priority.begin(), schedule.by_priority.end(), index_t{0});
  // A predecessor's priority is its successor's plus its own cost ≥ 0, and at equal priority the smaller
  // number, which is the predecessor's, stays in front: the order is topological.
  std::stable_sort(schedule.by_priority.begin(), schedule.by_priority.end(),
                   [&](index_t left, index_t right) { return graph.priority[left] > graph.priority[right]; });
  schedule.graph = std::move(graph);
  return schedule;
}

offset_t SweepSchedule::memory_bytes() const {
  const auto bytes = [](const auto& list) { return static_cast<offset_t>(list.size() * sizeof(list[0])); };
  return bytes(graph.tasks) + bytes(graph.successor_ptr) + bytes(graph.successor) +
         bytes(graph.predecessor_ptr) + bytes(graph.predecessor) + bytes(graph.priority) +
         bytes(levels.level_ptr) + bytes(levels.task) + bytes(phases) + bytes(by_priority);
}

EngineState::EngineState(const SweepSchedule& schedule)
    : finished_in_run(new std::atomic<std::uint32_t>[schedule.graph.tasks.size()]),
      next_in_phase(new std::atomic<index_t>[schedule.phases.size()]) {
  for (std::size_t task = 0; task < schedule.graph.tasks.size(); ++task) finished_in_run[task].store(0);
}

}  // namespace palmette::solve_detail
