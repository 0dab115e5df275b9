// Inside `matrix`: compressed columns from the entries of a file, the other triangle added on the way.
#pragma once

#include <algorithm>
#include <utility>

#include "palmette/matrix/compress.hpp"

namespace palmette {

/// The value of (j, i) if the file has (i, j).
template <class T>
T mirrored(const T& value, Symmetry symmetry) {
  if (symmetry == Symmetry::skew) return -value;
  return symmetry == Symmetry::hermitian ? conjugate(value) : value;
}

/// A header may declare sizes that the file does not support: more than a million rows or columns, plus a
/// thousand for each entry.
inline bool sizes_are_absurd(index_t rows, index_t cols, std::int64_t stored_entries) {
  const std::int64_t most =
      (std::int64_t{1} << 20) + 1024 * std::min<std::int64_t>(stored_entries, std::int64_t{1} << 40);
  return rows > most || cols > most;
}

template <class T>
struct Assembled {
  SparseMatrix<T> matrix;
  bool had_duplicates = false;

  /// A sum of duplicates can overflow although every entry is finite.
  bool sums_are_finite() const { return !had_duplicates || has_finite_values(matrix); }
};

/// Columns with all entries in any order → sorted, duplicates summed.
template <class T>
Assembled<T> finish_columns(SparseMatrix<T> matrix, bool duplicates_are_one) {
  const bool had_duplicates = sort_and_sum_columns(matrix);
  if (duplicates_are_one) std::fill(matrix.values.begin(), matrix.values.end(), T(1));
  return {std::move(matrix), had_duplicates};
}

/// Compressed columns by counting: the entries are walked twice, once to count and once to place.
///
/// Every off-diagonal entry of a symmetric, skew or Hermitian file is also mirrored, whichever triangle it is
/// in. Duplicates are summed in the order of the file, on both sides of the diagonal alike.
/// @param for_each_entry  for_each_entry(f) calls f(row, column, value) for each entry, in the same order
///   each time
/// @param duplicates_are_one  a second entry at the same place changes nothing (pattern files)
template <class T, class ForEachEntry>
Assembled<T> assemble(index_t rows, index_t cols, Symmetry symmetry, bool duplicates_are_one,
                      ForEachEntry&& for_each_entry) {
  SparseMatrix<T> matrix;
  SparsityPattern& pattern = matrix.pattern;
  matrix.symmetry = symmetry;
  pattern.rows = rows;
  pattern.cols = cols;
  const bool both = symmetry != Symmetry::general;
  pattern.column_ptr.assign(cols + 1, 0);
  // The counts are stored two places later; placing then advances each pointer to the end of its column.
  std::vector<offset_t> next(static_cast<std::size_t>(cols) + 2, 0);
  for_each_entry([&](index_t row, index_t column, const T&) {
    ++next[column + 2];
    if (both && row != column) ++next[row + 2];
  });
  for (std::size_t place = 2; place < next.size(); ++place) next[place] += next[place - 1];
  resize_on_large_pages(pattern.row_index, static_cast<std::size_t>(next.back()));
  resize_on_large_pages(matrix.values, static_cast<std::size_t>(next.back()));
  for_each_entry([&](index_t row, index_t column, const T& value) {
    const offset_t place = next[column + 1]++;
    pattern.row_index[place] = row;
    matrix.values[place] = value;
    if (!both || row == column) return;
    const offset_t other = next[row + 1]++;
    pattern.row_index[other] = column;
    matrix.values[other] = mirrored(value, symmetry);
  });
  std::copy(next.begin(), next.end() - 1, pattern.column_ptr.begin());
  return finish_columns(std::move(matrix), duplicates_are_one);
}

}  // namespace palmette
