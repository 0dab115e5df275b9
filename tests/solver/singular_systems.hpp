// Singular and indefinite systems whose null space or inertia is known.
#pragma once

#include <cmath>

#include "systems.hpp"

namespace palmette::testing {

/// The Laplacian of a path of n vertices; the constant vector spans its null space.
inline Shared<double> path(index_t n) {
  std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0));
  for (index_t i = 0; i + 1 < n; ++i) {
    rows[i][i] += 1;
    rows[i + 1][i + 1] += 1;
    rows[i][i + 1] = rows[i + 1][i] = -1;
  }
  return matrix_of(rows);
}

/// The Laplacian of an n × n grid minus 2.1. Its eigenvalues are 1.9 − 2·cos(jπ/(n+1)) − 2·cos(kπ/(n+1)).
inline Shared<double> shifted_grid(index_t n) {
  SparseMatrix<double> matrix = *generated<double>("poisson2d5", n);
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      if (matrix.pattern.row_index[entry] == j) matrix.values[entry] -= 2.1;
  return std::make_shared<const SparseMatrix<double>>(std::move(matrix));
}

inline index_t negative_eigenvalues(index_t n) {
  const auto part = [n](index_t j) { return 2 * std::cos(j * std::acos(-1.0) / (n + 1)); };
  index_t negative = 0;
  for (index_t j = 1; j <= n; ++j)
    for (index_t k = 1; k <= n; ++k) negative += 1.9 - part(j) - part(k) < 0;
  return negative;
}

/// [0 B; Bᵀ H] with B = [I N] of full rank m and H positive definite of order n: n positive and m negative
/// eigenvalues. Eliminated in this order, each pivot of the zero block is zero.
inline Shared<double> constraints_first(index_t m, index_t n) {
  Triplets<double> entries{m + n, m + n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, double value) {
    entries.row.push_back(row);
    entries.column.push_back(column);
    entries.value.push_back(value);
  };
  for (index_t i = 0; i < m; ++i)
    for (const index_t j : {i, m + (7 * i) % (n - m), m + (11 * i + 3) % (n - m)}) {
      const double value = j == i ? 1 : 0.25 + 0.5 * (j % 3);
      add(i, m + j, value);
      add(m + j, i, value);
    }
  for (index_t j = 0; j < n; ++j) add(m + j, m + j, 2 + j % 5);
  return std::make_shared<const SparseMatrix<double>>(from_triplets(entries, Symmetry::symmetric));
}

}  // namespace palmette::testing
