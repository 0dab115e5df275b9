// Lays out the rows of each task. Inside a task rows may be exchanged as long as each stays behind those that
// it needs: rows of the same level and length are put side by side; a task that is mostly a chain keeps its
// order.
#include "palmette/solve/row_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace palmette::solve_detail {
namespace {

constexpr index_t rows_for_a_level = 16;  // fewer in the mean level of a task: it keeps its order
constexpr index_t shortest_run = 4;       // rows of one length that get a segment of their own

template <class T>
bool keeps_digits(const T& value) {
  const real_t<T> size = std::abs(value);
  return size >= std::numeric_limits<real_t<T>>::min() && size <= std::numeric_limits<real_t<T>>::max();
}

template <class T>
class LayoutBuilder {
 public:
  LayoutBuilder(const RowLists<T>& lists, const std::vector<T>& diagonal, RowSweep<T>& sweep)
      : lists_(lists),
        diagonal_(diagonal),
        sweep_(sweep),
        first_(sweep.size()),
        count_(first_),
        level_(sweep.size()),
        task_of_(sweep.size(), -1) {}

  void build() {
    sweep_.scaled = can_scale();
    sweep_.column.reserve(lists_.column.size());
    sweep_.value.reserve(lists_.value.size());
    sweep_.row.reserve(sweep_.size());
    const std::vector<Task>& tasks = sweep_.rows.schedule.graph.tasks;
    for (index_t task = 0; task < static_cast<index_t>(tasks.size()); ++task) {
      rows_.clear();
      for (index_t place = tasks[task].first; place < tasks[task].last; ++place)
        take(sweep_.row_at(place), tasks[task].chunk);
      if (!sweep_.scaled) add_one_by_one(RowKind::divided, rows_.begin(), rows_.end());
      else if (const index_t levels = find_levels(task);
               static_cast<index_t>(rows_.size()) < rows_for_a_level * levels)
        add_in_order();
      else add_by_levels(levels);
      sweep_.task_segment.push_back(static_cast<index_t>(sweep_.segment.size()));
    }
  }

 private:
  using Place = std::vector<index_t>::const_iterator;

  /// The row with its entries outside its panel (chunk 0), inside (1), or all of them if the schedule has no
  /// panels.
  void take(index_t row, index_t chunk) {
    const index_t all = static_cast<index_t>(lists_.ptr[row + 1] - lists_.ptr[row]);
    const index_t outside = sweep_.rows.by_panels ? outside_panel(row) : all;
    first_[row] = chunk == 0 ? 0 : outside;
    count_[row] = chunk == 0 ? outside : all - outside;
    if (chunk == 0 || count_[row] > 0) rows_.push_back(row);
  }
  index_t outside_panel(index_t row) const {
    const std::span<const index_t> columns(lists_.column.data() + lists_.ptr[row],
                                           lists_.column.data() + lists_.ptr[row + 1]);
    return entries_outside_panel(columns, row, sweep_.rows.panels.panel_bits);
  }

  index_t length_of(index_t row) const { return count_[row]; }
  offset_t entry_of(index_t row, index_t k) const {
    return sweep_.ascending ? lists_.ptr[row] + first_[row] + k : lists_.ptr[row + 1] - 1 - first_[row] - k;
  }

  bool can_scale() const {
    if (diagonal_.empty()) return true;
    for (index_t row = 0; row < sweep_.size(); ++row) {
      if (!keeps_digits(T(1) / diagonal_[row])) return false;
      for (offset_t entry = lists_.ptr[row]; entry < lists_.ptr[row + 1]; ++entry)
        if (lists_.value[entry] != T(0) && !keeps_digits(lists_.value[entry] / diagonal_[row])) return false;
    }
    return true;
  }

  /// Longest chains inside the task; returns the number of levels.
  index_t find_levels(index_t task) {
    index_t levels = 0;
    for (const index_t row : rows_) {
      index_t level = 0;
      for (index_t k = 0; k < length_of(row); ++k)
        if (const index_t before = lists_.column[entry_of(row, k)]; task_of_[before] == task)
          level = std::max(level, level_[before] + 1);
      level_[row] = level;
      task_of_[row] = task;
      levels = std::max(levels, level + 1);
    }
    return levels;
  }

