// What the tests of the generators share: dense references (Cholesky, LU), a fingerprint of a matrix, a short
// call.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::test {

inline SparseMatrix<double> make(const std::string& problem, index_t n, std::uint64_t seed = 1,
                                 double parameter = 0) {
  GenerateOptions options;
  options.problem = problem;
  options.n = n;
  options.seed = seed;
  options.parameter = parameter;
  return generate(options);
}

inline DenseMatrix<double> dense(const SparseMatrix<double>& matrix) {
  DenseMatrix<double> result(matrix.rows(), matrix.cols());
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      result.view()(matrix.pattern.row_index[entry], column) += matrix.values[entry];
  return result;
}

/// True if a dense Cholesky factorization finds every pivot positive.
inline bool is_positive_definite(const SparseMatrix<double>& matrix) {
  DenseMatrix<double> storage = dense(matrix);
  const DenseView<double> a = storage.view();
  for (index_t pivot = 0; pivot < a.rows; ++pivot) {
    if (!(a(pivot, pivot) > 0)) return false;
    for (index_t column = pivot + 1; column < a.cols; ++column) {
      const double factor = a(column, pivot) / a(pivot, pivot);
      for (index_t row = column; row < a.rows; ++row) a(row, column) -= a(row, pivot) * factor;
    }
  }
  return true;
}

/// Smallest pivot of dense LU with partial pivoting after each column, then each row, was divided by its
/// largest entry. 0 for a structurally or exactly singular matrix, clearly above rounding (1e-16) for one
/// that is far from singular.
inline double smallest_scaled_pivot(const SparseMatrix<double>& matrix) {
  DenseMatrix<double> storage = dense(matrix);
  const DenseView<double> a = storage.view();
  const index_t n = a.rows;
  for (const bool by_columns : {true, false})
    for (index_t line = 0; line < n; ++line) {
      double largest = 0;
      for (index_t place = 0; place < n; ++place)
        largest = std::max(largest, std::abs(by_columns ? a(place, line) : a(line, place)));
      if (largest == 0) return 0;
      for (index_t place = 0; place < n; ++place) (by_columns ? a(place, line) : a(line, place)) /= largest;
    }
  double smallest = n == 0 ? 0 : 1e300;
  for (index_t pivot = 0; pivot < n; ++pivot) {
    index_t best = pivot;
    for (index_t row = pivot; row < n; ++row)
      if (std::abs(a(row, pivot)) > std::abs(a(best, pivot))) best = row;
    for (index_t column = 0; column < n; ++column) std::swap(a(pivot, column), a(best, column));
    smallest = std::min(smallest, std::abs(a(pivot, pivot)));
    if (smallest == 0) return 0;
    for (index_t column = pivot + 1; column < n; ++column) {
      const double factor = a(pivot, column) / a(pivot, pivot);
      for (index_t row = pivot + 1; row < n; ++row) a(row, column) -= a(row, pivot) * factor;
    }
  }
  return smallest;
}

/// A hash of the words of sizes, pointers, indices and the bits of the values, in this order: as FNV-1a, with
/// a rotation that brings the exponents of the values into all later bits.
inline std::uint64_t fingerprint(const SparseMatrix<double>& matrix) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto take = [&hash](std::uint64_t word) { hash = std::rotl(hash ^ word, 23) * 0x100000001b3ULL; };
  take(static_cast<std::uint64_t>(matrix.rows()));
  take(static_cast<std::uint64_t>(matrix.cols()));
  for (offset_t pointer : matrix.pattern.column_ptr) take(static_cast<std::uint64_t>(pointer));
  for (index_t row : matrix.pattern.row_index) take(static_cast<std::uint64_t>(row));
  for (double value : matrix.values) take(std::bit_cast<std::uint64_t>(value));
  return hash;
}

}  // namespace palmette::test
