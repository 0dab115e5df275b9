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
};

/// Tasks of kind `rows` are places [first, last) of the schedule.
struct RowSchedule {
  std::vector<index_t> order;  // length n: row at each place; empty: place k is row k, or n − 1 − k when descending
  SweepSchedule schedule;
};

/// Wide levels are sorted together and cut into tasks; where levels are narrow (bands, chains) rows keep their order and
/// a task spans many levels, so that nothing is spent on parallelism that is not there. Depends on the pattern alone.
/// @cost O(nnz)
RowSchedule make_row_schedule(const RowDependencies& rows);

}  // namespace palmette::sweep
