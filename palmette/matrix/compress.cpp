// Sorting of columns and summation of duplicates, shared by every way into compressed columns.
#include "palmette/matrix/compress.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// An entry of one column while it is sorted; `position` keeps equal rows in the order given.
template <class T>
struct ColumnEntry {
  index_t row;
  offset_t position;
  T value;
  bool operator<(const ColumnEntry& other) const {
    return row != other.row ? row < other.row : position < other.position;
  }
};

template <class T>
void sort_column(index_t* rows, T* values, offset_t count, std::vector<ColumnEntry<T>>& scratch) {
  scratch.clear();
  for (offset_t entry = 0; entry < count; ++entry) scratch.push_back({rows[entry], entry, values[entry]});
  std::sort(scratch.begin(), scratch.end());
  for (offset_t entry = 0; entry < count; ++entry) {
    rows[entry] = scratch[entry].row;
    values[entry] = scratch[entry].value;
  }
}

bool rises_strictly(const index_t* rows, offset_t count) {
  bool rises = true;
  for (offset_t entry = 1; entry < count; ++entry) rises &= rows[entry - 1] < rows[entry];
  return rises;
}

/// Moves the first of each run of equal rows to `to` and adds the others to it; returns how many are left.
template <class T>
offset_t sum_column(const index_t* rows, const T* values, offset_t count, index_t* to_rows, T* to_values) {
  offset_t kept = 0;
  for (offset_t entry = 0; entry < count; ++entry) {
    if (kept > 0 && to_rows[kept - 1] == rows[entry]) {
      to_values[kept - 1] += values[entry];
      continue;
    }
    to_rows[kept] = rows[entry];
    to_values[kept] = values[entry];
    ++kept;
  }
  return kept;
}

}  // namespace

template <class T>
bool sort_and_sum_columns(SparseMatrix<T>& matrix) {
  SparsityPattern& pattern = matrix.pattern;
  std::vector<ColumnEntry<T>> scratch;
  index_t* rows = pattern.row_index.data();
  T* values = matrix.values.data();
  offset_t kept = 0;
  for (index_t column = 0; column < pattern.cols; ++column) {
    const offset_t begin = pattern.column_ptr[column];
    const offset_t count = pattern.column_ptr[column + 1] - begin;
    // The old pointer of this column is no longer needed: set it to where the column now begins.
    pattern.column_ptr[column] = kept;
    const bool in_order = rises_strictly(rows + begin, count);
    if (begin == kept && in_order) {
      kept += count;
      continue;
    }
    if (!in_order) sort_column(rows + begin, values + begin, count, scratch);
    kept += sum_column(rows + begin, values + begin, count, rows + kept, values + kept);
  }
  const bool had_duplicates = kept != pattern.column_ptr[pattern.cols];
  pattern.column_ptr[pattern.cols] = kept;
  pattern.row_index.resize(kept);
  matrix.values.resize(kept);
  return had_duplicates;
}

#define PALMETTE_INSTANTIATE(T) template bool sort_and_sum_columns(SparseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
