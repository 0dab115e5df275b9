// For tests of A + U·Vᵀ: U and V as sparse matrices, and residuals in the dense sum.
#pragma once

#include "systems.hpp"

namespace palmette::testing {

/// Dense columns as a sparse matrix.
template <class T>
SparseMatrix<T> columns_of(const DenseMatrix<T>& dense) {
  Triplets<T> entries{dense.rows, dense.cols, {}, {}, {}};
  for (index_t j = 0; j < dense.cols; ++j)
    for (index_t i = 0; i < dense.rows; ++i) {
      entries.row.push_back(i);
      entries.column.push_back(j);
      entries.value.push_back(dense.view()(i, j));
    }
  return from_triplets(entries);
}

/// max|b − op(A + U·Vᵀ)·x| of one right-hand side, summed in double.
template <class T>
double residual_of_updated(const SparseMatrix<T>& matrix, const DenseMatrix<T>& u, const DenseMatrix<T>& v,
                           Operation operation, const DenseMatrix<T>& b, const DenseMatrix<T>& x) {
  using Wide = with_precision_t<T, double>;
  DenseMatrix<T> dense = to_dense(matrix);
  const index_t n = dense.rows;
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    Wide sum(b.values[i]);
    for (index_t j = 0; j < n; ++j) {
      const index_t row = operation == Operation::plain ? i : j,
                    column = operation == Operation::plain ? j : i;
      Wide entry(dense.view()(row, column));
      for (index_t k = 0; k < u.cols; ++k) entry += Wide(u.view()(row, k)) * Wide(v.view()(column, k));
      if (operation == Operation::adjoint) entry = conjugate(entry);
      sum -= entry * Wide(x.values[j]);
    }
    worst = std::max(worst, double(std::abs(sum)));
  }
  return worst;
}

}  // namespace palmette::testing
