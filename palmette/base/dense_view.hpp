// A view of a dense column-major matrix, and a matrix that owns its memory.
#pragma once

#include <vector>

#include "palmette/base/scalars.hpp"

namespace palmette {

/// rows × cols, column-major, entry (i, j) at data[i + j·ld]; ld ≥ rows.
template <class T>
struct DenseView {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  offset_t ld = 0;

  T* column(index_t j) const { return data + j * ld; }
  T& operator()(index_t i, index_t j) const { return data[i + j * ld]; }
  operator DenseView<const T>() const { return {data, rows, cols, ld}; }
  /// Columns [first, first + count) of this view.
  DenseView columns(index_t first, index_t count) const { return {data + first * ld, rows, count, ld}; }
};

/// rows × cols, column-major, ld = rows.
template <class T>
struct DenseMatrix {
  index_t rows = 0;
  index_t cols = 0;
  std::vector<T> values;

  DenseMatrix() = default;
  DenseMatrix(index_t num_rows, index_t num_cols)
      : rows(num_rows),
        cols(num_cols),
        values(static_cast<std::size_t>(num_rows) * static_cast<std::size_t>(num_cols)) {}
  DenseView<T> view() { return {values.data(), rows, cols, rows}; }
  DenseView<const T> view() const { return {values.data(), rows, cols, rows}; }
};

}  // namespace palmette
