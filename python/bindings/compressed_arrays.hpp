// Converts SciPy's compressed columns or rows, with indices of 32 or 64 bits, to a matrix of the library in
// one step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::python {

/// The caller's arrays, read in place. A line is a column, or a row if `by_rows`.
template <class T>
struct CompressedArrays {
  using Indices = std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>>;
  index_t rows = 0;
  index_t cols = 0;
  bool by_rows = false;
  Indices line_ptr;           // length lines + 1: line k is [line_ptr[k], line_ptr[k + 1])
  // row in its column, or column in its row, in any order; at least line_ptr.back() of them
  Indices index;
  std::span<const T> values;  // at least as many; entries behind the last line are ignored
};

namespace detail {

/// The same integers as `Wanted`: in place if they already have this type, else in `kept`.
template <class Wanted, class Given>
std::span<const Wanted> as_integers(std::span<const Given> given, std::vector<Wanted>& kept) {
  if constexpr (std::is_same_v<Given, Wanted>) {
    return given;
  } else {
    kept.assign(given.begin(), given.end());
    return kept;
  }
}

template <class T, class Pointer>
std::size_t checked_entries(const CompressedArrays<T>& arrays, std::span<const Pointer> line_ptr,
                            std::size_t num_indices) {
  const auto lines = static_cast<std::size_t>(arrays.by_rows ? arrays.rows : arrays.cols);
  if (line_ptr.size() != lines + 1)
    throw DimensionError("there are " + std::to_string(line_ptr.size()) + " pointers for " +
                         std::to_string(lines) + " lines");
  if (line_ptr[0] != 0)
    throw UsageError("the pointers begin with " + std::to_string(line_ptr[0]) + ", not with 0");
  for (std::size_t line = 0; line < lines; ++line)
    if (line_ptr[line + 1] < line_ptr[line])
      throw UsageError("the pointers decrease at line " + std::to_string(line + 1));
  const auto entries = static_cast<std::size_t>(line_ptr[lines]);
  if (num_indices < entries || arrays.values.size() < entries)
    throw DimensionError("the pointers end with " + std::to_string(entries) + ", but there are " +
                         std::to_string(num_indices) + " indices and " +
                         std::to_string(arrays.values.size()) + " values");
  return entries;
}

template <class Index>
void check_indices(std::span<const Index> index, index_t length) {
  const auto outside = [&](Index at) { return at < 0 || at >= length; };
  const auto first = std::find_if(index.begin(), index.end(), outside);
  if (first != index.end())
    throw UsageError("index " + std::to_string(*first) + " of entry " +
                     std::to_string(first - index.begin() + 1) + " is outside of 0 … " +
                     std::to_string(length - 1));
}

/// Is there a duplicate in columns whose rows do not descend?
inline bool has_duplicates(const SparsityPattern& pattern) {
  for (index_t column = 0; column < pattern.cols; ++column)
    for (offset_t entry = pattern.column_ptr[column] + 1; entry < pattern.column_ptr[column + 1]; ++entry)
      if (pattern.row_index[entry] == pattern.row_index[entry - 1]) return true;
  return false;
}

template <class T, class Pointer, class Index>
SparseMatrix<T> from_rows(const CompressedArrays<T>& arrays, std::span<const Pointer> line_ptr,
                          std::span<const Index> index) {
  SparseMatrix<T> matrix;
  matrix.pattern.rows = arrays.rows;
  matrix.pattern.cols = arrays.cols;
  std::vector<offset_t>& ptr = matrix.pattern.column_ptr;
  ptr.assign(static_cast<std::size_t>(arrays.cols) + 1, 0);
  for (const Index column : index) ++ptr[column];
  offset_t before = 0;
  for (offset_t& start : ptr) before += std::exchange(start, before);
  matrix.pattern.row_index.resize(index.size());
  matrix.values.resize(index.size());
  for (index_t row = 0; row < arrays.rows; ++row)
    for (auto entry = static_cast<std::size_t>(line_ptr[row]);
         entry < static_cast<std::size_t>(line_ptr[row + 1]); ++entry) {
      const auto place = static_cast<std::size_t>(ptr[index[entry]]++);
      matrix.pattern.row_index[place] = row;
      matrix.values[place] = arrays.values[entry];
    }
  // Each pointer has advanced to the begin of the next column.
  std::move_backward(ptr.begin(), ptr.end() - 1, ptr.end());
  ptr.front() = 0;
  if (!has_duplicates(matrix.pattern)) return matrix;
  return from_compressed_columns<T>(arrays.rows, arrays.cols, ptr, matrix.pattern.row_index, matrix.values);
}

}  // namespace detail

/// The matrix by columns: checked, sorted, duplicates summed in the order given; rows give the same matrix as
/// the columns of a stable conversion.
/// @throws DimensionError if the lengths do not fit; UsageError naming the line if pointers decrease or an
///   index is out of range
/// @cost O(nnz + rows + cols); with an additional logarithm for columns that are not in order
template <class T>
SparseMatrix<T> from_compressed_arrays(const CompressedArrays<T>& arrays) {
  if (arrays.rows < 0 || arrays.cols < 0)
    throw DimensionError("a matrix cannot be " + std::to_string(arrays.rows) + " × " +
                         std::to_string(arrays.cols));
  const auto read = [&](auto line_ptr, auto all_indices) {
    const std::size_t entries = detail::checked_entries(arrays, line_ptr, all_indices.size());
    const auto index = all_indices.first(entries);
    detail::check_indices(index, arrays.by_rows ? arrays.cols : arrays.rows);
    if (arrays.by_rows) return detail::from_rows(arrays, line_ptr, index);
    std::vector<offset_t> pointers;
    std::vector<index_t> rows;
    return from_compressed_columns<T>(
        arrays.rows, arrays.cols, detail::as_integers<offset_t>(line_ptr, pointers),
        detail::as_integers<index_t>(index, rows), arrays.values.first(entries));
  };
  return std::visit(read, arrays.line_ptr, arrays.index);
}

}  // namespace palmette::python
