// Eigen's sparse solver concept: the cases that Eigen's own tests of sparse solvers try, on LLT, LDLT and LU.
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "palmette/eigen/eigen.hpp"

#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#else
#include <eigen3/Eigen/Dense>
#endif

namespace {

using Complex = std::complex<double>;
template <class T>
using Sparse = Eigen::SparseMatrix<T>;
template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::VectorXd;

template <class T>
T random_number(std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  if constexpr (palmette::is_complex_v<T>) {
    const double imag = number(random);  // compilers evaluate the arguments of a call in different orders
    return T(number(random), imag);
  } else {
    return T(number(random));
  }
}

/// About four entries a row beside the diagonal, which dominates, with the signs + + − + + −….
template <class T>
Sparse<T> unsymmetric(int n, int seed = 1) {
  std::mt19937 random(seed);
  std::vector<Eigen::Triplet<T>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, T(i % 3 == 2 ? -8 : 8));
    for (int k = 0; k < 4; ++k) entries.emplace_back(i, int(random() % n), random_number<T>(random));
  }
  Sparse<T> A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}
template <class T>
Sparse<T> selfadjoint(int n) {
  const Sparse<T> B = unsymmetric<T>(n);
  return Sparse<T>(B + Sparse<T>(B.adjoint()));
}
template <class T>
Sparse<T> positive(int n) {
  const Sparse<T> B = unsymmetric<T>(n);
  return Sparse<T>(B * Sparse<T>(B.adjoint()));
}

template <class T>
constexpr double tolerance = 200 * palmette::unit_roundoff<T>;

template <class T, class Matrix, class X, class B>
void expect_solution(const Matrix& A, const X& x, const B& b) {
  const Dense<T> residual = Dense<T>(A) * Dense<T>(x) - Dense<T>(b);
  EXPECT_LE(residual.norm(), tolerance<T> * (Dense<T>(A).norm() * Dense<T>(x).norm() + Dense<T>(b).norm()));
}

