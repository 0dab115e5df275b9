// Counts over the entries of a matrix.
#include "cli/matrix_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace palmette::cli {
namespace {

/// The sums of each row, updated column by column.
struct RowSums {
  explicit RowSums(index_t rows) : entries(rows), off_diagonal(rows), diagonal(rows) {}
  std::vector<index_t> entries;      // length rows
  std::vector<double> off_diagonal;  // length rows: sum of moduli
  std::vector<double> diagonal;      // length rows: modulus
};

template <class T>
void add_entry(MatrixFigures& figures, RowSums& sums, index_t row, index_t column, const T& value) {
  const double modulus = std::abs(value);
  ++sums.entries[row];
  (row == column ? sums.diagonal : sums.off_diagonal)[row] += modulus;
  figures.lower_bandwidth = std::max(figures.lower_bandwidth, row - column);
  figures.upper_bandwidth = std::max(figures.upper_bandwidth, column - row);
  figures.largest_modulus = std::max(figures.largest_modulus, modulus);
  if (modulus == 0) ++figures.explicit_zeros;
  else figures.smallest_modulus = std::min(figures.smallest_modulus, modulus);
  if (row != column) return;
  --figures.missing_diagonal;
  figures.zero_diagonal += modulus == 0;
  figures.positive_diagonal += std::real(value) > 0;
}

}  // namespace

template <class T>
MatrixFigures matrix_figures(const SparseMatrix<T>& matrix) {
  MatrixFigures figures;
  RowSums sums(matrix.rows());
  figures.missing_diagonal = std::min(matrix.rows(), matrix.cols());
  figures.smallest_modulus = std::numeric_limits<double>::infinity();
  for (index_t column = 0; column < matrix.cols(); ++column) {
    const offset_t begin = matrix.pattern.column_ptr[column], end = matrix.pattern.column_ptr[column + 1];
    figures.empty_columns += begin == end;
    figures.most_in_a_column = std::max(figures.most_in_a_column, static_cast<index_t>(end - begin));
    for (offset_t entry = begin; entry < end; ++entry)
      add_entry(figures, sums, matrix.pattern.row_index[entry], column, matrix.values[entry]);
  }
  if (!std::isfinite(figures.smallest_modulus)) figures.smallest_modulus = 0;
  for (index_t row = 0; row < matrix.rows(); ++row) {
    figures.empty_rows += sums.entries[row] == 0;
    figures.most_in_a_row = std::max(figures.most_in_a_row, sums.entries[row]);
    figures.dominant_rows += sums.diagonal[row] > 0 && sums.diagonal[row] >= sums.off_diagonal[row];
  }
  const bool is_square = matrix.rows() == matrix.cols();
  figures.detected = is_square ? detect_symmetry(matrix) : Symmetry::general;
  figures.has_symmetric_pattern = is_square && has_symmetric_pattern(matrix.pattern);
  figures.norm_one = norm_one(matrix);
  figures.norm_infinity = norm_infinity(matrix);
  return figures;
}

#define PALMETTE_INSTANTIATE(T) template MatrixFigures matrix_figures(const SparseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::cli
