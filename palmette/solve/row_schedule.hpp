// Inside `solve`: in which order the rows of a sparse triangle are solved, and which rows make one task.
#pragma once

#include <span>
#include <vector>

#include "palmette/solve/engines.hpp"

namespace palmette::sweep {

/// The rows that each row waits for.
struct RowDependencies {
  std::span<const offset_t> row_ptr;  // length n + 1
  std::span<const index_t> column;    // of row r: column[row_ptr[r] … row_ptr[r+1])
  bool ascending = true;              ///< every dependency is a smaller row (false: a larger one)
  double entry_bytes = 12;            ///< that a sweep moves for one entry
  double row_bytes = 40;              ///< and for one row besides

  index_t size() const { return static_cast<index_t>(row_ptr.size()) - 1; }
  index_t row_at(index_t place) const { return ascending ? place : size() - 1 - place; }
  double bytes_of(index_t row) const {
    return static_cast<double>(row_ptr[row + 1] - row_ptr[row]) * entry_bytes + row_bytes;
  }
};

/// Tasks of kind `rows` are places [first, last); place k is row k, or n − 1 − k when descending.
struct RowSchedule {
  index_t size = 0;            // n
  SweepSchedule schedule;
};

/// Rows keep their natural order, which keeps what locality the matrix has, and are cut into tasks of about equal bytes.
/// @cost  O(nnz)
RowSchedule make_row_schedule(const RowDependencies& rows);

}  // namespace palmette::sweep