Vector vector(std::initializer_list<double> values) {
  Vector result(Eigen::Index(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

/// What every solver must do. @param A  the whole matrix; given: what the solver is given of it
template <class Solver, class Given, class Whole>
void expect_concept(const Given& given, const Whole& A) {
  using T = typename Solver::Scalar;
  const int n = int(A.rows());
  const Dense<T> b = Dense<T>::Random(n, 3);
  Solver solver;
  solver.compute(given);
  ASSERT_EQ(solver.info(), Eigen::Success) << solver.lastErrorMessage();
  EXPECT_EQ(solver.rows(), n);
  EXPECT_EQ(solver.cols(), n);
  const Dense<T> x = solver.solve(b);
  expect_solution<T>(A, x, b);
  EXPECT_EQ(solver.info(), Eigen::Success);
  EXPECT_TRUE(solver.report().verify->verified);
  expect_solution<T>(A, solver.solve(b.col(1)).eval(), b.col(1));  // a block of another matrix
  expect_solution<T>(A, solver.solve(b.leftCols(2) * T(2)).eval(), 2 * b.leftCols(2));  // an expression
  Dense<T> in_place = b;
  in_place = solver.solve(in_place);
  EXPECT_EQ(in_place, x);
  Sparse<T> sparse_b(n, 6);
  for (int j = 0; j < 6; ++j) sparse_b.insert((7 * j) % n, j) = T(j + 1);
  const Sparse<T> sparse_x = solver.solve(sparse_b);
  expect_solution<T>(A, sparse_x, sparse_b);
  const Eigen::SparseVector<T> vector_b = sparse_b.col(2);
  const Eigen::SparseVector<T> vector_x = solver.solve(vector_b);
  expect_solution<T>(A, vector_x, vector_b);

  Given changed = given;
  for (int k = 0; k < changed.outerSize(); ++k)
    for (typename Given::InnerIterator entry(changed, k); entry; ++entry)
      if (entry.row() == entry.col()) entry.valueRef() *= T(2);
  Whole changed_whole = A;
  for (int i = 0; i < n; ++i) changed_whole.coeffRef(i, i) *= T(2);
  Solver apart;
  apart.analyzePattern(given);
  EXPECT_EQ(apart.info(), Eigen::Success);
  apart.factorize(given);
  EXPECT_EQ(Dense<T>(apart.solve(b)), x);
  apart.factorize(changed);
  EXPECT_EQ(apart.info(), Eigen::Success);
  expect_solution<T>(changed_whole, apart.solve(b).eval(), b);
}

/// Over det = sign·e^logarithm of the dense matrix.
template <class T, class Whole>
double determinant_error(T found, const Whole& A) {
  const T expected = Dense<T>(A).determinant();
  return std::abs(found - expected) / std::abs(expected);
}

TEST(PalmetteForEigen, llt_satisfies_the_concept_from_either_triangle) {
  const auto A = positive<double>(40);
  using Lower = palmette::eigen::LLT<Sparse<double>>;
  using Upper = palmette::eigen::LLT<Sparse<double>, Eigen::Upper>;
  expect_concept<Lower>(A, A);
  expect_concept<Lower>(Sparse<double>(A.triangularView<Eigen::Lower>()), A);
  expect_concept<Upper>(Sparse<double>(A.triangularView<Eigen::Upper>()), A);
  EXPECT_LE(determinant_error<double>(Lower(A).determinant(), A), 1e-12);
}

TEST(PalmetteForEigen, ldlt_satisfies_the_concept_for_indefinite_matrices) {
  const auto A = selfadjoint<double>(41);
  using Solver = palmette::eigen::LDLT<Sparse<double>>;
  expect_concept<Solver>(Sparse<double>(A.triangularView<Eigen::Lower>()), A);
  const Solver solver(A);
  EXPECT_LE(determinant_error<double>(solver.determinant(), A), 1e-12);
  EXPECT_EQ(solver.inertia().negative, 13);  // strictly diagonally dominant: the signs of the diagonal
  EXPECT_EQ(solver.inertia().positive, 28);
}

TEST(PalmetteForEigen, ldlt_pivots_where_the_diagonal_is_zero) {
  Sparse<double> A(2, 2);
  A.insert(0, 1) = A.insert(1, 0) = 1;
  const palmette::eigen::LDLT<Sparse<double>> solver(A);
  EXPECT_EQ(Vector(solver.solve(vector({3, 5}))), vector({5, 3}));
}

TEST(PalmetteForEigen, lu_satisfies_the_concept_in_both_storage_orders_and_index_types) {
  const auto A = unsymmetric<double>(40);
  expect_concept<palmette::eigen::LU<Sparse<double>>>(A, A);
  using ByRows = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;
  expect_concept<palmette::eigen::LU<ByRows>>(ByRows(A), A);
  const palmette::eigen::LU<Sparse<double>> solver(A);
  EXPECT_LE(determinant_error<double>(solver.determinant(), A), 1e-12);
  EXPECT_NEAR(solver.signDeterminant() * solver.absDeterminant() / solver.determinant(), 1, 1e-12);
  EXPECT_NEAR(solver.logAbsDeterminant(), std::log(std::abs(solver.determinant())), 1e-12);
}

TEST(PalmetteForEigen, complex_matrices_are_adjoint_where_they_should_be) {
  const auto A = unsymmetric<Complex>(30);
  expect_concept<palmette::eigen::LU<Sparse<Complex>>>(A, A);
  const auto H = selfadjoint<Complex>(30);
  expect_concept<palmette::eigen::LDLT<Sparse<Complex>, Eigen::Upper>>(
      Sparse<Complex>(H.triangularView<Eigen::Upper>()), H);
  const palmette::eigen::LU<Sparse<Complex>> solver(A);
  EXPECT_LE(determinant_error<Complex>(solver.determinant(), A), 1e-12);
  const Dense<Complex> b = Dense<Complex>::Random(30, 2);
  expect_solution<Complex>(Sparse<Complex>(A.transpose()), solver.transpose().solve(b).eval(), b);
  expect_solution<Complex>(Sparse<Complex>(A.adjoint()), solver.adjoint().solve(b).eval(), b);
  const Sparse<Complex> sparse_b = Dense<Complex>(b).sparseView();
  const Sparse<Complex> sparse_x = solver.adjoint().solve(sparse_b);
  expect_solution<Complex>(Sparse<Complex>(A.adjoint()), sparse_x, b);
}

TEST(PalmetteForEigen, an_uncompressed_matrix_is_read_as_it_is) {
  Sparse<double> A(3, 3);
  A.reserve(std::vector<int>{3, 3, 3});
  A.insert(2, 0) = 2, A.insert(0, 0) = 1, A.insert(1, 1) = 4, A.insert(2, 2) = 5;
  ASSERT_FALSE(A.isCompressed());
  const Vector x = palmette::eigen::LU<Sparse<double>>(A).solve(vector({1, 8, 12}));
  EXPECT_EQ(x, vector({1, 2, 2}));
}

TEST(PalmetteForEigen, one_solver_takes_matrices_of_different_sizes_and_of_none) {
  palmette::eigen::LU<Sparse<double>> solver;
  for (const int n : {30, 7, 1, 0, 12}) {
    const auto A = n == 0 ? Sparse<double>(0, 0) : unsymmetric<double>(n);
    ASSERT_EQ(solver.compute(A).info(), Eigen::Success) << n;
    const Vector b = Vector::Ones(n);
    expect_solution<double>(A, solver.solve(b).eval(), b);
  }
}

TEST(PalmetteForEigen, failures_are_told_by_info_and_leave_no_solution) {
  Sparse<double> A = positive<double>(5);
  A.coeffRef(3, 3) = -1;
  const palmette::eigen::LLT<Sparse<double>> indefinite(A);
  EXPECT_EQ(indefinite.info(), Eigen::NumericalIssue);
  EXPECT_NE(indefinite.lastErrorMessage().find("positive"), std::string::npos)
      << indefinite.lastErrorMessage();
  EXPECT_TRUE(std::isnan(Vector(indefinite.solve(Vector::Ones(5)))(0)));
  palmette::eigen::LLT<Sparse<double>> again(positive<double>(5));
  EXPECT_EQ(again.info(), Eigen::Success);
  again.factorize(A);  // the same pattern, without a new analysis
  EXPECT_EQ(again.info(), Eigen::NumericalIssue);
  Sparse<double> singular(2, 2);
  singular.insert(0, 0) = singular.insert(1, 0) = 1;
  palmette::eigen::LU<Sparse<double>> solver(singular);
  EXPECT_EQ(solver.info(), Eigen::NumericalIssue);
  singular.insert(0, 1) = singular.insert(1, 1) = 1;
  EXPECT_EQ(solver.compute(singular).info(), Eigen::NumericalIssue);
  A.coeffRef(3, 3) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(solver.compute(A).info(), Eigen::InvalidInput);
  EXPECT_EQ(solver.compute(positive<double>(5)).info(), Eigen::Success);
}

}  // namespace
