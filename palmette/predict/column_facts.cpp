// What is known of a plain triangle on several devices without a simulation: levels and bytes.
#include <algorithm>
#include <numeric>

#include "palmette/predict/column_model.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

offset_t ColumnSimulation::all_page_moves() const {
  return std::accumulate(page_moves.begin(), page_moves.end(), offset_t{0});
}

SparsityPattern strict_lower(const SparsityPattern& a) {
  SparsityPattern strict;
  strict.rows = strict.cols = a.cols;
  strict.column_ptr = {0};
  for (index_t j = 0; j < a.cols; ++j) {
    for (const index_t row : a.column(j))
      if (row > j) strict.row_index.push_back(row);
    strict.column_ptr.push_back(static_cast<offset_t>(strict.row_index.size()));
  }
  return strict;
}

ColumnLevels column_levels(const SparsityPattern& strict) {
  std::vector<index_t> level(strict.cols, 1);
  ColumnLevels result;
  for (index_t j = 0; j < strict.cols; ++j) {
    result.levels = std::max(result.levels, level[j]);
    for (const index_t row : strict.column(j)) level[row] = std::max(level[row], level[j] + 1);
  }
  if (result.levels > 0) result.parallelism = static_cast<double>(strict.cols) / result.levels;
  return result;
}

ColumnBytes column_bytes(const ColumnCase& given, int scalar_bytes) {
  const offset_t n = given.strict.cols, entries = static_cast<offset_t>(given.strict.row_index.size());
  const offset_t s = scalar_bytes, p = given.devices;
  const offset_t sums = s * std::min(given.num_rhs, most_rhs_of_run);
  ColumnBytes bytes;
  // Row numbers and values; column number, pointer, diagonal, b and x.
  bytes.problem = entries * (4 + s) + n * (4 + 8 + s + 2 * sums);
  // On each device: sums, counters, what those begin with, and who adds to a row; if pushed, where its slots
  // begin, and slots.
  bytes.sharing = p * n * (sums + 4 + 4 + 4);
  if (given.sharing == SumSharing::unified) bytes.sharing += n * (sums + 4);
  if (given.sharing == SumSharing::pushed) {
    const ColumnDeal deal = ColumnDeal::of(given.strict.cols, given.devices, given.tasks_per_device);
    const auto slots = static_cast<offset_t>(most_column_slots(given.strict, deal));
    bytes.sharing += p * (4 * n + slots * (sums + 8));
  }
  return bytes;
}

}  // namespace palmette
