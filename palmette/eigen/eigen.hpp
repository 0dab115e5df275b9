// The door of `eigen`: LLT, LDLT and LU with the interface of Eigen's sparse direct solvers, so that a user
// of Eigen changes one type. Needs Eigen 3.3 or later; the rest of the library does not.
#pragma once

#if __has_include(<Eigen/SparseCore>)
#include <Eigen/SparseCore>
#elif __has_include(<eigen3/Eigen/SparseCore>)
#include <eigen3/Eigen/SparseCore>
#else
#error "palmette::eigen needs Eigen 3.3 or later: install it, or add its folder to the include path"
#endif

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "palmette/solver/solver.hpp"

namespace palmette::eigen {

/// What LLT, LDLT and LU share: Eigen's sparse solver concept over a Solver.
///
/// analyzePattern remembers the pattern; the first factorize orders, analyzes and factorizes, later ones with
/// the same pattern only factorize. Solutions are refined and verified: see report. Exceptions of the library
/// about values become info() == Eigen::InvalidInput, numerical failures Eigen::NumericalIssue, with a
/// sentence in lastErrorMessage(). A solution that there is none of consists of NaNs.
/// @tparam Derived  the class of the user
template <class Derived>
class DirectSolver : public Eigen::SparseSolverBase<Derived> {
 protected:
  using Base = Eigen::SparseSolverBase<Derived>;
  using Base::derived;
  using Base::m_isInitialized;

 public:
  using Base::_solve_impl;
  using MatrixType = typename Eigen::internal::traits<Derived>::MatrixType;
  using Scalar = typename MatrixType::Scalar;
  using RealScalar = typename MatrixType::RealScalar;
  using StorageIndex = typename MatrixType::StorageIndex;
  enum {
    ColsAtCompileTime = MatrixType::ColsAtCompileTime,
    MaxColsAtCompileTime = MatrixType::MaxColsAtCompileTime
  };

  Eigen::Index rows() const { return size_; }
  Eigen::Index cols() const { return size_; }
  /// Of the last factorization or solve.
  Eigen::ComputationInfo info() const {
    eigen_assert(m_isInitialized && "compute the factorization first");
    return info_;
  }
  const std::string& lastErrorMessage() const { return message_; }

  Derived& compute(const MatrixType& matrix) {
    analyzePattern(matrix);
    factorize(matrix);
    return derived();
  }
  void analyzePattern(const MatrixType& matrix) {
    eigen_assert(matrix.rows() == matrix.cols() && "a direct solver needs a square matrix");
    solver_ = nullptr;
    size_ = matrix.rows();
    say(Eigen::Success, "");
    m_isInitialized = true;
  }
  void factorize(const MatrixType& matrix) {
    eigen_assert(m_isInitialized && "call analyzePattern first");
    try {
      factorize_copy(matrix_of(derived().full(matrix)));
    } catch (const UsageError& error) {
      solver_ = nullptr;
      say(Eigen::InvalidInput, error.what());
    }
  }

  /// Options of the next analysis: threads, ordering, device, …
  SolverOptions& options() { return options_; }
  /// Of the last solve.
  const Report& report() const { return report_; }
  /// The solver behind it; null before the first factorization, and after one that failed.
  const std::shared_ptr<Solver<Scalar>>& solver() const { return solver_; }

  template <class Rhs, class Dest>
  void _solve_impl(const Eigen::MatrixBase<Rhs>& b, Eigen::MatrixBase<Dest>& x) const {
    solve_turned(Operation::plain, b, x);
  }

