// Schur complements by elimination of dense matrices, for tests.
#pragma once

#include <algorithm>

#include "systems.hpp"

namespace palmette::testing {

template <class T>
double entry_tolerance() {
  return std::is_same_v<real_t<T>, float> ? 2e-4 : 1e-11;
}

/// Gauss–Jordan without exchanges on the given order; what is left of the last m rows and columns is S.
template <class T>
DenseMatrix<T> eliminated(const SparseMatrix<T>& matrix, const std::vector<index_t>& boundary) {
  using Wide = with_precision_t<T, double>;
  std::vector<index_t> order;
  for (index_t i = 0; i < matrix.rows(); ++i)
    if (std::find(boundary.begin(), boundary.end(), i) == boundary.end()) order.push_back(i);
  const auto interior = static_cast<index_t>(order.size());
  order.insert(order.end(), boundary.begin(), boundary.end());
  const DenseMatrix<T> dense = to_dense(matrix);
  const auto n = static_cast<index_t>(order.size());
  DenseMatrix<Wide> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a.view()(i, j) = Wide(dense.view()(order[i], order[j]));
  for (index_t k = 0; k < interior; ++k)
    for (index_t i = k + 1; i < n; ++i) {
      const Wide factor = a.view()(i, k) / a.view()(k, k);
      for (index_t j = k; j < n; ++j) a.view()(i, j) -= factor * a.view()(k, j);
    }
  const auto m = static_cast<index_t>(boundary.size());
  DenseMatrix<T> s(m, m);
  for (index_t j = 0; j < m; ++j)
    for (index_t i = 0; i < m; ++i) s.view()(i, j) = T(a.view()(interior + i, interior + j));
  return s;
}

/// x ← S⁻¹·g by the same elimination.
template <class T>
DenseMatrix<T> solved_densely(DenseView<const T> s, DenseMatrix<T> g) {
  DenseMatrix<T> a(s.rows, s.cols);
  for (index_t j = 0; j < s.cols; ++j) std::copy_n(s.column(j), s.rows, a.view().column(j));
  for (index_t k = 0; k < s.rows; ++k)
    for (index_t i = 0; i < s.rows; ++i) {
      if (i == k) continue;
      const T factor = a.view()(i, k) / a.view()(k, k);
      for (index_t j = k; j < s.cols; ++j) a.view()(i, j) -= factor * a.view()(k, j);
      for (index_t j = 0; j < g.cols; ++j) g.view()(i, j) -= factor * g.view()(k, j);
    }
  for (index_t k = 0; k < s.rows; ++k)
    for (index_t j = 0; j < g.cols; ++j) g.view()(k, j) /= a.view()(k, k);
  return g;
}

}  // namespace palmette::testing
