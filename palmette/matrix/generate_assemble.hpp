// Inside `matrix`: what the generators of irregular patterns share: collecting entries and setting dominant
// diagonals.
#pragma once

#include <vector>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette::matrix_detail {

inline Triplets<double> empty_triplets(index_t n, std::size_t num_entries) {
  Triplets<double> triplets{n, n, {}, {}, {}};
  triplets.row.reserve(num_entries);
  triplets.column.reserve(num_entries);
  triplets.value.reserve(num_entries);
  return triplets;
}

inline void push_entry(Triplets<double>& triplets, index_t row, index_t column, double value) {
  triplets.row.push_back(row);
  triplets.column.push_back(column);
  triplets.value.push_back(value);
}

/// An entry and its mirror image.
inline void push_pair(Triplets<double>& triplets, index_t row, index_t column, double value) {
  push_entry(triplets, row, column, value);
  push_entry(triplets, column, row, value);
}

/// Zeros that reserve the diagonal.
inline void push_empty_diagonal(Triplets<double>& triplets) {
  for (index_t row = 0; row < triplets.rows; ++row) push_entry(triplets, row, row, 0.0);
}

/// Σ|a_ij| over the entries off the diagonal of each row (length rows), added column after column.
std::vector<double> off_diagonal_row_sums(const SparseMatrix<double>& matrix);

/// Set the stored diagonal entries. @param diagonal  length rows
void set_diagonal(SparseMatrix<double>& matrix, const std::vector<double>& diagonal);

/// From a graph's edges (both directions stored, each a −1, duplicates summed or not) its Laplacian plus the
/// identity: −1 off the diagonal, degree + 1 on it.
SparseMatrix<double> laplacian_plus_identity(const Triplets<double>& edges);

}  // namespace palmette::matrix_detail
