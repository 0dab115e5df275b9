// Inside `solver`: A = M + U·Vᵀ with a kept inverse of M and k columns in U and V. The k × k capacitance
// matrix S = I + Vᵀ·M⁻¹·U turns solves with M into solves with A, and shows how many eigenvalues of a
// Hermitian A differ in sign from those of M.
#pragma once

#include "palmette/refine/refine.hpp"
#include "palmette/solver/whole_or_share.hpp"

namespace palmette {

/// U and V, both n × k.
template <class T>
struct LowRankChange {
  SparseMatrix<T> u, v;

  index_t rank() const { return u.cols(); }
};

/// M, of which `apply` is the inverse up to rounding. Refers to the caller's objects. Of a share, every
/// process has the same U and V, and gets the same Z and S.
template <class T>
struct KeptMatrix {
  WholeOrShare<T> matrix;
  const ApplyInverse<T>& apply;
  /// false: M is `matrix`; true: `matrix` is A, and M = A − U·Vᵀ
  bool matrix_is_changed = false;
};

/// What Capacitance::make costs, known before it starts.
struct CapacitanceCost {
  double flops = 0;
  offset_t memory_bytes = 0;
};
/// @param solve_flops  of one solve with M, in real flops @param nnz  of M
template <class T>
CapacitanceCost predicted_capacitance_cost(index_t n, offset_t nnz, index_t rank, double solve_flops);

template <class T>
class Capacitance {
 public:
  /// Solve for Z = M⁻¹·U, correct it once, and form S.
  /// @cost  see predicted_capacitance_cost: three times k solves with M, and 6·k²·n flops
  static Capacitance make(const KeptMatrix<T>& kept, LowRankChange<T> change);

  index_t rank() const { return s_.cols; }
  /// The largest correction of a column of Z, relative to the column, and that of a vector without pattern.
  /// An estimate of ‖I − F⁻¹·M‖ for the factored matrix F: if that is below 1, every matrix between M and F
  /// is regular, so both have the same inertia. A direction that neither contains is not seen.
  double contraction() const { return contraction_; }
  /// S is singular as far as its entries tell.
  bool is_singular() const { return singular_; }
  /// 1 / (‖S‖₁·‖S⁻¹‖₁); 0 if S is singular.
  double reciprocal_condition() const { return reciprocal_condition_; }
  const DenseMatrix<T>& matrix() const { return s_; }

  /// x ← op(A)⁻¹·x. S must not be singular. @param apply  x ← op(M)⁻¹·x
  /// @cost  one solve with M and 4·n·k flops a column @source [Golub and Van Loan 2013], §2.1.4
  void solve(Operation operation, const ApplyInverse<T>& apply, DenseView<T> x) const;

  /// Numbers of eigenvalues of a Hermitian matrix that are positive and negative by more than the bound.
  struct Signs {
    index_t positive = 0;
    index_t negative = 0;
    double bound = 0;  ///< of the errors of the eigenvalues; the others are closer to zero than this
  };
  /// Those of S·sign, if U = −V·sign, V is real and M is Hermitian, by one more solve with k columns.
  ///
  /// With U = M·Z + R, S = I + Vᵀ·Z − sign·Zᴴ·R − sign·Rᴴ·M⁻¹·R: the last term, the rounding of R and that of
  /// the products bound the error.
  /// @param sign  length k: 1 or −1
  Signs signs(const KeptMatrix<T>& kept, const std::vector<int>& sign);

 private:
  explicit Capacitance(LowRankChange<T> change) : change_(std::move(change)) {}
  void solve_for_columns(const KeptMatrix<T>& kept);
  void correct(const KeptMatrix<T>& kept);
  void estimate_errors(const KeptMatrix<T>& kept);
  void invert();

  LowRankChange<T> change_;
  DenseMatrix<T> z_;  // n × k
  DenseMatrix<T> s_, s_inverse_;
  DenseMatrix<T> first_;   // k × k: Zᴴ·R
  DenseMatrix<T> second_;  // k × k: Rᴴ·M⁻¹·R
  double rounding_ = 0;    // norm of what the rounding of R may change in Zᴴ·R
  double contraction_ = 0;
  double reciprocal_condition_ = 0;
  bool singular_ = false;
};

/// Signs of the eigenvalues of a Hermitian matrix that is known up to `error` in the 2-norm, by the pivots of
/// LDLᴴ of the matrix shifted both ways.
template <class T>
typename Capacitance<T>::Signs count_signs(const DenseMatrix<T>& hermitian, double error);

}  // namespace palmette
