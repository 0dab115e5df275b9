// The door of `refine`: A, b and a function "apply the inverse" → a better x and the verification of it. Knows no solver.
#pragma once

#include <functional>
#include <optional>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// x ← op(A)⁻¹·x approximately, all columns; what a factorization offers.
template <class T>
using ApplyInverse = std::function<void(Operation operation, DenseView<T> x)>;

/// How wrong an answer may be. With several right-hand sides each figure is that of the worst column.
struct Verification {
  /// ‖b − op(A)x‖∞ / (‖op(A)‖∞‖x‖∞ + ‖b‖∞); 0 for b = 0 and x = 0; infinity if x is not finite.
  double backward_error = 0;
  /// max_i |b − op(A)x|_i / (|op(A)||x| + |b|)_i, 0/0 counting as 0.
  /// @source Oettli and Prager, Numer. Math. 6 (1964)
  double componentwise_backward_error = 0;
  int refine_steps = 0;        ///< corrections applied, the most of any column (Krylov steps included)
  double bound = 0;            ///< backward_error must not exceed this for `verified`
  bool verified = false;
  bool stalled = false;        ///< refinement stopped since it no longer helped, above its bound
  std::optional<double> condition_1norm;     ///< estimate of ‖A‖₁‖A⁻¹‖₁, where asked
  std::optional<double> forward_error_bound; ///< of ‖x − x*‖∞/‖x‖∞, where asked
};

/// The bound under which a backward error counts as verified: 90·u, which is 1e-14 in double precision.
double verification_bound(double unit_roundoff);

struct RefineOptions {
  int max_steps = 10;          ///< 0: no correction, only the verification
  bool only_if_needed = true;  ///< stop as soon as the backward error is below the bound; false: until it stops improving
  bool krylov = true;          ///< where plain refinement stalls above the bound, go on with preconditioned GMRES
  double bound = 0;            ///< 0: verification_bound of T
};

/// Improve x until its backward error is at rounding level, and say how wrong it is.
///
/// Residuals are accumulated in twice the working precision (double-double in effect for double), so that the forward
/// error improves as well where the matrix allows it. Each column is refined by itself and keeps its best x. A column that
/// stalls above the bound is handed to GMRES with the inverse as its preconditioner.
/// @param b  n × k; x: n × k, in: a first solution (or zeros), out: the best found
/// @throws DimensionError if sizes differ
/// @cost  a step: 2·nnz flops in extended precision and one apply
/// @source Higham, Accuracy and Stability of Numerical Algorithms (2002), ch. 12; Carson and Higham, SISC 40 (2018) for GMRES
template <class T>
Verification refine(const SparseMatrix<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options = {});

/// Backward errors of x alone; no correction, no apply.
template <class T>
Verification verify(const SparseMatrix<T>& matrix, Operation operation, DenseView<const T> b, DenseView<const T> x,
                    double bound = 0);

/// Estimate ‖A‖₁·‖A⁻¹‖₁ by a few applications of the inverse and its adjoint (a lower bound, nearly always within a factor 3).
/// 0 for n = 0; infinity if the inverse yields what is not finite.
/// @source Higham and Tisseur, SIMAX 21 (2000); Hager, SISSC 5 (1984)
template <class T>
double estimate_condition_1norm(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply);

/// Bound of ‖x − x*‖∞ / ‖x‖∞ for the worst column: an estimate of ‖ |op(A)⁻¹| (|r| + (m+1)·u·(|op(A)||x| + |b|)) ‖∞ / ‖x‖∞
/// with r the residual and m the most entries in a row.
/// @source Arioli, Demmel, Duff, SIMAX 10 (1989); LAPACK xGERFS
template <class T>
double estimate_forward_error(const SparseMatrix<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                              DenseView<const T> b, DenseView<const T> x);

}  // namespace palmette
