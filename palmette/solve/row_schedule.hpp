// Inside `solve`: in which order the rows of a sparse triangle are solved, and which rows form one task.
#pragma once

#include <span>
#include <vector>

#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {

/// The rows that each row waits for.
struct RowDependencies {
  std::span<const offset_t> row_ptr;  // length n + 1
  std::span<const index_t> column;    // of row r: column[row_ptr[r] … row_ptr[r+1])
  bool ascending = true;              ///< every dependency is a smaller row (false: a larger one)
  double entry_bytes = 12;            ///< that a sweep moves for one entry
  double row_bytes = 40;              ///< and additionally for one row

  index_t size() const { return static_cast<index_t>(row_ptr.size()) - 1; }
  index_t row_at(index_t place) const { return ascending ? place : size() - 1 - place; }
  std::span<const index_t> columns_of(index_t row) const {
    return column.subspan(row_ptr[row],
                          row_ptr[row + 1] - row_ptr[row]);
  }
  double bytes_of(index_t row) const {
    return static_cast<double>(row_ptr[row + 1] - row_ptr[row]) * entry_bytes + row_bytes;
  }
};

/// Rows r and c are in one panel if they agree in all bits from `panel_bits` on.
struct PanelChoice {
  static constexpr int none = 31;
  int panel_bits = none;    ///< none: all rows are in one panel, and panels do not help
  double serial_bytes = 0;  ///< moved one after another however many threads there are
};
/// How large panels of rows should be, so that most entries lie outside their row's panel and all threads can
/// subtract them. Depends on the pattern alone.
/// @cost  O(nnz)
PanelChoice choose_panels(const RowDependencies& rows);
/// How many columns of a row lie outside its panel.
index_t entries_outside_panel(std::span<const index_t> columns, index_t row, int panel_bits);

/// Tasks of kind `rows` are places [first, last); place k is row k, or n − 1 − k when descending.
struct RowSchedule {
  index_t size = 0;            // n
  PanelChoice panels;          // the result of choose_panels, whether the tasks use panels or not
  // tasks with chunk 0 take their rows' entries outside the panel, those with chunk 1 the others
  bool by_panels = false;
  SweepSchedule schedule;
};

/// Rows keep their natural order, and so the locality of the matrix, and are cut into tasks of about equal
/// bytes.
/// @cost  O(nnz)
RowSchedule make_row_schedule(const RowDependencies& rows);

/// Panel after panel: tasks for the entries outside, which wait for the panel before, then one task for those
/// inside.
/// @param choice  of choose_panels, not none
/// @source [Lu et al. 2020]: the column-block form
RowSchedule make_panel_schedule(const RowDependencies& rows, const PanelChoice& choice);

}  // namespace palmette::solve_detail
