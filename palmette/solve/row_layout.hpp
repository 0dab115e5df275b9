// Inside `solve`: how the entries of a sweep's rows lie in memory: in the order in which they are used,
// independent rows of equal length side by side, so that neither branches nor latencies stall the processor.
#pragma once

#include "palmette/solve/lower_triangle.hpp"
#include "palmette/solve/row_schedule.hpp"

namespace palmette::solve_detail {

/// Rows that are solved side by side; the bits do not depend on it.
template <class T>
inline constexpr int slice_rows = lanes::full_width<T> < 4 ? 4 : lanes::full_width<T>;

/// From this length on a row, or its part outside or inside its panel, is summed in several sums side by
/// side.
inline constexpr index_t long_row = 16;

enum class RowKind : std::uint8_t {
  slices,   ///< slice_rows independent rows at a time, their entries interleaved
  equal,    ///< one after another, of one length
  chain,    ///< one after another in natural order, of one length; the last entry is the row before
  mixed,    ///< one after another, lengths in a list
  divided,  ///< as mixed, values not scaled: the row is divided by its diagonal
};

/// Rows of one kind that follow each other.
struct RowSegment {
  RowKind kind = RowKind::mixed;
  index_t length = 0;        ///< of each row; mixed, divided: not used
  index_t count = 0;         ///< rows
  index_t first_row = 0;     ///< in RowSweep::row
  offset_t first_entry = 0;  ///< in column and value
  index_t first_length = 0;  ///< mixed, divided: in RowSweep::length
};

/// One direction of a row sweep. Entries of a row are ordered from the farthest to the nearest, so that the
/// sum ends with what was computed last; they are divided by the row's diagonal, so that only one product and
/// sum separate a row from the next. Rows without entries are not in the segments.
template <class T>
struct RowSweep {
  bool ascending = true;
  RowSchedule rows;
  std::vector<RowSegment> segment;
  std::vector<index_t> task_segment = {0};  // length tasks + 1
  std::vector<index_t> row;
  std::vector<index_t> length;
  std::vector<index_t> column;
  std::vector<T> value;
  bool scaled = true;  ///< false: some quotient would overflow or lose digits, all segments are `divided`

  index_t size() const { return rows.size; }
  index_t row_at(index_t place) const { return ascending ? place : size() - 1 - place; }
  offset_t memory_bytes() const;

  /// Calls visit(row, values, columns, step, count) for each row of a task that has entries, in order: entry
  /// k is values[k·step] in columns[k·step].
  template <class Visit>
  void visit_rows(index_t task, Visit&& visit) const {
    for (index_t s = task_segment[task]; s < task_segment[task + 1]; ++s) {
      const RowSegment& part = segment[s];
      const offset_t step = part.kind == RowKind::slices ? slice_rows<T> : 1;
      const index_t* const lengths =
          part.kind >= RowKind::mixed ? length.data() + part.first_length : nullptr;
      offset_t entry = part.first_entry;
      for (index_t k = 0; k < part.count; ++k) {
        const index_t count = lengths != nullptr ? lengths[k] : part.length;
        visit(row[part.first_row + k], value.data() + entry, column.data() + entry, step, count);
        if (step == 1) entry += count;
        else entry += (k + 1) % step != 0 ? 1 : offset_t{count - 1} * step + 1;
      }
    }
  }
};

/// The rows in natural order, values as given.
template <class T>
struct RowLists {
  std::vector<offset_t> ptr = {0};  // length n + 1
  std::vector<index_t> column;      // ascending within a row
  std::vector<T> value;
};

/// @param diagonal  length n; empty: ones
template <class T>
RowSweep<T> make_row_sweep(const RowLists<T>& lists, const std::vector<T>& diagonal, bool ascending);

/// The same sweep cut into panels, for several threads and one right-hand side. The sweep must be scaled and
/// have a choice of panels. Both give the same bits, since long rows are summed in two parts, outside and
/// inside their panel, in both.
template <class T>
RowSweep<T> cut_into_panels(const RowSweep<T>& sweep);

/// The entries of a sweep as lists by rows, or of its transpose; the values as the sweep has them.
template <class T>
RowLists<T> lists_of(const RowSweep<T>& sweep, bool transposed);

}  // namespace palmette::solve_detail
