// Dense matrices for the tests of blocks: random matrices, naive products, and a norm.
#pragma once

#include <cmath>
#include <random>

#include "palmette/blocks/blocks.hpp"

namespace palmette::testing {

template <class T>
T random_scalar(std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double re = uniform(generator), im = uniform(generator);
  if constexpr (is_complex_v<T>) return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(im));
  else return static_cast<T>(re);
}

template <class T>
DenseMatrix<T> random_dense(index_t rows, index_t cols, unsigned seed) {
  std::mt19937 generator(seed);
  DenseMatrix<T> matrix(rows, cols);
  for (T& value : matrix.values) value = random_scalar<T>(generator);
  return matrix;
}

/// A symmetric or Hermitian matrix with entries in the unit square.
template <class T>
DenseMatrix<T> random_symmetric(bool hermitian, index_t n, unsigned seed) {
  DenseMatrix<T> matrix = random_dense<T>(n, n, seed);
  const DenseView<T> a = matrix.view();
  for (index_t j = 0; j < n; ++j) {
    if (hermitian) a(j, j) = T(std::real(a(j, j)));
    for (index_t i = 0; i < j; ++i) a(i, j) = hermitian ? conjugate(a(j, i)) : a(j, i);
  }
  return matrix;
}

/// op(A)·op(B) by the definition, in double precision throughout.
template <class T>
DenseMatrix<T> naive_product(blas::Transpose op_a, blas::Transpose op_b, DenseView<const T> a,
                             DenseView<const T> b) {
  using Wide = with_precision_t<T, double>;
  const auto entry = [](blas::Transpose op, DenseView<const T> m, index_t i, index_t j) {
    const T value = op == blas::Transpose::no ? m(i, j) : m(j, i);
    return Wide(op == blas::Transpose::adjoint ? conjugate(value) : value);
  };
  const bool plain_a = op_a == blas::Transpose::no, plain_b = op_b == blas::Transpose::no;
  const index_t rows = plain_a ? a.rows : a.cols, inner = plain_a ? a.cols : a.rows,
                cols = plain_b ? b.cols : b.rows;
  DenseMatrix<T> c(rows, cols);
  for (index_t j = 0; j < cols; ++j)
    for (index_t i = 0; i < rows; ++i) {
      Wide sum = 0;
      for (index_t k = 0; k < inner; ++k) sum += entry(op_a, a, i, k) * entry(op_b, b, k, j);
      c.view()(i, j) = T(sum);
    }
  return c;
}

/// Largest modulus of an entry.
template <class T>
double largest(DenseView<const T> a) {
  double result = 0;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) result = std::max(result, static_cast<double>(std::abs(a(i, j))));
  return result;
}

template <class T>
double largest_difference(DenseView<const T> a, DenseView<const T> b) {
  double result = 0;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const double difference = std::abs(a(i, j) - b(i, j));
      if (!(difference <= result)) result = difference;  // NaN sticks
    }
  return result;
}

template <class T>
DenseView<const T> constant(const DenseMatrix<T>& matrix) {
  return matrix.view();
}

}  // namespace palmette::testing
