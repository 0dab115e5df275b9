// The condition estimate and the forward error bound: both are 1-norms of an inverse that is known only as an
// operator.
#include <algorithm>

#include "palmette/refine/one_norm.hpp"
#include "palmette/refine/residual.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {
namespace {


template <class T>
void conjugate_all(DenseView<T> v) {
  if constexpr (is_complex_v<T>)
    for (index_t column = 0; column < v.cols; ++column)
      for (index_t row = 0; row < v.rows; ++row) v(row, column) = std::conj(v(row, column));
}

/// v ← op(A)⁻ᴴ·v. For op = transpose that is the inverse of conj(A), which `apply` provides only through
/// conjugated v.
template <class T>
void apply_adjoint(const InvertibleOperator<T>& inverse, DenseView<T> v) {
  if (inverse.operation == Operation::plain) return inverse.apply(Operation::adjoint, v);
  if (inverse.operation == Operation::adjoint) return inverse.apply(Operation::plain, v);
  conjugate_all(v);
  inverse.apply(Operation::plain, v);
  conjugate_all(v);
}

template <class T>
void scale_rows(DenseView<T> v, const std::vector<double>& weight) {
  for (index_t column = 0; column < v.cols; ++column)
    for (index_t row = 0; row < v.rows; ++row) v(row, column) = narrow<T>(widen(v(row, column), weight[row]));
}

/// Number of entries in the fullest row of op(A).
template <class T>
offset_t longest_row(const SystemMatrix<T>& matrix, Operation operation) {
  offset_t longest = 0;
  if (matrix.part != nullptr) {
    const SparsityPattern& own = matrix.own_rows(operation).pattern;
    std::vector<offset_t> length(matrix.rows(), 0);
    for (index_t row = 0; row < own.cols; ++row)
      length[matrix.part->first + row] =
          own.column_ptr[row + 1] - own.column_ptr[row];
    matrix.part->complete(std::span<offset_t>(length));
    for (const offset_t entries : length) longest = std::max(longest, entries);
    return longest;
  }
  const SparsityPattern& pattern = matrix.whole->pattern;
  if (operation == Operation::plain) {
    std::vector<offset_t> count(pattern.rows, 0);
    for (const index_t row : pattern.row_index) longest = std::max(longest, ++count[row]);
  } else {
    for (index_t column = 0; column < pattern.cols; ++column)
      longest = std::max(longest, pattern.column_ptr[column + 1] - pattern.column_ptr[column]);
  }
  return longest;
}

/// Bound of the error of a computed residual, beyond its own rounding, relative to |op(A)||x| + |b|.
/// @source [Ogita et al. 2005], theorem 5.4 for double; the ordinary bound of a sum in double for float
template <class T>
double residual_uncertainty(offset_t longest) {
  const double of_ordinary_sum = (static_cast<double>(longest) + 2) * unit_roundoff<double>;
  return std::is_same_v<real_t<T>, double> ? of_ordinary_sum * of_ordinary_sum : of_ordinary_sum;
}

/// The weights |r| + uncertainty, divided by their maximum (returned as a norm), so that no precision
/// overflows.
template <class T>
ScaledNorm error_weights(const Residual<T>& residual, double uncertainty, std::vector<double>& weight) {
  double largest = 0;
  for (index_t row = 0; row < residual.rows(); ++row) {
    weight[row] = residual.modulus_of(row) * (1 + 4 * unit_roundoff<T>)+uncertainty * residual.magnitude(row);
    largest = std::max(largest, weight[row]);
  }
  const ScaledNorm norm = ScaledNorm::of(largest);
  if (!norm.finite() || largest == 0) return norm;
  for (double& value : weight) value = value / largest;
  return norm;
}

/// ‖ |op(A)⁻¹|·weight ‖∞ = ‖diag(weight)·op(A)⁻ᴴ‖₁.
template <class T>
double estimate_weighted_inverse(const InvertibleOperator<T>& inverse, const std::vector<double>& weight) {
  LinearMap<T> map;
  map.size = inverse.matrix.rows();
  map.forward = [&](DenseView<T> v) {
    apply_adjoint(inverse, v);
    scale_rows(v, weight);
  };
  map.adjoint = [&](DenseView<T> v) {
    scale_rows(v, weight);
    inverse.apply(inverse.operation, v);
  };
  return estimate_one_norm(map);
}

/// ‖op(A)⁻¹ r‖∞ / ‖x‖∞: the error itself, to the accuracy of the inverse.
template <class T>
double size_of_correction(const InvertibleOperator<T>& inverse, const Residual<T>& residual,
                          const ColumnError& error) {
  std::vector<T> correction(residual.rows());
  const int exponent = residual.write_scaled(correction.data()) + error.shift;
  inverse.apply(inverse.operation, {correction.data(), residual.rows(), 1, residual.rows()});
  double largest = 0;
  for (const T& value : correction) {
    if (!is_finite(value)) return infinity;
    largest = std::max(largest, modulus(widen(value)));
  }
  const ScaledNorm solution = ScaledNorm::of(error.solution_norm);
  return std::ldexp(largest / solution.mantissa, exponent - solution.exponent);
}

/// The bound for the column evaluated last; never less than the change that a correction would make.
template <class T>
double forward_error_of_column(const InvertibleOperator<T>& inverse, const Residual<T>& residual,
                               const ColumnError& error, double uncertainty) {
  std::vector<double> weight(residual.rows());
  const ScaledNorm largest = error_weights(residual, uncertainty, weight);
  if (largest.mantissa == 0) return 0;
  // x is zero but the residual is not: no error relative to x is large enough.
  if (error.solution_norm == 0) return infinity;
  const ScaledNorm solution = ScaledNorm::of(error.solution_norm);
  const double quotient = estimate_weighted_inverse(inverse, weight) * (largest.mantissa / solution.mantissa);
  // The estimate is a lower bound of a bound; if it falls short, the correction keeps the result above the
  // error.
  return std::max(std::ldexp(quotient, largest.exponent - solution.exponent),
                  size_of_correction(inverse, residual, error));
}

template <class T>
double condition_1norm(const SystemMatrix<T>& matrix, const ApplyInverse<T>& apply) {
  check_square(matrix);
  const ScaledNorm norm = operator_norm(matrix, Operation::transpose);
  if (!norm.finite()) return infinity;
  if (matrix.rows() == 0) return 0;
  // Apply the inverse of A·2^−e instead of that of A: it neither overflows nor underflows for a badly scaled
  // A.
  const int highest = std::numeric_limits<real_t<T>>::max_exponent - 2;
  const int exponent = std::clamp(norm.exponent, -highest, highest);
  const std::vector<double> factor(matrix.rows(), std::ldexp(1.0, exponent));
  LinearMap<T> map;
  map.size = matrix.rows();
  map.forward = [&](DenseView<T> v) {
    scale_rows(v, factor);
    apply(Operation::plain, v);
  };
  map.adjoint = [&](DenseView<T> v) {
    scale_rows(v, factor);
    apply(Operation::adjoint, v);
  };
  return std::ldexp(norm.mantissa * estimate_one_norm(map), norm.exponent - exponent);
}

template <class T>
double forward_error(const InvertibleOperator<T>& inverse, DenseView<const T> b, DenseView<const T> x) {
  const SystemMatrix<T>& matrix = inverse.matrix;
  const Operation operation = inverse.operation;
  check_square(matrix);
  check_sizes(matrix, operation, b, x);
  if (b.cols == 0 || matrix.rows() == 0) return 0;
  const double uncertainty = residual_uncertainty<T>(longest_row(matrix, operation));
  Residual<T> residual(matrix, operation);
  double worst = 0;
  for (index_t column = 0; column < b.cols; ++column) {
    const ColumnError error = residual.evaluate(b.column(column), x.column(column));
    if (!error.finite()) return infinity;
    worst = std::max(worst, forward_error_of_column(inverse, residual, error, uncertainty));
  }
  return worst;
}

}  // namespace

