// Matrices for the tests of factorize, and the dense product of a Factor's parts.
#pragma once

#include <cmath>
#include <map>
#include <random>

#include "palmette/factorize/factorize.hpp"

namespace palmette::testing {

using Wide = std::complex<double>;

template <class T>
T scalar(double re, double im) {
  if constexpr (is_complex_v<T>) return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(im));
  else return static_cast<T>(re);
}

enum class Flavour { positive_definite, symmetric, hermitian, unsymmetric };

/// The PivotNeed of this kind of factorization.
inline Flavour flavour_of(FactorKind kind) {
  return kind == FactorKind::llt    ? Flavour::positive_definite
         : kind == FactorKind::ldlt ? Flavour::symmetric
                                    : Flavour::unsymmetric;
}

/// A matrix whose graph is a tree: an edge from each vertex to its parent (−1: none). Diagonally dominant.
inline SparseMatrix<double> tree_matrix(const std::vector<index_t>& parent, bool symmetric) {
  const auto n = static_cast<index_t>(parent.size());
  Triplets<double> entries{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, double value) {
    entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
  };
  for (index_t k = 0; k < n; ++k) {
    const index_t up = parent[k];
    add(k, k, 7.0 + k);
    if (up != -1) add(up, k, -1), add(k, up, symmetric ? -1 : -0.7);
  }
  return from_triplets(entries, symmetric ? Symmetry::symmetric : Symmetry::general);
}

/// A random sparse matrix with about `per_column` entries per column off the diagonal. Positive definite
/// matrices have a dominant diagonal; for the others every third diagonal entry is missing, but a cyclic
/// diagonal next to it is full.
template <class T>
SparseMatrix<T> random_sparse(Flavour flavour, index_t n, double per_column, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<index_t> place(0, std::max<index_t>(n - 1, 0));
  Triplets<T> entries{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row);
    entries.column.push_back(column);
    entries.value.push_back(value);
  };
  const bool conjugated = flavour == Flavour::hermitian || flavour == Flavour::positive_definite;
  // One draw after the other: compilers evaluate the arguments of a call in different orders.
  const auto draw = [&](bool real_alone) {
    const double imag = real_alone ? 0 : uniform(generator);
    return scalar<T>(uniform(generator), imag);
  };
  const auto add_both = [&](index_t row, index_t column, T value) {
    add(row, column, value);
    if (flavour != Flavour::unsymmetric && row != column)
      add(column, row, conjugated ? conjugate(value) : value);
  };
  for (index_t column = 0; column < n; ++column) {
    for (int drawn = 0; drawn < per_column; ++drawn) {
      const index_t row = place(generator);
      if (row != column) add_both(row, column, draw(false));
    }
    if (flavour == Flavour::positive_definite)
      add(column, column, T(static_cast<real_t<T>>(4 * per_column + 4)));
    else if (column % 3 != 0)
      add(column, column, draw(conjugated));
    if (flavour != Flavour::positive_definite && n > 1) add_both((column + 1) % n, column, T(2));
  }
  const Symmetry symmetry = flavour == Flavour::unsymmetric ? Symmetry::general
                            : conjugated && is_complex_v<T> ? Symmetry::hermitian : Symmetry::symmetric;
  return from_triplets(entries, symmetry);
}

inline PivotNeed need_of(FactorKind kind) {
  return kind == FactorKind::llt ? PivotNeed::none
                                 : kind == FactorKind::ldlt ? PivotNeed::indefinite : PivotNeed::unsymmetric;
}

template <class T>
struct Problem {
  SparseMatrix<T> matrix;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;

  Problem(SparseMatrix<T> a, FactorKind kind, const AnalyzeOptions& options = {}) : matrix(std::move(a)) {
    OrderOptions how;
    how.method = OrderingMethod::amd;
    how.pivot_need = need_of(kind);
    ordering = order(matrix, how).value();
    symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering, options));
  }
  Outcome<Factor<T>> factored(FactorKind kind, double tiny = 0, ThreadTeam* team = nullptr) const {
    FactorizeOptions options;
    options.kind = kind;
    options.tiny_pivot = tiny;
    options.team = team;
    return factorize(matrix, symbolic, ordering, options);
  }
};

template <class T>
DenseMatrix<Wide> dense_of(const SparseMatrix<T>& matrix) {
  DenseMatrix<Wide> dense(matrix.rows(), matrix.cols());
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      dense.view()(matrix.pattern.row_index[entry], column) += Wide(matrix.values[entry]);
  return dense;
}

