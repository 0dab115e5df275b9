// Reads a given triangle, with all errors that it may have.
#include "palmette/solve/lower_triangle.hpp"

namespace palmette::solve_detail {
namespace {

std::string place_text(index_t row, index_t column) {
  std::string text = std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
  text.insert(text.begin(), '(');
  return text;
}

void check_square(index_t rows, index_t cols, const std::string& name) {
  if (rows != cols)
    throw DimensionError(name + " is " + std::to_string(rows) + " × " + std::to_string(cols) +
                         ": a triangle must be square");
}

/// Keeps the entries of the triangle; rejects others if requested.
template <class T>
class TriangleBuilder {
 public:
  TriangleBuilder(const SparseMatrix<T>& matrix, const TriangleReading& reading)
      : matrix_(matrix), reading_(reading) {}

  LowerTriangle<T> build() {
    const index_t n = matrix_.rows();
    if (!reading_.unit_diagonal) triangle_.diagonal.assign(n, T(0));
    SparsityPattern& kept = triangle_.strict.pattern;
    kept.rows = kept.cols = n;
    kept.column_ptr.reserve(n + 1);
    kept.row_index.reserve(matrix_.nnz());
    triangle_.strict.values.reserve(matrix_.nnz());
    for (index_t column = 0; column < n; ++column) {
      for (offset_t entry = matrix_.pattern.column_ptr[column];
           entry < matrix_.pattern.column_ptr[column + 1]; ++entry)
        take(matrix_.pattern.row_index[entry], column, matrix_.values[entry]);
      kept.column_ptr.push_back(static_cast<offset_t>(kept.row_index.size()));
    }
    if (!reading_.lower) triangle_.strict = transpose(triangle_.strict);
    return std::move(triangle_);
  }

 private:
  void take(index_t row, index_t column, const T& value) {
    const bool wrong_side = reading_.lower ? row < column : row > column;
    if (wrong_side) return complain_of_side(row, column, value);
    if (row == column && reading_.unit_diagonal) return;
    if (!is_finite(value))
      throw UsageError(reading_.name + " holds a value that is not finite at " + place_text(row, column));
    if (row == column) {
      triangle_.diagonal[row] = value;
      return;
    }
    triangle_.strict.pattern.row_index.push_back(row);
    triangle_.strict.values.push_back(value);
  }

  void complain_of_side(index_t row, index_t column, const T& value) const {
    if (reading_.wrong_side == WrongSide::ignored || value == T(0)) return;
    throw UsageError(reading_.name + " has an entry at " + place_text(row, column) + ", " +
                     (reading_.lower ? "above" : "below") + " its diagonal");
  }

  const SparseMatrix<T>& matrix_;
  const TriangleReading& reading_;
  LowerTriangle<T> triangle_;
};

}  // namespace

template <class T>
Outcome<LowerTriangle<T>> read_triangle(const SparseMatrix<T>& matrix, const TriangleReading& reading) {
  check_square(matrix.rows(), matrix.cols(), reading.name);
  LowerTriangle<T> triangle = TriangleBuilder<T>(matrix, reading).build();
  for (std::size_t row = 0; row < triangle.diagonal.size(); ++row) {
    if (triangle.diagonal[row] != T(0)) continue;
    NumericalFailure failure;
    failure.kind = FailureKind::numerically_singular;
    failure.row = failure.column = static_cast<index_t>(row);
    failure.message = reading.name + " is singular: the diagonal entry of row " + std::to_string(row + 1) +
                      " is zero or missing; give a nonzero one, or say that the diagonal is one";
    return failure;
  }
  return triangle;
}

#define PALMETTE_INSTANTIATE(T) \
  template Outcome<LowerTriangle<T>> read_triangle<T>(const SparseMatrix<T>&, const TriangleReading&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