template <class T>
double estimate_condition_1norm(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply) {
  return condition_1norm<T>(matrix, apply);
}
template <class T>
double estimate_condition_1norm(const MatrixShare<T>& matrix, const ApplyInverse<T>& apply) {
  return condition_1norm<T>(matrix, apply);
}

template <class T>
double estimate_forward_error(const SparseMatrix<T>& matrix, Operation operation,
                              const ApplyInverse<T>& apply, DenseView<const T> b, DenseView<const T> x) {
  return forward_error<T>({matrix, operation, apply}, b, x);
}
template <class T>
double estimate_forward_error(const MatrixShare<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                              DenseView<const T> b, DenseView<const T> x) {
  return forward_error<T>({matrix, operation, apply}, b, x);
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template double estimate_condition_1norm(const MatrixShare<T>&, const ApplyInverse<T>&);          \
  template double estimate_forward_error(const MatrixShare<T>&, Operation, const ApplyInverse<T>&,  \
                                         DenseView<const T>, DenseView<const T>);                   \
  template double estimate_condition_1norm(const SparseMatrix<T>&, const ApplyInverse<T>&);         \
  template double estimate_forward_error(const SparseMatrix<T>&, Operation, const ApplyInverse<T>&, \
                                         DenseView<const T>, DenseView<const T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