  void add_entry(index_t row, index_t k) {
    const offset_t entry = entry_of(row, k);
    sweep_.column.push_back(lists_.column[entry]);
    const T& value = lists_.value[entry];
    sweep_.value.push_back(diagonal_.empty() || !sweep_.scaled ? value : value / diagonal_[row]);
  }

  RowSegment& open(RowKind kind, index_t length, index_t count) {
    sweep_.segment.push_back({kind, length, count, static_cast<index_t>(sweep_.row.size()),
                              static_cast<offset_t>(sweep_.column.size()),
                              static_cast<index_t>(sweep_.length.size())});
    return sweep_.segment.back();
  }

  void add_one_by_one(RowKind kind, Place begin, Place end) {
    RowSegment* last = sweep_.segment.empty() ? nullptr : &sweep_.segment.back();
    const bool joins = last != nullptr && kind >= RowKind::mixed && last->kind == kind &&
                       static_cast<index_t>(sweep_.segment.size()) > sweep_.task_segment.back();
    RowSegment& part = joins ? *last : open(kind, length_of(*begin), 0);
    for (; begin != end; ++begin) {
      const index_t length = length_of(*begin), outside = parts_at(kind, *begin);
      for (const index_t count : {outside, length - outside}) {
        if (count == 0 && length > 0) continue;
        sweep_.row.push_back(*begin);
        ++part.count;
        if (kind >= RowKind::mixed) sweep_.length.push_back(count);
        if (length == 0) break;
      }
      for (index_t k = 0; k < length; ++k) add_entry(*begin, k);
    }
  }
  /// Long rows of a sweep without panels are summed like those of a sweep with panels.
  index_t parts_at(RowKind kind, index_t row) const {
    const bool two = kind == RowKind::mixed && length_of(row) >= long_row && !sweep_.rows.by_panels &&
                     sweep_.rows.panels.panel_bits != PanelChoice::none;
    return two ? outside_panel(row) : length_of(row);
  }

  void add_slices(index_t length, Place begin, Place end) {
    open(RowKind::slices, length, static_cast<index_t>(end - begin));
    for (; begin != end; begin += slice_rows<T>) {
      sweep_.row.insert(sweep_.row.end(), begin, begin + slice_rows<T>);
      for (index_t k = 0; k < length; ++k)
        for (int lane = 0; lane < slice_rows<T>; ++lane) add_entry(begin[lane], k);
    }
  }

  bool follows(index_t row, index_t before) const {
    return length_of(row) > 0 && before == row + (sweep_.ascending ? -1 : 1) &&
           lists_.column[entry_of(row, length_of(row) - 1)] == before;
  }

  /// Runs of rows of one length, links of a chain or not.
  void add_in_order() {
    const auto linked = [&](Place at) { return at != rows_.cbegin() && follows(*at, at[-1]); };
    for (Place begin = rows_.cbegin(); begin != rows_.cend();) {
      const index_t length = length_of(*begin);
      const bool chain = linked(begin);
      Place end = begin + 1;
      while (end != rows_.cend() && length_of(*end) == length && linked(end) == chain) ++end;
      const bool run = end - begin >= shortest_run && length < long_row;
      if (length > 0)
        add_one_by_one(!run ? RowKind::mixed : chain ? RowKind::chain : RowKind::equal, begin, end);
      begin = end;
    }
  }