 protected:
  explicit DirectSolver(FactorKind kind) {
    options_.kind = kind;
    options_.measure = false;
  }
  /// Rows of x ← op(A)⁻¹·b.
  template <class Rhs, class Dest>
  void solve_turned(Operation operation, const Eigen::MatrixBase<Rhs>& b, Eigen::MatrixBase<Dest>& x) const {
    using Columns = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    const Columns given = b;
    Columns found =
        Columns::Constant(given.rows(), given.cols(), std::numeric_limits<RealScalar>::quiet_NaN());
    if (solver_ != nullptr) {
      const auto n = static_cast<index_t>(given.rows()), k = static_cast<index_t>(given.cols());
      SolveRequest request;
      request.operation = operation;
      try {
        const Outcome<Report> solved =
            solver_->solve(DenseView<const Scalar>{given.data(), n, k, n}, {found.data(), n, k, n}, request);
        if (solved)
          say(Eigen::Success, ""), report_ = solved.value();
        else
          say(Eigen::NumericalIssue, solved.failure().message);
      } catch (const UsageError& error) {
        say(Eigen::InvalidInput, error.what());
      }
    }
    x.derived() = found;
  }
  /// Sign and logarithm of the modulus. NaN if there is no factorization.
  std::pair<Scalar, RealScalar> slogdet() const {
    constexpr RealScalar unknown = std::numeric_limits<RealScalar>::quiet_NaN();
    if (solver_ == nullptr) return {Scalar(unknown), unknown};
    const auto [sign, logarithm] = solver_->slogdet();
    if constexpr (is_complex_v<Scalar>)
      return {Scalar(RealScalar(sign.real()), RealScalar(sign.imag())), RealScalar(logarithm)};
    else
      return {Scalar(sign.real()), RealScalar(logarithm)};
  }

 private:
  using Whole = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, index_t>;

  static SparseMatrix<Scalar> matrix_of(Whole whole) {
    whole.makeCompressed();
    const auto n = static_cast<index_t>(whole.rows());
    SparseMatrix<Scalar> copy;
    copy.pattern.rows = copy.pattern.cols = n;
    copy.pattern.column_ptr.assign(whole.outerIndexPtr(), whole.outerIndexPtr() + n + 1);
    copy.pattern.row_index.assign(whole.innerIndexPtr(), whole.innerIndexPtr() + whole.nonZeros());
    copy.values.assign(whole.valuePtr(), whole.valuePtr() + whole.nonZeros());
    if (Derived::is_selfadjoint)
      copy.symmetry = is_complex_v<Scalar> ? Symmetry::hermitian : Symmetry::symmetric;
    return copy;
  }

  void factorize_copy(SparseMatrix<Scalar> matrix) {
    size_ = matrix.rows();
    auto shared = std::make_shared<const SparseMatrix<Scalar>>(std::move(matrix));
    if (solver_ != nullptr && solver_->matrix()->pattern.column_ptr == shared->pattern.column_ptr &&
        solver_->matrix()->pattern.row_index == shared->pattern.row_index) {
      const Outcome<void> again = solver_->refactor(std::move(shared));
      if (!again) return fail(again.failure());
    } else {
      auto made = Solver<Scalar>::create(std::move(shared), options_);
      if (!made) return fail(made.failure());
      solver_ = std::make_shared<Solver<Scalar>>(std::move(made).value());
    }
    if (size_ > 0 && solver_->slogdet().first == 0.0)
      say(Eigen::NumericalIssue, "the matrix is singular");
    else
      say(Eigen::Success, "");
  }

  void fail(const NumericalFailure& failure) {
    solver_ = nullptr;
    say(Eigen::NumericalIssue, failure.message);
  }
  void say(Eigen::ComputationInfo info, std::string message) const {
    info_ = info;
    message_ = std::move(message);
  }

  SolverOptions options_;
  std::shared_ptr<Solver<Scalar>> solver_;
  Eigen::Index size_ = 0;
  mutable Eigen::ComputationInfo info_ = Eigen::Success;
  mutable std::string message_;
  mutable Report report_;
};

/// The two factorizations of self-adjoint matrices; only the triangle UpLo, Eigen's name, is read.
template <class Derived>
class SelfAdjointSolver : public DirectSolver<Derived> {
 public:
  using typename DirectSolver<Derived>::MatrixType;
  using typename DirectSolver<Derived>::Scalar;
  using typename DirectSolver<Derived>::RealScalar;
  static constexpr bool is_selfadjoint = true;

  /// Real, also of a complex matrix.
  Scalar determinant() const {
    const auto [sign, logarithm] = this->slogdet();
    return sign * std::exp(logarithm);
  }
  RealScalar logAbsDeterminant() const { return this->slogdet().second; }
  /// Numbers of positive and negative eigenvalues. @throws UsageError before a factorization
  Inertia inertia() const {
    if (this->solver() == nullptr) throw UsageError("there is no factorization: call compute first");
    return this->solver()->inertia();
  }
  static Eigen::SparseMatrix<Scalar, Eigen::ColMajor, index_t> full(const MatrixType& matrix) {
    // Eigen writes a view only into a matrix with the same type of indices.
    using Same = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, typename MatrixType::StorageIndex>;
    return Same(matrix.template selfadjointView<Derived::UpLo>());
  }

