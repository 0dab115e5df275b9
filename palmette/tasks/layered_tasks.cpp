// The graphs of the layers side by side, joined by their exchanges: the edges are the conditions of the
// program of a rank in a layer.
#include "palmette/tasks/layered_tasks.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "palmette/tasks/layer_exchange.hpp"

namespace palmette {
namespace {

class LayeredBuilder {
 public:
  LayeredBuilder(const std::vector<LayerSystem>& systems, TreeShape trees)
      : systems_(systems), trees_(trees) {
    if (systems.empty()) throw UsageError("the tasks of no layers; there must be at least 1");
    result_.num_ranks = systems[0].ranks.num_ranks();
  }

  SolveGraph build() {
    for (const LayerSystem& system : systems_) add_layer(system);
    for (const LayerSystem& system : systems_) {
      const index_t ranks = system.ranks.grid.num_ranks(), first = system.ranks.first_rank(system.layer);
      for (index_t rank = 0; rank < ranks; ++rank) add_meetings(first + rank, layer_steps(system, rank));
    }
    for (const LayerSystem& system : systems_) {
      const index_t ranks = system.ranks.grid.num_ranks(), first = system.ranks.first_rank(system.layer);
      for (index_t rank = 0; rank < ranks; ++rank)
        join(system, steps_[first + rank]);
    }
    return in_order();
  }

 private:
  struct Meeting {
    LayerStep step;
    index_t up = -1, down = -1;  // tasks
  };

  void edge(index_t from, index_t to, offset_t rows = 0) { result_.edges.push_back({from, to, rows}); }

  void add_layer(const LayerSystem& system) {
    const SolveGraph own = solve_tasks(*system.symbolic, *system.placement, trees_);
    const index_t base = result_.num_tasks();
    const auto count = static_cast<std::size_t>(system.symbolic->num_supernodes());
    std::vector<index_t>& row_sum = row_sum_.emplace_back(count, -1);
    std::vector<index_t>& column_sum = column_sum_.emplace_back(count, -1);
    for (index_t number = 0; number < own.num_tasks(); ++number) {
      SolveTask task = own.tasks[number];
      const auto s = static_cast<std::size_t>(task.number);
      const bool sums = task.part == SolvePart::row_sum || task.part == SolvePart::column_sum;
      if (sums && task.panels > 0) {
        (task.part == SolvePart::row_sum ? row_sum : column_sum)[s] = base + number;
        // In the baseline, only the layer that sweeps a supernode has its triangle.
        if (system.method == LayeredMethod::baseline_3d && !system.leads(task.number))
          task.entries = task.panels = task.columns = 0;
      }
      task.rank += system.ranks.first_rank(system.layer);
      task.number = system.supernode[s];
      result_.tasks.push_back(task);
    }
    for (const SolveEdge& one : own.edges) edge(base + one.from, base + one.to, one.message_rows);
  }

  void add_meetings(index_t rank, std::vector<LayerStep> steps) {
    std::vector<Meeting>& mine = steps_.emplace_back();
    for (LayerStep& step : steps) {
      Meeting meeting{std::move(step)};
      SolveTask task;
      task.part = SolvePart::layers_meet;
      task.rank = rank;
      task.number = first_supernode(rank, meeting.step);
      task.entries = 2.0 * static_cast<double>(meeting.step.rows);
      task.urgency = infinity;
      meeting.up = result_.num_tasks();
      result_.tasks.push_back(task);
      meeting.down = result_.num_tasks();
      result_.tasks.push_back(task);
      by_node_[{meeting.step.node, rank}] = {meeting.up, meeting.down};
      mine.push_back(std::move(meeting));
    }
  }
  index_t first_supernode(index_t rank, const LayerStep& step) const {
    const LayerSystem& system = systems_[rank / systems_[0].ranks.grid.num_ranks()];
    return system.supernode[step.supernodes.front()];
  }

  void join(const LayerSystem& system, const std::vector<Meeting>& meetings) {
    for (std::size_t at = 0; at < meetings.size(); ++at) {
      const Meeting& one = meetings[at];
      if (at + 1 < meetings.size()) edge(one.up, meetings[at + 1].up), edge(meetings[at + 1].down, one.down);
      const auto& [partner_up, partner_down] = by_node_.at({one.step.node, one.step.partner});
      if (one.step.receives_up) edge(one.down, partner_down, one.step.rows);
      else edge(one.up, partner_up, one.step.rows);
    }
    if (meetings.empty()) return;
    const bool once = system.method == LayeredMethod::one_sync_3d;
    if (once) join_once(system, meetings);
    else join_each(system, meetings);
  }

  /// First everything that is shared is swept forward, then the exchanges with all partners upwards, then
  /// those downwards.
  void join_once(const LayerSystem& system, const std::vector<Meeting>& meetings) {
    for (const index_t s : meetings.front().step.supernodes) {
      edge(row_sum(system, s), meetings.front().up);
      edge(meetings.front().down, column_sum(system, s));
    }
    if (meetings.back().step.receives_up) edge(meetings.back().up, meetings.back().down);
  }

  /// What arrives from below is a contribution to a row. Rows that another layer sweeps are sent up once
  /// their sum is complete, and come down as their solution.
  void join_each(const LayerSystem& system, const std::vector<Meeting>& meetings) {
    for (const Meeting& one : meetings)
      for (const index_t s : one.step.supernodes) {
        if (one.step.receives_up) {
          edge(one.up, row_sum(system, s));
          edge(column_sum(system, s), one.down);
        } else {
          edge(row_sum(system, s), one.up);
          edge(one.down, column_sum(system, s));
        }
      }
  }
  index_t row_sum(const LayerSystem& system, index_t s) const {
    return row_sum_[system.layer][s];
  }
  index_t column_sum(const LayerSystem& system, index_t s) const {
    return column_sum_[system.layer][s];
  }

  /// Number tasks so that every edge goes to a larger number.
  SolveGraph in_order() {
    result_ = with_sorted_edges(std::move(result_));
    const std::size_t count = result_.tasks.size();
    std::vector<index_t> waits(count), order, place(count);
    for (const SolveEdge& one : result_.edges) ++waits[one.to];
    for (std::size_t task = 0; task < count; ++task)
      if (waits[task] == 0) order.push_back(static_cast<index_t>(task));
    for (std::size_t at = 0; at < order.size(); ++at) {
      place[order[at]] = static_cast<index_t>(at);
      for (const SolveEdge& one : result_.out(order[at]))
        if (--waits[one.to] == 0) order.push_back(one.to);
    }
    std::vector<SolveTask> tasks(count);
    for (std::size_t at = 0; at < order.size(); ++at)
      tasks[at] = result_.tasks[order[at]];
    result_.tasks = std::move(tasks);
    for (SolveEdge& one : result_.edges)
      one.from = place[one.from], one.to = place[one.to];
    return with_sorted_edges(std::move(result_));
  }

  const std::vector<LayerSystem>& systems_;
  TreeShape trees_;
  SolveGraph result_;
  // by layer and its supernode: the task on the diagonal's rank
  std::vector<std::vector<index_t>> row_sum_, column_sum_;
  std::vector<std::vector<Meeting>> steps_;                 // by rank
  // (node, rank): tasks up and down
  std::map<std::pair<index_t, index_t>, std::pair<index_t, index_t>> by_node_;
};

}  // namespace

SolveGraph layered_solve_tasks(const std::vector<LayerSystem>& systems, TreeShape trees) {
  return LayeredBuilder(systems, trees).build();
}

}  // namespace palmette
