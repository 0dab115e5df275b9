// Row sums and diagonals for the generators of irregular patterns.
#include "palmette/matrix/generate_assemble.hpp"

namespace palmette::matrix_detail {
namespace {

/// Calls visit(row, column, value) for every entry, column after column; the value may be changed.
template <class Visit>
void for_each_entry(SparseMatrix<double>& matrix, Visit visit) {
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      visit(matrix.pattern.row_index[entry], column, matrix.values[entry]);
}

}  // namespace

std::vector<double> off_diagonal_row_sums(const SparseMatrix<double>& matrix) {
  std::vector<double> sums(matrix.rows(), 0.0);
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      if (row != column) sums[row] += cheap_modulus(matrix.values[entry]);
    }
  return sums;
}

void set_diagonal(SparseMatrix<double>& matrix, const std::vector<double>& diagonal) {
  for_each_entry(matrix, [&](index_t row, index_t column, double& value) {
    if (row == column) value = diagonal[row];
  });
}

SparseMatrix<double> laplacian_plus_identity(const Triplets<double>& edges) {
  SparseMatrix<double> matrix = from_triplets(edges, Symmetry::symmetric);
  for_each_entry(matrix,
                 [](index_t row, index_t column, double& value) { value = row == column ? 0.0 : -1.0; });
  std::vector<double> diagonal = off_diagonal_row_sums(matrix);
  for (double& degree : diagonal) degree += 1.0;
  set_diagonal(matrix, diagonal);
  return matrix;
}

}  // namespace palmette::matrix_detail
