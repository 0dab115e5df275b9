// Levels of rows by longest path, rows sorted by (level, row), and chunks of consecutive rows as tasks.
#include "palmette/solve/row_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace palmette::sweep {
namespace {

constexpr double narrow_level_rows = 16;      // fewer rows in the mean level: keep the natural order
constexpr double wide_level_bytes = 16384;    // a level is worth cutting from here on
constexpr double largest_chunk_bytes = 65536;
constexpr double smallest_chunk_bytes = 8192;
constexpr int chunks_of_wide_level = 16;      // no level needs more than this, unless its chunks would be too large

struct RowOrder {
  std::vector<index_t> row;        // by place
  std::vector<index_t> level_ptr;  // places of each level; {0, n} where rows keep their order
  bool natural = false;
};

index_t row_at(const RowDependencies& rows, index_t place) {
  return rows.ascending ? place : rows.size() - 1 - place;
}

RowOrder natural_order(const RowDependencies& rows) {
  RowOrder order;
  order.natural = true;
  order.row.resize(static_cast<std::size_t>(rows.size()));
  for (index_t place = 0; place < rows.size(); ++place) order.row[place] = row_at(rows, place);
  order.level_ptr = {0, rows.size()};
  return order;
}

RowOrder level_order(const RowDependencies& rows) {
  const index_t n = rows.size();
  std::vector<index_t> level(static_cast<std::size_t>(n), 0);
  index_t num_levels = 0;
  for (index_t place = 0; place < n; ++place) {
    const index_t row = row_at(rows, place);
    for (offset_t entry = rows.row_ptr[row]; entry < rows.row_ptr[row + 1]; ++entry)
      level[row] = std::max(level[row], level[rows.column[entry]] + 1);
    num_levels = std::max(num_levels, level[row] + 1);
  }
  if (n < narrow_level_rows * num_levels) return natural_order(rows);
  RowOrder order;
  order.level_ptr.assign(static_cast<std::size_t>(num_levels) + 1, 0);
  for (const index_t l : level) ++order.level_ptr[l + 1];
  std::partial_sum(order.level_ptr.begin(), order.level_ptr.end(), order.level_ptr.begin());
  std::vector<index_t> next(order.level_ptr);
  order.row.resize(static_cast<std::size_t>(n));
  for (index_t place = 0; place < n; ++place) {
    const index_t row = row_at(rows, place);
    order.row[next[level[row]]++] = row;
  }
  return order;
}

/// Cuts the places into chunks: the ends of the chunks, ascending.
class Chunks {
 public:
  Chunks(const RowDependencies& rows, const RowOrder& order) : rows_(rows), order_(order) {}

  std::vector<Task> cut() {
    for (std::size_t level = 0; level + 1 < order_.level_ptr.size(); ++level)
      add_level(order_.level_ptr[level], order_.level_ptr[level + 1]);
    close(rows_.size());
    return std::move(tasks_);
  }

 private:
  double bytes_of(index_t place) const {
    const index_t row = order_.row[place];
    return static_cast<double>(rows_.row_ptr[row + 1] - rows_.row_ptr[row]) * rows_.entry_bytes + rows_.row_bytes;
  }

  void add_level(index_t begin, index_t end) {
    double bytes = 0;
    for (index_t place = begin; place < end; ++place) bytes += bytes_of(place);
    const bool wide = !order_.natural && bytes >= wide_level_bytes;
    if (wide) close(begin);
    const double pieces = std::clamp(std::floor(bytes / smallest_chunk_bytes), 1.0, double{chunks_of_wide_level});
    const double limit = wide ? std::min(bytes / pieces, largest_chunk_bytes) : largest_chunk_bytes;
    for (index_t place = begin; place < end; ++place) {
      bytes_ += bytes_of(place);
      if (bytes_ >= limit) close(place + 1);
    }
    if (wide) close(end);
  }

  void close(index_t end) {
    if (end > begin_) tasks_.push_back({TaskKind::rows, begin_, end, 0, bytes_});
    begin_ = end;
    bytes_ = 0;
  }

  const RowDependencies& rows_;
  const RowOrder& order_;
  std::vector<Task> tasks_;
  index_t begin_ = 0;
  double bytes_ = 0;
};

std::vector<Edge> chunk_edges(const RowDependencies& rows, const RowOrder& order, const std::vector<Task>& tasks) {
  std::vector<index_t> task_of(static_cast<std::size_t>(rows.size()));
  std::vector<index_t> last_seen_by(tasks.size(), -1);
  std::vector<Edge> edges;
  for (index_t task = 0; task < static_cast<index_t>(tasks.size()); ++task)
    for (index_t place = tasks[task].first; place < tasks[task].last; ++place) {
      const index_t row = order.row[place];
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
  RowOrder order = level_order(rows);
  std::vector<Task> tasks = Chunks(rows, order).cut();
  std::vector<Edge> edges = chunk_edges(rows, order, tasks);
  RowSchedule result;
  result.schedule = make_schedule(make_task_graph(std::move(tasks), std::move(edges)));
  if (!order.natural) result.order = std::move(order.row);
  return result;
}

}  // namespace palmette::sweep
