// Rows in natural order, cut into tasks.
#include "palmette/solve/row_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace palmette::sweep {
namespace {

constexpr double largest_task_bytes = 65536;
std::vector<Task> cut(const RowDependencies& rows) {
  std::vector<Task> tasks;
  const double bytes = static_cast<double>(rows.column.size()) * rows.entry_bytes + rows.size() * rows.row_bytes;
  const double limit = bytes / std::ceil(std::max(bytes, 1.0) / largest_task_bytes);
  double sum = 0;
  for (index_t place = 0, begin = 0; place < rows.size(); ++place) {
    sum += rows.bytes_of(rows.row_at(place));
    if (sum < limit && place + 1 < rows.size()) continue;
    tasks.push_back({TaskKind::rows, begin, place + 1, 0, sum});
    begin = place + 1;
    sum = 0;
  }
  return tasks;
}

std::vector<Edge> task_edges(const RowDependencies& rows, const std::vector<Task>& tasks) {
  std::vector<index_t> task_of(static_cast<std::size_t>(rows.size()));
  std::vector<index_t> last_seen_by(tasks.size(), -1);
  std::vector<Edge> edges;
  for (index_t task = 0; task < static_cast<index_t>(tasks.size()); ++task)
    for (index_t place = tasks[task].first; place < tasks[task].last; ++place) {
      const index_t row = rows.row_at(place);
      task_of[row] = task;
      for (offset_t entry = rows.row_ptr[row]; entry < rows.row_ptr[row + 1]; ++entry) {
        const index_t before = task_of[rows.column[entry]];
        if (before == task || last_seen_by[before] == task) continue;
        last_seen_by[before] = task;
        edges.push_back({before, task});
      }
    }
  return edges;
}

}  // namespace

RowSchedule make_row_schedule(const RowDependencies& rows) {
  std::vector<Task> tasks = cut(rows);
  std::vector<Edge> edges = task_edges(rows, tasks);
  RowSchedule result;
  result.size = rows.size();
  result.schedule = make_schedule(make_task_graph(std::move(tasks), std::move(edges)));
  return result;
}

}  // namespace palmette::sweep
