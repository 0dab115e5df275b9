// Sparse right-hand sides and wanted rows.
#pragma once

#include <random>
#include <vector>

#include "systems.hpp"

namespace palmette::testing {

/// A few entries in each column, at random; the first column has none.
template <class T>
SparseMatrix<T> sparse_columns(index_t n, index_t columns, index_t entries, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Triplets<T> all{n, columns, {}, {}, {}};
  for (index_t j = 1; j < columns; ++j)
    for (index_t k = 0; k < entries; ++k) {
      all.row.push_back(static_cast<index_t>(random() % static_cast<std::uint64_t>(n)));
      all.column.push_back(j);
      all.value.push_back(T(real_t<T>(1 + static_cast<double>(random() % 1000) / 1000)));
      if constexpr (is_complex_v<T>)
        all.value.back() += T(0, real_t<T>(static_cast<double>(random() % 1000) / 1000));
    }
  return from_triplets(all);
}

/// D·A·Dᴴ with powers of i as D, exactly: a complex matrix gets imaginary entries, a symmetric one becomes
/// Hermitian, with the same eigenvalues.
template <class T>
Shared<T> with_imaginary_entries(const Shared<T>& matrix) {
  if constexpr (!is_complex_v<T>) return matrix;
  else {
    const T powers[] = {T(1), T(0, 1), T(-1), T(0, -1)};
    SparseMatrix<T> made = *matrix;
    made.symmetry = Symmetry::general;
    for (index_t j = 0; j < made.cols(); ++j)
      for (offset_t e = made.pattern.column_ptr[j]; e < made.pattern.column_ptr[j + 1]; ++e)
        made.values[e] *= powers[(made.pattern.row_index[e] + 3 * std::int64_t{j}) % 4];
    return std::make_shared<const SparseMatrix<T>>(std::move(made));
  }
}

inline std::vector<index_t> some_rows(index_t n, index_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<index_t> rows(count);
  for (index_t& row : rows) row = static_cast<index_t>(random() % static_cast<std::uint64_t>(n));
  return rows;
}

template <class T>
DenseMatrix<T> dense_of(const SparseMatrix<T>& b) {
  DenseMatrix<T> dense(b.rows(), b.cols());
  for (index_t j = 0; j < b.cols(); ++j)
    for (offset_t e = b.pattern.column_ptr[j]; e < b.pattern.column_ptr[j + 1]; ++e)
      dense.view()(b.pattern.row_index[e], j) = b.values[e];
  return dense;
}

}  // namespace palmette::testing
