// What the tests of `solve` share: random values, random matrices with known structure, an independent naive
// factorization that fills a Factor panel by panel from a dense matrix, and backward errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "palmette/solve/solve.hpp"

namespace palmette::reference {

inline double uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(-1.0, 1.0)(random);
}

template <class T>
T value(std::mt19937_64& random) {
  if constexpr (is_complex_v<T>) {
    const double re = uniform(random);
    return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(uniform(random)));
  } else {
    return static_cast<T>(uniform(random));
  }
}

template <class T>
DenseMatrix<T> random_dense(index_t rows, index_t cols, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  DenseMatrix<T> matrix(rows, cols);
  for (T& v : matrix.values) v = value<T>(random);
  return matrix;
}

inline Permutation random_permutation(index_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<index_t> list(n);
  for (index_t k = 0; k < n; ++k) list[k] = k;
  std::shuffle(list.begin(), list.end(), random);
  return Permutation(std::move(list));
}

template <class T>
DenseMatrix<T> dense_of(const SparseMatrix<T>& matrix) {
  DenseMatrix<T> dense(matrix.rows(), matrix.cols());
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      dense.view()(matrix.pattern.row_index[entry], column) = matrix.values[entry];
  return dense;
}

/// The properties of a test matrix.
struct Wish {
  FactorKind kind = FactorKind::llt;
  bool hermitian = false;  ///< LDLᵀ of complex matrices
  index_t side = 12;       ///< n = side·(side + 1): a 9-point grid with some entries missing
  std::uint64_t seed = 1;
};

/// A with its ordering. S (A scaled and permuted) has a dominant diagonal for LLᵀ and LU; for LDLᵀ its
/// diagonal has both signs, and every fifth pair of rows has a small diagonal and a large entry between them:
/// 2 × 2 pivots.
template <class T>
struct Problem {
  SparseMatrix<T> matrix;
  Ordering ordering;
  DenseMatrix<T> dense;
};

template <class T>
T entry_of_s(const Wish& wish, index_t row, index_t column, std::mt19937_64& random) {
  if (row == column) {
    const double size = wish.kind == FactorKind::ldlt ? (row % 3 == 0 ? -9.0 : 9.0) + uniform(random)
                                                      : 12.0 + uniform(random);
    if (wish.kind == FactorKind::ldlt && row % 10 < 2) return T(static_cast<real_t<T>>(2));
    if (wish.kind == FactorKind::llt || wish.hermitian) return T(static_cast<real_t<T>>(size));
    return T(static_cast<real_t<T>>(size)) + value<T>(random);
  }
  if (wish.kind == FactorKind::ldlt && row % 10 == 1 && column == row - 1) return value<T>(random) + T(8);
  return value<T>(random);
}

template <class T>
Problem<T> make_problem(const Wish& wish) {
  std::mt19937_64 random(wish.seed);
  const index_t rows_of_grid = wish.side + 1, n = wish.side * rows_of_grid;
  Triplets<T> s;
  s.rows = s.cols = n;
  const auto add = [&](index_t row, index_t column, T v) {
    s.row.push_back(row), s.column.push_back(column), s.value.push_back(v);
  };
  for (index_t column = 0; column < n; ++column)
    for (index_t row = column; row < n; ++row) {
      const index_t dx = std::abs(row % wish.side - column % wish.side),
                    dy = std::abs(row / wish.side - column / wish.side);
      if (dx > 1 || dy > 1 || (row != column && row != column + 1 && uniform(random) > 0.6)) continue;
      const T v = entry_of_s<T>(wish, row, column, random);
      add(row, column, v);
      if (row == column) continue;
      const bool conjugated = wish.kind == FactorKind::llt || wish.hermitian;
      if (wish.kind != FactorKind::lu) add(column, row, conjugated ? conjugate(v) : v);
      else if (uniform(random) < 0.7) add(column, row, value<T>(random));
    }
  Problem<T> problem;
  const SparseMatrix<T> scaled = from_triplets(s);
  OrderOptions options;
  options.method = OrderingMethod::amd;
  const Permutation fill = order(scaled, options).value().column;
  // A hides S behind permutations (two different ones for LU) and scalings by powers of two.
  const Permutation rows = random_permutation(n, wish.seed + 1);
  const Permutation columns = wish.kind == FactorKind::lu ? random_permutation(n, wish.seed + 2) : rows;
  std::vector<double> row_scale, column_scale;
  for (index_t k = 0; k < n; ++k)
    row_scale.push_back(std::ldexp(1.0, k % 7 - 3)), column_scale.push_back(std::ldexp(1.0, k % 5 - 2));
  if (wish.kind != FactorKind::lu) column_scale = row_scale;
  Triplets<T> a;
  a.rows = a.cols = n;
  for (index_t column = 0; column < n; ++column)
    for (offset_t entry = scaled.pattern.column_ptr[column]; entry < scaled.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = scaled.pattern.row_index[entry];
      a.row.push_back(rows.new_to_old()[row]);
      a.column.push_back(columns.new_to_old()[column]);
      a.value.push_back(scaled.values[entry] /
                        static_cast<real_t<T>>(row_scale[a.row.back()] * column_scale[a.column.back()]));
    }
  problem.matrix = from_triplets(a);
  problem.ordering.row = rows.then(fill);
  problem.ordering.column = columns.then(fill);
  problem.ordering.row_scale = row_scale;
  problem.ordering.column_scale = column_scale;
  problem.dense = dense_of(problem.matrix);
  return problem;
}