 protected:
  using DirectSolver<Derived>::DirectSolver;
};

template <class MatrixType, int Triangle>
class LLT;
template <class MatrixType, int Triangle>
class LDLT;
template <class MatrixType>
class LU;

}  // namespace palmette::eigen

namespace Eigen::internal {
template <class Matrix, int Triangle>
struct traits<palmette::eigen::LLT<Matrix, Triangle>> {
  using MatrixType = Matrix;
};
template <class Matrix, int Triangle>
struct traits<palmette::eigen::LDLT<Matrix, Triangle>> {
  using MatrixType = Matrix;
};
template <class Matrix>
struct traits<palmette::eigen::LU<Matrix>> {
  using MatrixType = Matrix;
};
}  // namespace Eigen::internal

namespace palmette::eigen {

/// L·Lᴴ of a positive definite matrix, in place of Eigen::SimplicialLLT.
template <class MatrixType, int Triangle = Eigen::Lower>
class LLT : public SelfAdjointSolver<LLT<MatrixType, Triangle>> {
 public:
  static constexpr int UpLo = Triangle;
  LLT() : SelfAdjointSolver<LLT>(FactorKind::llt) {}
  explicit LLT(const MatrixType& matrix) : LLT() { this->compute(matrix); }
};

/// L·D·Lᴴ of a self-adjoint matrix, definite or not, in place of Eigen::SimplicialLDLT, which does not pivot.
template <class MatrixType, int Triangle = Eigen::Lower>
class LDLT : public SelfAdjointSolver<LDLT<MatrixType, Triangle>> {
 public:
  static constexpr int UpLo = Triangle;
  LDLT() : SelfAdjointSolver<LDLT>(FactorKind::ldlt) {}
  explicit LDLT(const MatrixType& matrix) : LDLT() { this->compute(matrix); }
};

/// What transpose() and adjoint() of a solver return: Eigen's sparse solver concept without compute.
template <class Of>
class Turned : public Eigen::SparseSolverBase<Turned<Of>> {
 public:
  using Eigen::SparseSolverBase<Turned>::_solve_impl;
  using MatrixType = typename Of::MatrixType;
  using Scalar = typename Of::Scalar;
  using StorageIndex = typename Of::StorageIndex;
  enum {
    ColsAtCompileTime = MatrixType::ColsAtCompileTime,
    MaxColsAtCompileTime = MatrixType::MaxColsAtCompileTime
  };
  Turned(const Of& of, Operation operation) : of_(of), operation_(operation) { this->m_isInitialized = true; }
  Eigen::Index rows() const { return of_.rows(); }
  Eigen::Index cols() const { return of_.cols(); }
  template <class Rhs, class Dest>
  void _solve_impl(const Eigen::MatrixBase<Rhs>& b, Eigen::MatrixBase<Dest>& x) const {
    of_.solve_turned(operation_, b, x);
  }

 private:
  const Of& of_;
  Operation operation_;
};

/// L·U of any square matrix, in place of Eigen::SparseLU.
template <class MatrixType>
class LU : public DirectSolver<LU<MatrixType>> {
 public:
  using typename DirectSolver<LU>::Scalar;
  using typename DirectSolver<LU>::RealScalar;
  static constexpr bool is_selfadjoint = false;
  LU() : DirectSolver<LU>(FactorKind::lu) {}
  explicit LU(const MatrixType& matrix) : LU() { this->compute(matrix); }

  Scalar determinant() const {
    const auto [sign, logarithm] = this->slogdet();
    return sign * std::exp(logarithm);
  }
  RealScalar absDeterminant() const { return std::exp(this->slogdet().second); }
  RealScalar logAbsDeterminant() const { return this->slogdet().second; }
  Scalar signDeterminant() const { return this->slogdet().first; }

  /// solve(b) of these is Aᵀ⁻¹·b and Aᴴ⁻¹·b, by the same factors; they must not outlive the solver.
  Turned<LU> transpose() const { return {*this, Operation::transpose}; }
  Turned<LU> adjoint() const { return {*this, Operation::adjoint}; }
  static Eigen::SparseMatrix<Scalar, Eigen::ColMajor, index_t> full(const MatrixType& matrix) {
    return Eigen::SparseMatrix<Scalar, Eigen::ColMajor, index_t>(matrix);
  }

 private:
  friend class Turned<LU>;
};

}  // namespace palmette::eigen