/// The permuted and scaled matrix that was factored.
template <class T>
DenseMatrix<Wide> factored_matrix(const SparseMatrix<T>& matrix, const Factor<T>& factor) {
  const DenseMatrix<Wide> a = dense_of(matrix);
  const auto& rows = factor.symbolic->row.new_to_old();
  const auto& columns = factor.symbolic->column.new_to_old();
  DenseMatrix<Wide> result(a.rows, a.cols);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const double r = factor.row_scale.empty() ? 1 : factor.row_scale[rows[i]];
      const double c = factor.column_scale.empty() ? 1 : factor.column_scale[columns[j]];
      result.view()(i, j) = r * c * a.view()(rows[i], columns[j]);
    }
  return result;
}

/// A = left·right with P included in left: the definition of Factor, written out.
struct DenseFactors {
  DenseMatrix<Wide> left, right;
};

template <class T>
DenseFactors dense_factors(const Factor<T>& factor) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  const index_t n = symbolic.n;
  DenseMatrix<Wide> l(n, n), d(n, n), u(n, n);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const index_t begin = symbolic.supernode_begin[s], width = symbolic.width(s);
    const offset_t ld = symbolic.leading_dimension(s);
    const T* const lower = factor.lower.data() + symbolic.panel_offset[s];
    for (index_t c = 0; c < width; ++c) {
      for (index_t r = 0; r < width; ++r) {
        const index_t row = factor.place.empty() ? begin + r : begin + factor.place[begin + r];
        const Wide value(lower[r + c * ld]);
        if (r > c) l.view()(row, begin + c) = value;
        if (r == c) l.view()(row, begin + c) = factor.kind == FactorKind::llt ? value : Wide(1);
        if (r <= c && factor.kind == FactorKind::lu) u.view()(begin + r, begin + c) = value;
      }
      for (index_t r = width; r < ld; ++r) {
        const index_t row = symbolic.rows_below(s)[r - width];
        l.view()(row, begin + c) = Wide(lower[r + c * ld]);
        if (factor.kind == FactorKind::lu)
          u.view()(begin + c, row) = Wide(factor.upper.data()[symbolic.panel_offset[s] + r + c * ld]);
      }
      if (factor.kind == FactorKind::ldlt) {
        d.view()(begin + c, begin + c) = Wide(factor.d[begin + c]);
        const Wide below(factor.d_below[begin + c]);
        if (below != Wide(0)) {
          d.view()(begin + c + 1, begin + c) = below;
          d.view()(begin + c, begin + c + 1) = factor.hermitian ? std::conj(below) : below;
        }
      }
    }
  }
  if (factor.kind == FactorKind::lu) return {l, u};
  DenseMatrix<Wide> ld(n, n), turned(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      turned.view()(j, i) = factor.hermitian ? std::conj(l.view()(i, j)) : l.view()(i, j);
  if (factor.kind == FactorKind::llt) return {l, turned};
  blas::gemm<Wide>(blas::Transpose::no, blas::Transpose::no, 1, l.view(), d.view(), 0, ld.view());
  return {ld, turned};
}

template <class T>
double norm(const DenseMatrix<T>& a) {
  double largest = 0;
  for (index_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (index_t j = 0; j < a.cols; ++j) sum += std::abs(a.view()(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// ‖S − left·right‖_∞ / (‖left‖·‖right‖ + ‖S‖), every norm the largest row sum: the normwise backward error
/// of the factorization, growth allowed for.
template <class T>
double factor_backward_error(const SparseMatrix<T>& matrix, const Factor<T>& factor) {
  DenseMatrix<Wide> difference = factored_matrix(matrix, factor);
  if (difference.rows == 0) return 0;
  const DenseFactors parts = dense_factors(factor);
  const double size = norm(difference) + norm(parts.left) * norm(parts.right);
  blas::gemm<Wide>(blas::Transpose::no, blas::Transpose::no, -1, parts.left.view(), parts.right.view(), 1,
                   difference.view());
  return norm(difference) / size;
}

/// Determinant by textbook elimination with partial pivoting: log of the modulus, and the phase.
inline std::pair<double, Wide> dense_determinant(DenseMatrix<Wide> a) {
  const DenseView<Wide> m = a.view();
  double log = 0;
  Wide sign = 1;
  for (index_t k = 0; k < m.cols; ++k) {
    index_t best = k;
    for (index_t i = k; i < m.rows; ++i)
      if (std::abs(m(i, k)) > std::abs(m(best, k))) best = i;
    if (best != k) {
      for (index_t j = 0; j < m.cols; ++j) std::swap(m(k, j), m(best, j));
      sign = -sign;
    }
    log += std::log(std::abs(m(k, k)));
    sign *= m(k, k) / std::abs(m(k, k));
    for (index_t i = k + 1; i < m.rows; ++i) {
      const Wide factor = m(i, k) / m(k, k);
      for (index_t j = k + 1; j < m.cols; ++j) m(i, j) -= factor * m(k, j);
    }
  }
  return {log, sign};
}

}  // namespace palmette::testing