/// Dense S in the numbering of the symbolic factor.
template <class T>
DenseMatrix<T> dense_s(const Problem<T>& problem, const SymbolicFactor& symbolic) {
  DenseMatrix<T> s(symbolic.n, symbolic.n);
  for (index_t column = 0; column < symbolic.n; ++column)
    for (index_t row = 0; row < symbolic.n; ++row) {
      const index_t r = symbolic.row.new_to_old()[row], c = symbolic.column.new_to_old()[column];
      s.view()(row, column) =
          problem.dense.view()(r, c) *
          static_cast<real_t<T>>(problem.ordering.row_scale[r] * problem.ordering.column_scale[c]);
    }
  return s;
}

/// The naive factorization: one supernode after the other, on the dense matrix, every loop written out; only
/// columns that a pivot does not change are skipped.
template <class T>
class NaiveFactorization {
 public:
  NaiveFactorization(DenseMatrix<T> s, std::shared_ptr<const SymbolicFactor> symbolic, FactorKind kind,
                     bool hermitian)
      : s_(std::move(s)), a_(s_.view()), n_(s_.rows), hermitian_(hermitian) {
    factor_.kind = kind;
    factor_.hermitian = hermitian;
    factor_.symbolic = std::move(symbolic);
    factor_.lower = PanelArray<T>(factor_.symbolic->panel_entries());
    if (kind == FactorKind::lu) factor_.upper = PanelArray<T>(factor_.symbolic->panel_entries());
    if (kind == FactorKind::ldlt) factor_.d.assign(n_, T(0)), factor_.d_below.assign(n_, T(0));
    if (kind != FactorKind::llt) factor_.place.assign(n_, 0);
  }

  Factor<T> run() {
    for (index_t s = 0; s < factor_.symbolic->num_supernodes(); ++s) {
      begin_ = factor_.symbolic->supernode_begin[s];
      end_ = factor_.symbolic->supernode_begin[s + 1];
      if (factor_.kind == FactorKind::llt) cholesky();
      if (factor_.kind == FactorKind::lu) lu();
      if (factor_.kind == FactorKind::ldlt) ldlt();
      pack(s);
    }
    return std::move(factor_);
  }

 private:
  T op(T v) const { return factor_.kind == FactorKind::llt || hermitian_ ? conjugate(v) : v; }

  void cholesky() {
    for (index_t k = begin_; k < end_; ++k) {
      const T root = std::sqrt(a_(k, k));
      for (index_t row = k; row < n_; ++row) a_(row, k) /= root;
      for (index_t column = k + 1; column < n_; ++column) {
        if (a_(column, k) == T(0)) continue;
        for (index_t row = column; row < n_; ++row) a_(row, column) -= a_(row, k) * conjugate(a_(column, k));
      }
    }
  }