  void add_by_levels(index_t levels) {
    const auto bucket = [&](index_t row) {
      return level_[row] * (long_row + 1) + std::min(length_of(row), long_row);
    };
    std::vector<index_t> start(static_cast<std::size_t>(levels) * (long_row + 1) + 1, 0);
    for (const index_t row : rows_) ++start[bucket(row) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    sorted_.resize(rows_.size());
    std::vector<index_t> next(start.begin(), start.end() - 1);
    for (const index_t row : rows_) sorted_[next[bucket(row)]++] = row;
    for (std::size_t b = 0; b + 1 < start.size(); ++b)
      add_bucket(static_cast<index_t>(b) % (long_row + 1), sorted_.cbegin() + start[b],
                 sorted_.cbegin() + start[b + 1]);
  }

  void add_bucket(index_t length, Place begin, Place end) {
    if (begin == end || length == 0) return;
    if (length == long_row) return add_one_by_one(RowKind::mixed, begin, end);
    const Place middle = begin + (end - begin) / slice_rows<T> * slice_rows<T>;
    if (begin != middle) add_slices(length, begin, middle);
    if (middle != end) add_one_by_one(RowKind::equal, middle, end);
  }

  const RowLists<T>& lists_;
  const std::vector<T>& diagonal_;
  RowSweep<T>& sweep_;
  std::vector<index_t> first_, count_;  // by row: of the entries that the task takes, from the farthest on
  std::vector<index_t> level_, task_of_;
  std::vector<index_t> rows_, sorted_;
};

template <class T>
RowDependencies dependencies_of(const RowLists<T>& lists, bool ascending) {
  return {lists.ptr, lists.column, ascending, double{sizeof(T) + sizeof(index_t)},
          double{3 * sizeof(T) + sizeof(index_t)}};
}

}  // namespace

template <class T>
RowSweep<T> make_row_sweep(const RowLists<T>& lists, const std::vector<T>& diagonal, bool ascending) {
  RowSweep<T> sweep;
  sweep.ascending = ascending;
  sweep.rows = make_row_schedule(dependencies_of(lists, ascending));
  LayoutBuilder<T>(lists, diagonal, sweep).build();
  return sweep;
}

template <class T>
RowSweep<T> cut_into_panels(const RowSweep<T>& sweep) {
  const RowLists<T> lists = lists_of(sweep, false);
  RowSweep<T> cut;
  cut.ascending = sweep.ascending;
  cut.rows = make_panel_schedule(dependencies_of(lists, sweep.ascending), sweep.rows.panels);
  LayoutBuilder<T>(lists, {}, cut).build();
  return cut;
}

template <class T>
RowLists<T> lists_of(const RowSweep<T>& sweep, bool transposed) {
  const index_t n = sweep.size();
  struct Part {
    offset_t where = 0, step = 0;
    index_t count = 0;
  };
  std::vector<Part> parts(2 * static_cast<std::size_t>(n));  // of each row: those visited first, and second
  for (index_t task = 0; task < sweep.rows.schedule.graph.num_tasks(); ++task)
    sweep.visit_rows(task, [&](index_t row, const T* value, const index_t*, offset_t step, index_t count) {
      parts[2 * std::size_t(row) + (parts[2 * std::size_t(row)].step != 0)] = {value - sweep.value.data(),
                                                                               step, count};
    });
  RowLists<T> lists;
  lists.ptr.assign(n + 1, 0);
  lists.column.resize(sweep.column.size());
  lists.value.resize(sweep.value.size());
  if (transposed)
    for (const index_t column : sweep.column) ++lists.ptr[column + 1];
  else
    for (index_t row = 0; row < n; ++row)
      lists.ptr[row + 1] = parts[2 * std::size_t(row)].count + parts[2 * std::size_t(row) + 1].count;
  std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
  // Next free place of each list; lists by rows of a descending sweep fill from their ends, so that columns
  // ascend.
  std::vector<offset_t> next(lists.ptr.begin() + (transposed || sweep.ascending ? 0 : 1), lists.ptr.end());
  for (index_t row = 0; row < n; ++row)
    for (const Part& part : {parts[2 * std::size_t(row)], parts[2 * std::size_t(row) + 1]})
      for (index_t k = 0; k < part.count; ++k) {
        const offset_t entry = part.where + k * part.step;
        const index_t column = sweep.column[entry];
        const offset_t target = transposed ? next[column]++ : sweep.ascending ? next[row]++ : --next[row];
        lists.column[target] = transposed ? row : column;
        lists.value[target] = sweep.value[entry];
      }
  return lists;
}

template <class T>
offset_t RowSweep<T>::memory_bytes() const {
  const auto bytes = [](const auto& list) { return static_cast<offset_t>(list.size() * sizeof(list[0])); };
  return bytes(segment) + bytes(task_segment) + bytes(row) + bytes(length) + bytes(column) + bytes(value) +
         rows.schedule.memory_bytes();
}

#define PALMETTE_INSTANTIATE(T) \
  template struct RowSweep<T>; \
  template RowSweep<T> make_row_sweep<T>(const RowLists<T>&, const std::vector<T>&, bool); \
  template RowSweep<T> cut_into_panels<T>(const RowSweep<T>&); \
  template RowLists<T> lists_of<T>(const RowSweep<T>&, bool);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
