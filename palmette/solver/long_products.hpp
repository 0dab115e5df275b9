// Inside `solver`: products of sparse matrices in more digits than the scalar has, with the sizes of their
// terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// More digits than T has, where the machine has them.
template <class T>
using LongReal = std::conditional_t<std::is_same_v<real_t<T>, float>, double, long double>;
template <class T>
using LongScalar = with_precision_t<T, LongReal<T>>;

/// A vector and, for each entry, the sum of the moduli of the terms that were added to it.
template <class T>
struct LongSums {
  std::vector<LongScalar<T>> sum;
  std::vector<double> moduli;

  explicit LongSums(index_t n) : sum(n), moduli(n) {}
  void clear() {
    std::fill(sum.begin(), sum.end(), LongScalar<T>(0));
    std::fill(moduli.begin(), moduli.end(), 0);
  }
  void add(index_t row, LongScalar<T> term, double modulus) {
    sum[row] += term;
    moduli[row] += modulus;
  }
};

/// What is added to a vector.
struct SignedOperation {
  Operation operation = Operation::plain;
  int sign = 1;
};

/// y ← y + sign·op(matrix)·x. @param x  of T, or of LongScalar<T> @param x_moduli  null: the moduli of x
template <class T, class X>
void add_product(const SparseMatrix<T>& matrix, const SignedOperation& how, const X* x,
                 const double* x_moduli, LongSums<T>& y) {
  using Long = LongScalar<T>;
  const bool plain = how.operation == Operation::plain, adjoint = how.operation == Operation::adjoint;
  const Long factor(static_cast<LongReal<T>>(how.sign));
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = matrix.pattern.row_index[entry], from = plain ? j : i;
      const T value = adjoint ? conjugate(matrix.values[entry]) : matrix.values[entry];
      const double size = x_moduli != nullptr ? x_moduli[from] : double(std::abs(x[from]));
      y.add(plain ? i : j, factor * Long(value) * Long(x[from]), double(std::abs(value)) * size);
    }
}

/// y ← y + sign·op(U·Vᵀ)·x. @param u, v  n × k
template <class T>
void add_low_rank_product(const SparseMatrix<T>& u, const SparseMatrix<T>& v, const SignedOperation& how,
                          const T* x, LongSums<T>& y) {
  LongSums<T> inner(u.cols());
  if (how.operation == Operation::plain) {
    add_product(v, {Operation::transpose, 1}, x, nullptr, inner);
    return add_product(u, how, inner.sum.data(), inner.moduli.data(), y);
  }
  add_product(u, {how.operation, 1}, x, nullptr, inner);
  const SignedOperation last{Operation::plain, how.sign};
  if (how.operation == Operation::transpose)
    return add_product(v, last, inner.sum.data(), inner.moduli.data(), y);
  SparseMatrix<T> conjugated = v;
  for (T& value : conjugated.values) value = conjugate(value);
  add_product(conjugated, last, inner.sum.data(), inner.moduli.data(), y);
}

}  // namespace palmette