  void lu() {
    std::vector<index_t> place;
    for (index_t k = begin_; k < end_; ++k) place.push_back(k - begin_);
    for (index_t k = begin_; k < end_; ++k) {
      index_t pivot = k;
      for (index_t row = k; row < end_; ++row)
        if (std::abs(a_(row, k)) > std::abs(a_(pivot, k))) pivot = row;
      // Every third pivot is taken from another row, so that there are permutations to test.
      if (k % 3 == 0 && k + 1 < end_ && std::abs(a_(k + 1, k)) > real_t<T>(0.3)) pivot = k + 1;
      for (index_t column = begin_; column < n_; ++column) std::swap(a_(k, column), a_(pivot, column));
      std::swap(place[k - begin_], place[pivot - begin_]);
      for (index_t row = k + 1; row < n_; ++row) a_(row, k) /= a_(k, k);
      for (index_t column = k + 1; column < n_; ++column) {
        if (a_(k, column) == T(0)) continue;
        for (index_t row = k + 1; row < n_; ++row) a_(row, column) -= a_(row, k) * a_(k, column);
      }
    }
    std::copy(place.begin(), place.end(), factor_.place.begin() + begin_);
  }

  /// LDLᵀ with 2 × 2 pivots (k, k + 1) where the entry between them is large; rows k and k + 1 are sometimes
  /// exchanged.
  void ldlt() {
    for (index_t k = begin_; k < end_; ++k) factor_.place[k] = k - begin_;
    for (index_t k = begin_; k < end_;) {
      const bool pair = k + 1 < end_ && std::abs(a_(k, k)) < std::abs(a_(k + 1, k));
      if (k + 1 < end_ && k % 4 == 0 && (pair || std::abs(a_(k + 1, k + 1)) > real_t<T>(4)))
        exchange(k, k + 1);
      const index_t size = pair ? 2 : 1;
      eliminate(k, size);
      k += size;
    }
  }

  /// Rows and columns p < q = p + 1 exchanged in the lower triangle.
  void exchange(index_t p, index_t q) {
    for (index_t column = begin_; column < p; ++column) std::swap(a_(p, column), a_(q, column));
    for (index_t row = q + 1; row < n_; ++row) std::swap(a_(row, p), a_(row, q));
    std::swap(a_(p, p), a_(q, q));
    a_(q, p) = op(a_(q, p));
    std::swap(factor_.place[p], factor_.place[q]);
  }

  void eliminate(index_t k, index_t size) {
    T d[2][2] = {{a_(k, k), T(0)}, {T(0), T(1)}};
    if (size == 2) d[1][0] = a_(k + 1, k), d[0][1] = op(d[1][0]), d[1][1] = a_(k + 1, k + 1);
    const T det = d[0][0] * d[1][1] - d[0][1] * d[1][0];
    const T inverse[2][2] = {{d[1][1] / det, -d[0][1] / det}, {-d[1][0] / det, d[0][0] / det}};
    for (index_t i = 0; i < size; ++i) factor_.d[k + i] = d[i][i];
    if (size == 2) factor_.d_below[k] = d[1][0];
    std::vector<T> old(static_cast<std::size_t>(n_) * 2, T(0));
    for (index_t row = k + size; row < n_; ++row)
      for (index_t i = 0; i < size; ++i) old[2 * row + i] = a_(row, k + i);
    for (index_t row = k + size; row < n_; ++row)
      for (index_t i = 0; i < size; ++i) {
        a_(row, k + i) = T(0);
        for (index_t j = 0; j < size; ++j) a_(row, k + i) += old[2 * row + j] * inverse[j][i];
      }
    for (index_t column = k + size; column < n_; ++column) {
      if (old[2 * column] == T(0) && old[2 * column + 1] == T(0)) continue;
      for (index_t row = column; row < n_; ++row)
        for (index_t i = 0; i < size; ++i) a_(row, column) -= a_(row, k + i) * op(old[2 * column + i]);
    }
    if (size == 2) a_(k + 1, k) = T(0);
  }

