// Products with a sparse matrix and its norms: plain loops in a fixed order, so the bits never change.
#include <algorithm>
#include <cmath>

#include "palmette/matrix/matrix_share.hpp"

namespace palmette {
namespace {

/// The textbook product: that of std::complex checks for NaN after each multiplication, which costs several
/// times as much.
template <class T>
T product(const T& left, const T& right) {
  if constexpr (is_complex_v<T>)
    return {left.real() * right.real() - left.imag() * right.imag(),
            left.real() * right.imag() + left.imag() * right.real()};
  else
    return left * right;
}

template <class T>
void add_plain(const SparseMatrix<T>& matrix, T alpha, const T* x, T* y) {
  const SparsityPattern& pattern = matrix.pattern;
  for (index_t column = 0; column < pattern.cols; ++column) {
    const T scaled = product(alpha, x[column]);
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry)
      y[pattern.row_index[entry]] += product(matrix.values[entry], scaled);
  }
}

template <bool conjugated, class T>
void add_transposed(const SparseMatrix<T>& matrix, T alpha, const T* x, T* y) {
  const SparsityPattern& pattern = matrix.pattern;
  for (index_t column = 0; column < pattern.cols; ++column) {
    T sum{};
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const T value = conjugated ? conjugate(matrix.values[entry]) : matrix.values[entry];
      sum += product(value, x[pattern.row_index[entry]]);
    }
    y[column] += product(alpha, sum);
  }
}

/// Not inlined: in a loop over one row a compiler may multiply in vectors and then add, where add_plain fuses
/// both, and the bits differ.
template <class T>
[[gnu::noinline]] void add_product(T& y, const T& value, const T& scaled) {
  y += product(value, scaled);
}

/// y += alpha·A·x for rows that are stored as the columns of `rows`: each row is summed as in add_plain.
template <class T>
void add_rows(const SparseMatrix<T>& rows, T alpha, const T* x, T* y) {
  const SparsityPattern& pattern = rows.pattern;
  for (index_t row = 0; row < pattern.cols; ++row)
    for (offset_t entry = pattern.column_ptr[row]; entry < pattern.column_ptr[row + 1]; ++entry)
      add_product(y[row], rows.values[entry], product(alpha, x[pattern.row_index[entry]]));
}

std::string text(index_t rows, index_t cols) { return std::to_string(rows) + " × " + std::to_string(cols); }

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::plain: return "plain";
    case Operation::transpose: return "transpose";
    case Operation::adjoint: return "adjoint";
  }
  return "plain";
}

template <class T>
void multiply_add(const SparseMatrix<T>& matrix, Operation operation, T alpha, DenseView<const T> x,
                  DenseView<T> y) {
  const bool plain = operation == Operation::plain;
  const index_t x_rows = plain ? matrix.cols() : matrix.rows();
  const index_t y_rows = plain ? matrix.rows() : matrix.cols();
  if (x.rows != x_rows || y.rows != y_rows || x.cols != y.cols)
    throw DimensionError("y += op(A)·x with A " + text(matrix.rows(), matrix.cols()) + ", op " +
                         std::string(name_of(operation)) + ", x " + text(x.rows, x.cols) + " and y " +
                         text(y.rows, y.cols) + " does not fit; x must have " + std::to_string(x_rows) +
                         " rows, y " + std::to_string(y_rows) + " and both the same number of columns");
  for (index_t column = 0; column < x.cols; ++column) {
    const T* from = x.column(column);
    T* to = y.column(column);
    if (plain) add_plain(matrix, alpha, from, to);
    else if (operation == Operation::adjoint) add_transposed<true>(matrix, alpha, from, to);
    else add_transposed<false>(matrix, alpha, from, to);
  }
}

template <class T>
void multiply_add(const MatrixShare<T>& matrix, Operation operation, T alpha, DenseView<const T> x,
                  DenseView<T> y) {
  const index_t n = matrix.size();
  if (x.rows != n || y.rows != n || x.cols != y.cols)
    throw DimensionError("y += op(A)·x with A " + text(n, n) + ", x " + text(x.rows, x.cols) + " and y " +
                         text(y.rows, y.cols) + " does not fit; x and y must have " + std::to_string(n) +
                         " rows and both the same number of columns");
  for (index_t column = 0; column < x.cols; ++column) {
    const T* from = x.column(column);
    T* to = y.column(column) + matrix.first;
    if (operation == Operation::plain) add_rows(matrix.rows, alpha, from, to);
    else if (operation == Operation::adjoint) add_transposed<true>(matrix.columns, alpha, from, to);
    else add_transposed<false>(matrix.columns, alpha, from, to);
    matrix.complete(std::span<T>(y.column(column), n));
  }
}

template <class T>
double norm_infinity(const MatrixShare<T>& matrix) {
  std::vector<double> row_sum(matrix.size(), 0.0);
  const SparsityPattern& pattern = matrix.rows.pattern;
  for (index_t row = 0; row < matrix.count(); ++row)
    for (offset_t entry = pattern.column_ptr[row]; entry < pattern.column_ptr[row + 1]; ++entry)
      row_sum[matrix.first + row] +=
          static_cast<double>(std::abs(matrix.rows.values[entry]));
  matrix.complete(std::span<double>(row_sum));
  return row_sum.empty() ? 0.0 : *std::max_element(row_sum.begin(), row_sum.end());
}

template <class T>
double norm_infinity(const SparseMatrix<T>& matrix) {
  std::vector<double> row_sum(matrix.rows(), 0.0);
  for (offset_t entry = 0; entry < matrix.nnz(); ++entry)
    row_sum[matrix.pattern.row_index[entry]] += static_cast<double>(std::abs(matrix.values[entry]));
  return row_sum.empty() ? 0.0 : *std::max_element(row_sum.begin(), row_sum.end());
}

template <class T>
double norm_one(const SparseMatrix<T>& matrix) {
  double largest = 0;
  for (index_t column = 0; column < matrix.cols(); ++column) {
    double sum = 0;
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      sum += static_cast<double>(std::abs(matrix.values[entry]));
    largest = std::max(largest, sum);
  }
  return largest;
}

#define PALMETTE_INSTANTIATE(T)                                                                           \
  template void multiply_add(const SparseMatrix<T>&, Operation, T, DenseView<const T>, DenseView<T>);     \
  template void multiply_add(const MatrixShare<T>&, Operation, T, DenseView<const T>, DenseView<T>);      \
  template double norm_infinity(const MatrixShare<T>&);                                                   \
  template double norm_infinity(const SparseMatrix<T>&);                                                  \
  template double norm_one(const SparseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
