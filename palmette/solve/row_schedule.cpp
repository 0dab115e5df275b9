// Rows in natural order, cut into tasks.
#include "palmette/solve/row_schedule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace palmette::solve_detail {
namespace {

constexpr double largest_task_bytes = 65536;
std::vector<Task> cut(const RowDependencies& rows) {
  std::vector<Task> tasks;
  const double bytes =
      static_cast<double>(rows.column.size()) * rows.entry_bytes + rows.size() * rows.row_bytes;
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
  std::vector<index_t> task_of(rows.size());
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

constexpr double least_gain = 1.3;  // of two threads in bytes moved one after another
constexpr int smallest_panel_bits = 10;
constexpr double bytes_of_a_wait = 8192;  // bytes that could be moved while a flag goes from core to core
constexpr double row_again_bytes = 24;    // a row with entries inside its panel is read and written once more

/// Entries, and rows, by the number of bits in which a row and what it waits for differ.
struct Distances {
  double entries[PanelChoice::none + 1] = {};
  double rows[PanelChoice::none + 1] = {};
};

int differing_bits(index_t row, index_t column) {
  return std::bit_width(static_cast<std::uint32_t>(row ^ column));
}

Distances distances_of(const RowDependencies& rows) {
  Distances count;
  for (index_t row = 0; row < rows.size(); ++row) {
    int least = PanelChoice::none;
    for (offset_t entry = rows.row_ptr[row]; entry < rows.row_ptr[row + 1]; ++entry) {
      const int bits = differing_bits(row, rows.column[entry]);
      ++count.entries[bits];
      least = std::min(least, bits);
    }
    ++count.rows[least];
  }
  return count;
}

}  // namespace

index_t entries_outside_panel(std::span<const index_t> columns, index_t row, int panel_bits) {
  index_t count = 0;
  for (const index_t column : columns) count += differing_bits(row, column) > panel_bits;
  return count;
}

PanelChoice choose_panels(const RowDependencies& rows) {
  const Distances count = distances_of(rows);
  const double total =
      static_cast<double>(rows.column.size()) * rows.entry_bytes + rows.size() * rows.row_bytes;
  PanelChoice best;
  best.serial_bytes = total;
  double least = total / least_gain, inside = 0;
  for (int bits = 0; bits < PanelChoice::none && (index_t{1} << bits) < rows.size(); ++bits) {
    inside += count.entries[bits] * rows.entry_bytes + count.rows[bits] * row_again_bytes;
    if (bits < smallest_panel_bits) continue;
    const double panels = std::ceil(double(rows.size()) / double(index_t{1} << bits));
    const double serial = inside + panels * (2 * bytes_of_a_wait + largest_task_bytes / 2);
    if (serial + total / 2 - inside / 2 >= least) continue;
    least = serial + total / 2 - inside / 2;
    best = {bits, serial};
  }
  return best;
}

RowSchedule make_panel_schedule(const RowDependencies& rows, const PanelChoice& choice) {
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  index_t before = -1;  // the task that ends the panel before
  for (index_t begin = 0; begin < rows.size();) {
    index_t end = begin, first = begin;
    const index_t panel = rows.row_at(begin) >> choice.panel_bits;
    double outside = 0, inside = 0;
    const index_t first_task = static_cast<index_t>(tasks.size());
    const auto close = [&] {
      if (before >= 0) edges.push_back({before, static_cast<index_t>(tasks.size())});
      tasks.push_back({TaskKind::rows, first, end, 0, outside});
      first = end;
      outside = 0;
    };
    for (; end < rows.size() && rows.row_at(end) >> choice.panel_bits == panel;) {
      const index_t row = rows.row_at(end),
                    count = entries_outside_panel(rows.columns_of(row), row, choice.panel_bits);
      const double own =
          static_cast<double>(rows.row_ptr[row + 1] - rows.row_ptr[row] - count) * rows.entry_bytes;
      outside += count * rows.entry_bytes + rows.row_bytes;
      inside += own > 0 ? own + row_again_bytes : 0;
      ++end;
      if (outside >= largest_task_bytes) close();
    }
    if (first < end) close();
    const index_t last_task = static_cast<index_t>(tasks.size());
    for (index_t task = first_task; task < last_task; ++task) edges.push_back({task, last_task});
    tasks.push_back({TaskKind::rows, begin, end, 1, inside});
    before = last_task;
    begin = end;
  }
  RowSchedule result;
  result.size = rows.size();
  result.panels = choice;
  result.by_panels = true;
  result.schedule = make_schedule(make_task_graph(std::move(tasks), std::move(edges)));
  return result;
}

RowSchedule make_row_schedule(const RowDependencies& rows) {
  std::vector<Task> tasks = cut(rows);
  std::vector<Edge> edges = task_edges(rows, tasks);
  RowSchedule result;
  result.size = rows.size();
  result.panels = choose_panels(rows);
  result.schedule = make_schedule(make_task_graph(std::move(tasks), std::move(edges)));
  return result;
}

}  // namespace palmette::solve_detail