  void pack(index_t s) {
    const SymbolicFactor& symbolic = *factor_.symbolic;
    const index_t width = symbolic.width(s);
    for (index_t column = 0; column < width; ++column) {
      const offset_t at = symbolic.panel_offset[s] + column * symbolic.leading_dimension(s);
      for (index_t row = 0; row < width; ++row)
        if (factor_.kind == FactorKind::lu || row >= column)
          factor_.lower.data()[at + row] = a_(begin_ + row, begin_ + column);
      if (factor_.kind == FactorKind::lu)
        for (index_t row = column; row < width; ++row)
          factor_.upper.data()[at + row] = a_(begin_ + column, begin_ + row);
      const auto below = symbolic.rows_below(s);
      for (std::size_t k = 0; k < below.size(); ++k) {
        factor_.lower.data()[at + width + static_cast<offset_t>(k)] = a_(below[k], begin_ + column);
        if (factor_.kind == FactorKind::lu)
          factor_.upper.data()[at + width + static_cast<offset_t>(k)] = a_(begin_ + column, below[k]);
      }
    }
  }

  DenseMatrix<T> s_;
  DenseView<T> a_;
  index_t n_;
  bool hermitian_;
  index_t begin_ = 0;
  index_t end_ = 0;
  Factor<T> factor_;
};

template <class T>
std::shared_ptr<const Factor<T>> naive_factor(const Problem<T>& problem, const Wish& wish,
                                              const AnalyzeOptions& options = {}) {
  auto symbolic =
      std::make_shared<const SymbolicFactor>(analyze(problem.matrix.pattern, problem.ordering, options));
  Factor<T> factor =
      NaiveFactorization<T>(dense_s(problem, *symbolic), symbolic, wish.kind, wish.hermitian).run();
  factor.row_scale = problem.ordering.row_scale;
  factor.column_scale = problem.ordering.column_scale;
  return std::make_shared<const Factor<T>>(std::move(factor));
}

template <class T>
std::complex<double> wide(const T& v) {
  if constexpr (is_complex_v<T>) return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  else return {static_cast<double>(v), 0.0};
}

/// max over columns of ‖b − op(A)·x‖∞ / (‖op(A)‖∞·‖x‖∞ + ‖b‖∞), in double; infinity if x is not finite.
template <class T>
double backward_error(DenseView<const T> a, Operation operation, DenseView<const T> b, DenseView<const T> x) {
  double worst = 0;
  for (index_t column = 0; column < b.cols; ++column) {
    double residual = 0, norm_a = 0, norm_b = 0, norm_x = 0;
    for (index_t row = 0; row < a.rows; ++row) {
      std::complex<double> r = wide(b(row, column));
      double sum = 0;
      for (index_t k = 0; k < a.rows; ++k) {
        std::complex<double> entry = wide(operation == Operation::plain ? a(row, k) : a(k, row));
        if (operation == Operation::adjoint) entry = std::conj(entry);
        r -= entry * wide(x(k, column));
        sum += std::abs(entry);
      }
      residual = std::max(residual, std::abs(r));
      norm_a = std::max(norm_a, sum);
      norm_b = std::max(norm_b, std::abs(wide(b(row, column))));
      norm_x = std::max(norm_x, std::abs(wide(x(row, column))));
      if (!std::isfinite(std::abs(r))) return INFINITY;
    }
    if (residual > 0) worst = std::max(worst, residual / (norm_a * norm_x + norm_b));
  }
  return worst;
}

inline const Operation all_operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};

template <class T>
DenseMatrix<T> solved(const SolvePlan<T>& plan, Operation operation, const DenseMatrix<T>& b,
                      const SolveRun& run = {}) {
  DenseMatrix<T> x(b.rows, b.cols);
  plan.solve(operation, b.view(), x.view(), run);
  return x;
}

/// Bits, not values: −0 and 0 differ.
template <class T>
bool same_bits(const DenseMatrix<T>& left, const DenseMatrix<T>& right) {
  return left.values.size() == right.values.size() &&
         (left.values.empty() ||
          std::memcmp(left.values.data(), right.values.data(), left.values.size() * sizeof(T)) == 0);
}

}  // namespace palmette::reference
