// The door of `refine`: A, b and a function "apply the inverse" → a better x and its verification.
// Independent of any solver.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "palmette/matrix/matrix.hpp"
#include "palmette/refine/device_matrix.hpp"

namespace palmette {

/// x ← op(A)⁻¹·x approximately, for all columns, as by a factorization.
template <class T>
using ApplyInverse = std::function<void(Operation operation, DenseView<T> x)>;

/// Errors of a solution. With several right-hand sides, each figure is that of the worst column.
struct Verification {
  /// ‖b − op(A)x‖∞ / (‖op(A)‖∞‖x‖∞ + ‖b‖∞); 0 for b = 0 and x = 0; infinity if x is not finite.
  double backward_error = 0;
  /// max_i |b − op(A)x|_i / (|op(A)||x| + |b|)_i, 0/0 counting as 0. Where the denominator is below (n+1)/u
  /// times the smallest normal number, an absolute error of n+1 of those is tolerated, since x cannot be
  /// stored more accurately.
  /// @source [Oettli and Prager 1964]
  double componentwise_backward_error = 0;
  int refine_steps = 0;        ///< corrections applied, the most of any column (Krylov steps included)
  double bound = 0;            ///< backward_error must not exceed this for `verified`
  bool verified = false;
  bool stalled = false;        ///< refinement stopped making progress above its bound
  std::optional<double> condition_1norm;     ///< estimate of ‖A‖₁‖A⁻¹‖₁, if requested
  std::optional<double> forward_error_bound; ///< of ‖x − x*‖∞/‖x‖∞, if requested
  /// If the matrix proved to be singular to working precision: its distance to a singular matrix, both
  /// equilibrated. Then `verified` is false, whatever the backward error.
  std::optional<double> singular_distance;
  /// how many columns depend on the others, if they were counted
  std::optional<std::int64_t> null_directions;
  /// Least-norm solutions: the backward error of x for the part of b in the range of A; if it is small, x is
  /// a least-squares solution. x is orthogonal to the null vectors by construction.
  std::optional<double> least_squares_error;
};

/// Largest backward error that counts as verified: 90·u, just under 1e-14 in double precision, 5.4e-6 in
/// single. This is above the error of stable elimination with one correction (a few u), and below that of a
/// lost pivot (√u).
double verification_bound(double unit_roundoff);

struct RefineOptions {
  int max_steps = 10;          ///< 0: no correction, only the verification
  /// stop as soon as the backward error is below the bound; false: until it stops improving
  bool only_if_needed = true;
  /// if plain refinement stalls above the bound, continue with preconditioned GMRES
  bool krylov = true;
  double bound = 0;            ///< 0: verification_bound of T
};

/// Improve x until its backward error is at rounding level, and compute its errors.
///
/// Residuals are accumulated in twice the working precision (double-double in effect for double), so that the
/// forward error improves too if the matrix allows it. Each column is refined separately and keeps its best
/// x. A column that stalls above the bound is passed to flexible GMRES with the inverse as its
/// preconditioner: at most 4 cycles of 30 steps, which max_steps does not limit. The input of `apply` has
/// ∞-norm in [½, 1), so that `apply` may work in a lower precision. A column whose b or x is not finite is
/// not changed.
/// @param b  n × k; x: n × k, on entry: a first solution (or zeros), on return: the best found
/// @throws DimensionError if sizes differ or A is not square; whatever `apply` throws
/// @cost  per step: 2·nnz products in extended precision and one apply to the columns that still need it;
///   memory n·(40 bytes + 2 scalars) (complex: 80), n scalars a column to be corrected, GMRES 2·n scalars an
///   iteration
/// @source [Higham 2002], ch. 12; [Carson and Higham 2018] for GMRES
template <class T>
Verification refine(const SparseMatrix<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options = {});

/// The same for a matrix that is distributed over several processes, each with the whole b and x. Every
/// process must call it, with an `apply` that all call together, and all get the same result. x has the same
/// bits as for the whole matrix and the same `apply`.
/// @cost  as above, with the products divided among the processes; a step gathers n residuals of 16 bytes
///   (complex: 24) for each column
template <class T>
Verification refine(const MatrixShare<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options = {});

/// Only the backward errors of x, for a matrix that need not be square; no correction, no apply.
/// @throws DimensionError if sizes differ
/// @cost  per column: nnz products in extended precision
template <class T>
Verification verify(const SparseMatrix<T>& matrix, Operation operation, DenseView<const T> b,
                    DenseView<const T> x, double bound = 0);
template <class T>
Verification verify(const MatrixShare<T>& matrix, Operation operation, DenseView<const T> b,
                    DenseView<const T> x, double bound = 0);

/// x ← op(A)⁻¹·x approximately, of columns on a device, and of columns on the host.
template <class T>
struct DeviceInverse {
  std::function<void(Operation operation, OnDevice<T> x)> there;
  ApplyInverse<T> here;
};

/// The same for vectors that lie on a device, with the residuals, corrections and norms computed there;
/// figures of each column, 24 bytes, come to the host. Residuals have the bits of the host's. Left to the
/// host, which fetches the column: cycles of GMRES, and systems near the ends of the range of double.
/// @throws MemoryError if the device has no room for the work vectors
/// @cost  for up to 64 columns at a time, n·(16 bytes + 2 scalars) of the device's memory each
template <class T>
Verification refine(const DeviceMatrix<T>& matrix, Operation operation, const DeviceInverse<T>& inverse,
                    OnDevice<const T> b, OnDevice<T> x, const RefineOptions& options = {});
template <class T>
Verification verify(const DeviceMatrix<T>& matrix, Operation operation, OnDevice<const T> b,
                    OnDevice<const T> x, double bound = 0);
/// ‖column‖∞ of each; infinity where a value is not finite.
template <class T>
std::vector<double> infinity_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns);
/// max(|re| + |im|)·scale[row] of each column. @param scale  on the device; null: ones
template <class T>
std::vector<double> scaled_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns,
                                 const double* scale = nullptr);

/// Estimate ‖A‖₁·‖A⁻¹‖₁ by a few applications of the inverse and its adjoint (a lower bound, nearly always
/// within a factor 3). 0 for n = 0; infinity if the inverse yields values that are not finite.
/// @source [Higham and Tisseur 2000]; [Hager 1984]
template <class T>
double estimate_condition_1norm(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply);
template <class T>
double estimate_condition_1norm(const MatrixShare<T>& matrix, const ApplyInverse<T>& apply);

/// Bound of ‖x − x*‖∞ / ‖x‖∞ for the worst column: an estimate of ‖ |op(A)⁻¹| (|r| + γ·(|op(A)||x| + |b|)) ‖∞
/// / ‖x‖∞ with r the residual and γ the error bound of its computation: ((m+2)·2⁻⁵³)² in double, (m+2)·2⁻⁵³
/// in float, m the most entries in a row. A and b are taken as exact. Infinity if x is not finite, or if x =
/// 0 and the residual is not 0. Never less than ‖op(A)⁻¹r‖∞ / ‖x‖∞, since the estimate of the first norm is
/// only nearly always sharp.
/// @cost  per column: one residual and about 5 applies to one to three columns
/// @source [Arioli et al. 1989]; xGERFS of [Anderson et al. 1999]
template <class T>
double estimate_forward_error(const SparseMatrix<T>& matrix, Operation operation,
                              const ApplyInverse<T>& apply, DenseView<const T> b, DenseView<const T> x);
template <class T>
double estimate_forward_error(const MatrixShare<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                              DenseView<const T> b, DenseView<const T> x);

}  // namespace palmette
