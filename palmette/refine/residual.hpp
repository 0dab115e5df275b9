// Inside `refine`: the residual b − op(A)x of one column in twice the working precision, and the backward
// errors of x.
#pragma once

#include <limits>
#include <vector>

#include "palmette/refine/compensated.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {

/// A nonnegative number mantissa·2^exponent, the mantissa in [½, 1) or 0: a norm that may lie beyond the
/// range of double.
struct ScaledNorm {
  double mantissa = 0;  ///< infinity if the measured values are not finite
  int exponent = 0;

  static ScaledNorm of(double value, int exponent = 0);
  bool finite() const { return mantissa <= 1; }
  double value() const { return std::ldexp(mantissa, exponent); }
};

/// ‖op(A)‖∞, correct even if every entry is the largest double. @cost O(nnz), n doubles for Operation::plain
template <class T>
ScaledNorm operator_norm(const SystemMatrix<T>& matrix, Operation operation);
template <class T>
ScaledNorm operator_norm(const SparseMatrix<T>& matrix, Operation operation) {
  return operator_norm(SystemMatrix<T>(matrix), operation);
}

/// The exponent s for which x·2^s, b·2^s and op(A)x·2^s are in the middle of the range; 0 in all ordinary
/// cases.
int residual_shift(const ScaledNorm& norm, double b_norm, double x_norm);

/// In a row whose magnitude is below `suspicious`, x cannot be stored accurately enough: an absolute error of
/// `forgiven` is unavoidable there.
/// @source xGERFS of [Anderson et al. 1999] (SAFE1, SAFE2), except that 0/0 counts as 0 here
struct Forgiveness {
  double forgiven = 0, suspicious = 0;
};
template <class T>
Forgiveness forgiveness(index_t cols, int shift);

/// ‖r‖ / (‖A‖·‖x‖ + ‖b‖)
double backward_error_of(const ScaledNorm& norm, double residual_norm, double x_norm, double b_norm);

/// The errors of one column.
struct ColumnError {
  double backward = infinity;
  double componentwise = infinity;
  double residual_norm = 0;    ///< ‖b − op(A)x‖∞·2^shift
  double solution_norm = 0;    ///< ‖x‖∞·2^shift
  int shift = 0;               ///< 0 except for systems near the ends of the range of double
  bool finite() const { return backward <= std::numeric_limits<double>::max(); }
};

/// Computes residuals of one system, a column at a time, in its own scratch memory.
///
/// For a share, this process computes its own rows and gathers those of the others: all processes must call
/// evaluate together. Every row has the same bits as for the whole matrix, since its products are summed in
/// the same order.
///
/// x and b are multiplied by 2^shift if the products would leave the range of double, or come so near to its
/// lower end that the error terms underflow; backward errors do not depend on it.
template <class T>
class Residual {
 public:
  Residual(const SystemMatrix<T>& matrix, Operation operation);

  /// Residual and backward errors of x. @param b  length rows(op(A)); x: length cols(op(A))
  ColumnError evaluate(const T* b, const T* x);

  /// The last residual times a power of two, so that its ∞-norm lies in [½, 1): it does not overflow, or
  /// underflow as a whole, in any precision. @return e with residual = to·2^e; `to` is zero if the residual
  /// is
  int write_scaled(T* to) const;

  index_t rows() const { return static_cast<index_t>(rows_.size()); }
  /// |b − op(A)x|_row·2^shift
  double modulus_of(index_t row) const { return modulus(rows_[row].residual.value()); }
  /// (|op(A)||x| + |b|)_row·2^shift
  double magnitude(index_t row) const { return rows_[row].magnitude; }

 private:
  struct Row {
    ProductSum<T> residual;
    double magnitude = 0;
  };
  void subtract_plain();
  /// rows: the rows of op(A) from `first` on, each as a column.
  template <bool conjugated>
  void subtract_rows(const SparseMatrix<T>& rows, index_t first);
  void subtract(const SparseMatrix<T>& rows, index_t first);
  /// Gathers the rows of all processes.
  void complete();
  ColumnError measure(double b_norm, double x_norm);

  SystemMatrix<T> matrix_;
  Operation operation_;
  ScaledNorm norm_;
  std::vector<Row> rows_;                // length rows(op(A))
  std::vector<wide_t<T>> negative_x_;    // length cols(op(A)): −x·2^shift
  std::vector<double> x_modulus_;        // the same length for complex scalars, else empty
  ColumnError error_;
};

}  // namespace palmette
