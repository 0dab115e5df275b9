// Given triangles and factors: solved, verified against the given data, rejected if a diagonal entry is zero.
#include <gtest/gtest.h>

#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::matrix_of;
using testing::some_right_hand_sides;

TriangularSolverOptions quiet() {
  TriangularSolverOptions options;
  options.measure = false;
  options.threads = 2;
  return options;
}

TEST(triangular_solver, other_triangle_and_unit_diagonal_are_left_out_of_solution_and_verification) {
  // Only the part [1; 3 1] is used: x = (b1, b2 − 3·b1).
  TriangularSolverOptions options = quiet();
  options.triangle.unit_diagonal = true;
  auto solver = TriangularSolver<double>::create(matrix_of<double>({{7, 100}, {3, 9}}), options).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(2, 1);
  DenseMatrix<double> x(2, 1);
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_TRUE(report.verify->verified);
  EXPECT_FALSE(report.factorize.has_value());
  EXPECT_EQ(x.values[0], b.values[0]);
  EXPECT_NEAR(x.values[1], b.values[1] - 3 * b.values[0], 1e-15);
}

TEST(triangular_solver, missing_diagonal_is_a_failure_that_names_its_row) {
  const auto made =
      TriangularSolver<double>::create(matrix_of<double>({{1, 0, 0}, {1, 0, 0}, {1, 1, 1}}), quiet());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().kind, FailureKind::numerically_singular);
  EXPECT_EQ(made.failure().row, 1);
}

template <class T>
std::shared_ptr<OwnFactors<T>> some_factors() {
  // L·U = [2 1; 4 5] with L = [1; 2 1], U = [2 1; 0 3]; rows exchanged, columns scaled.
  auto factors = std::make_shared<OwnFactors<T>>();
  factors->lower = *matrix_of<T>({{T(1), T(0)}, {T(2), T(1)}});
  factors->upper = *matrix_of<T>({{T(2), T(1)}, {T(0), T(3)}});
  factors->row = Permutation({1, 0});
  factors->column_scale = {0.5, 4};
  return factors;
}

TEST(triangular_solver, given_factors_solve_the_matrix_that_they_stand_for) {
  // S(row[i], j) = (L·U)(i, j), so S = [4 5; 2 1]; A = S·diag(0.5, 4)⁻¹ = [8 1.25; 4 0.25].
  const auto matrix = matrix_of<double>({{8, 1.25}, {4, 0.25}});
  for (const bool with_matrix : {true, false})
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      auto solver = TriangularSolver<double>::from_factors(some_factors<double>(),
                                                           with_matrix ? matrix : nullptr, quiet())
                        .value();
      const DenseMatrix<double> b = some_right_hand_sides<double>(2, 3);
      DenseMatrix<double> x(2, 3);
      SolveRequest request;
      request.operation = operation;
      EXPECT_TRUE(solver.solve(b.view(), x.view(), request).value().verify->verified);
      EXPECT_LE(verify<double>(*matrix, operation, b.view(), std::as_const(x).view()).backward_error, 1e-15);
    }
}

TEST(triangular_solver, verification_without_the_matrix_notices_a_wrong_answer) {
  using C = std::complex<double>;
  // L·Lᴴ against L·Lᵀ: the verification must follow the flag, so both are verified, each in every operation.
  for (const bool hermitian : {true, false})
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      auto factors = std::make_shared<OwnFactors<C>>();
      factors->lower = *matrix_of<C>({{C(2), C(0)}, {C(1, 3), C(1)}});
      factors->hermitian = hermitian;
      auto solver = TriangularSolver<C>::from_factors(factors, nullptr, quiet()).value();
      const DenseMatrix<C> b = some_right_hand_sides<C>(2, 1);
      DenseMatrix<C> x(2, 1);
      SolveRequest request;
      request.operation = operation;
      const Report report = solver.solve(b.view(), x.view(), request).value();
      EXPECT_TRUE(report.verify->verified)
          << hermitian << " " << name_of(operation) << " " << report.verify->backward_error;
    }
}

TEST(triangular_solver, factors_and_matrix_of_different_orders_are_refused) {
  EXPECT_THROW(
      (void)TriangularSolver<double>::from_factors(some_factors<double>(), matrix_of<double>({{1}}), quiet())
          .ok(),
      DimensionError);
}

TEST(triangular_solver,
     ill_conditioned_factors_without_their_matrix_are_solved_as_well_as_substitution_would) {
  // L·U with graded random factors: inverted blocks would lose the digits that substitution keeps.
  std::uint64_t state = 5;
  const auto next = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return double(state >> 11) / double(1ULL << 52) - 1;
  };
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<std::vector<double>> lower(24, std::vector<double>(24)), upper = lower;
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j) {
        if (i > j) lower[i][j] = next();
        if (i < j) upper[i][j] = next();
        if (i == j) lower[i][j] = 1, upper[i][j] = 0.1 + std::abs(next());
      }
    auto factors = std::make_shared<OwnFactors<double>>();
    factors->lower = *matrix_of<double>(lower);
    factors->upper = *matrix_of<double>(upper);
    auto solver = TriangularSolver<double>::from_factors(factors, nullptr, quiet()).value();
    const DenseMatrix<double> b = some_right_hand_sides<double>(24, 1);
    DenseMatrix<double> x(24, 1);
    ASSERT_TRUE(solver.solve(b.view(), x.view()).value().verify->verified) << "trial " << trial;
  }
}

TEST(triangular_solver, absent_and_malformed_matrices_are_misuse) {
  EXPECT_THROW((void)TriangularSolver<double>::create(nullptr, quiet()).ok(), UsageError);
  EXPECT_THROW((void)TriangularSolver<double>::from_factors(nullptr, nullptr, quiet()).ok(), UsageError);
  auto broken = std::make_shared<SparseMatrix<double>>(*matrix_of<double>({{1, 0}, {1, 1}}));
  broken->pattern.row_index[1] = 77;
  EXPECT_THROW((void)TriangularSolver<double>::create(broken, quiet()).ok(), UsageError);
}

}  // namespace
}  // namespace palmette
