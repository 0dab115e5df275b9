// Inside `solver`: the equilibrated matrix S = R·A·C as an operator with its approximate inverse S⁻¹ =
// C⁻¹·A⁻¹·R⁻¹.
#pragma once

#include <cmath>
#include <utility>

#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"
#include "palmette/refine/refine.hpp"

namespace palmette {

/// ‖S‖∞ with S = diag(row_scale)·A·diag(column_scale).
template <class T>
double scaled_norm(const SparseMatrix<T>& matrix, const std::vector<double>& row_scale,
                   const std::vector<double>& column_scale) {
  std::vector<double> sums(matrix.rows(), 0);
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      sums[matrix.pattern.row_index[entry]] += double(std::abs(matrix.values[entry])) * column_scale[j];
  double largest = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) largest = std::max(largest, sums[i] * row_scale[i]);
  return largest;
}

template <class T>
double scaled_norm(const MatrixShare<T>& matrix, const std::vector<double>& row_scale,
                   const std::vector<double>& column_scale) {
  std::vector<double> sums(matrix.size(), 0);
  const SparsityPattern& pattern = matrix.rows.pattern;
  for (index_t k = 0; k < matrix.count(); ++k)
    for (offset_t entry = pattern.column_ptr[k]; entry < pattern.column_ptr[k + 1]; ++entry)
      sums[matrix.first + k] +=
          double(std::abs(matrix.rows.values[entry])) * column_scale[pattern.row_index[entry]];
  matrix.complete(std::span<double>(sums));
  double largest = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) largest = std::max(largest, sums[i] * row_scale[i]);
  return largest;
}

/// Matrix: whole, or a share of it. Refers to the caller's objects.
template <class T, class Matrix>
class ScaledMatrix {
 public:
  ScaledMatrix(const Matrix& matrix, const ApplyInverse<T>& apply) : matrix_(matrix), apply_(apply) {
    equilibrate(matrix, row_scale_, column_scale_);
    norm_ = scaled_norm(matrix, row_scale_, column_scale_);
  }
  double norm() const { return norm_; }  ///< ‖S‖∞
  /// The scales of op(A)'s unknowns: x = scale·z, where op(S) has unknowns z.
  const std::vector<double>& unknown_scale(Operation operation) const {
    return operation == Operation::plain ? column_scale_ : row_scale_;
  }
  const std::vector<double>& equation_scale(Operation operation) const {
    return operation == Operation::plain ? row_scale_ : column_scale_;
  }
  /// op(S)·z
  std::vector<T> multiply(Operation operation, std::vector<T> z) const {
    const std::vector<double>& before = unknown_scale(operation);
    const std::vector<double>& after = equation_scale(operation);
    std::vector<T> image(z.size(), T(0));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= real_t<T>(before[i]);
    multiply_add<T>(matrix_, operation, T(1), DenseView<const T>(view(z)), view(image));
    for (std::size_t i = 0; i < z.size(); ++i) image[i] *= real_t<T>(after[i]);
    return image;
  }
  /// The unknowns of op(S) for a solution x of op(A)·x = b.
  std::vector<T> scaled_solution(Operation operation, DenseView<const T> x) const {
    const std::vector<double>& scale = unknown_scale(operation);
    std::vector<T> z(x.rows);
    for (index_t i = 0; i < x.rows; ++i) z[i] = x(i, 0) / real_t<T>(scale[i]);
    return z;
  }
  /// op(S)⁻¹·z
  std::vector<T> solve(Operation operation, std::vector<T> z) const {
    const std::vector<double>& before = equation_scale(operation);
    const std::vector<double>& after = unknown_scale(operation);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= real_t<T>(before[i]);
    apply_(operation, view(z));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= real_t<T>(after[i]);
    return z;
  }

 private:
  static DenseView<T> view(std::vector<T>& values) {
    const index_t n = static_cast<index_t>(values.size());
    return {values.data(), n, 1, n};
  }
  const Matrix& matrix_;
  const ApplyInverse<T>& apply_;
  std::vector<double> row_scale_, column_scale_;
  double norm_ = 0;
};

}  // namespace palmette
