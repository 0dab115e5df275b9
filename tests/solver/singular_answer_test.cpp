// Answers to systems with singular matrices.
#include <gtest/gtest.h>

#include <cmath>

#include "singular_systems.hpp"
#include "palmette/solver/null_space.hpp"

namespace palmette {
namespace {

using namespace testing;
using C = std::complex<double>;

Solver<double> solver_of(const Shared<double>& matrix, SingularAnswer singular, int threads = 2) {
  SolverOptions options = quiet_options(threads);
  options.singular = singular;
  return Solver<double>::create(matrix, options).value();
}

TEST(singular_answer, least_norm_of_a_small_system_by_hand) {
  // [1 2; 2 4] = 5·vvᵀ with v = (1, 2)/√5, so A⁺ = vvᵀ/5: for b = (1, 1) vᵀb = 3/√5, x = 3/√5/5·v = (3,
  // 6)/25.
  auto solver = solver_of(matrix_of<double>({{1, 2}, {2, 4}}), SingularAnswer::least_norm);
  const DenseMatrix<double> b = [] { DenseMatrix<double> ones(2, 1); ones.values = {1, 1}; return ones; }();
  DenseMatrix<double> x(2, 1);
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_NEAR(x.values[0], 3.0 / 25, 1e-15);
  EXPECT_NEAR(x.values[1], 6.0 / 25, 1e-15);
  EXPECT_FALSE(report.verify->verified);
  EXPECT_EQ(report.verify->null_directions, 1);
  EXPECT_LT(*report.verify->singular_distance, 1e-15);
  EXPECT_LT(*report.verify->least_squares_error, 1e-15);
  EXPECT_NE(report.notes.front().find("singular to working precision"), std::string::npos);
}

TEST(singular_answer, the_default_fails_and_says_where) {
  auto solver = solver_of(path(30), SingularAnswer::raise);
  const DenseMatrix<double> b = some_right_hand_sides<double>(30, 1);
  DenseMatrix<double> x(30, 1);
  const auto answer = solver.solve(b.view(), x.view());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().kind, FailureKind::numerically_singular);
  EXPECT_GE(answer.failure().column, 0);
}

TEST(singular_answer, the_best_x_is_huge_along_the_null_vector_and_not_verified) {
  auto solver = solver_of(path(30), SingularAnswer::warn);
  const DenseMatrix<double> b = some_right_hand_sides<double>(30, 2);
  DenseMatrix<double> x(30, 2);
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_FALSE(report.verify->verified);
  EXPECT_LE(report.verify->backward_error, report.verify->bound);
  for (index_t j = 0; j < 2; ++j) {
    EXPECT_GT(std::abs(x.view()(0, j)), 1e12);
    for (index_t i = 1; i < 30; ++i) EXPECT_NEAR(x.view()(i, j) / x.view()(0, j), 1, 1e-12);
  }
}

TEST(singular_answer, bits_do_not_depend_on_threads_or_on_earlier_right_hand_sides) {
  const DenseMatrix<double> b = some_right_hand_sides<double>(400, 3);
  DenseMatrix<double> expected(400, 3), x(400, 3);
  auto alone = solver_of(path(400), SingularAnswer::least_norm, 1);
  (void)alone.solve(b.view(), expected.view()).value();
  for (const int threads : {1, 2, 4, 8}) {
    auto solver = solver_of(path(400), SingularAnswer::least_norm, threads);
    (void)solver.solve(b.view().columns(0, 1), x.view().columns(0, 1)).value();
    (void)solver.solve(b.view(), x.view()).value();
    EXPECT_EQ(x.values, expected.values);
  }
}

TEST(singular_answer, refactor_looks_for_null_vectors_anew) {
  auto solver = solver_of(path(20), SingularAnswer::least_norm);
  const DenseMatrix<double> b = some_right_hand_sides<double>(20, 1);
  DenseMatrix<double> x(20, 1);
  EXPECT_FALSE(solver.solve(b.view(), x.view()).value().verify->verified);
  auto pinned = std::make_shared<SparseMatrix<double>>(*path(20));
  pinned->values[0] += 1;
  ASSERT_TRUE(solver.refactor(pinned).ok());
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_TRUE(report.verify->verified);
  EXPECT_FALSE(report.verify->singular_distance);
}

TEST(singular_answer, missing_entries_are_completed_for_the_factorization_only) {
  // Column 2 and row 1 are empty: x₂ is free and 0 in the shortest solution; row 1 cannot be satisfied. What
  // remains: 2·x₀ = 4, 5·x₁ = 10.
  auto solver = solver_of(matrix_of<double>({{2, 0, 0}, {0, 0, 0}, {0, 5, 0}}), SingularAnswer::least_norm);
  DenseMatrix<double> b(3, 1), x(3, 1);
  b.values = {4, 7, 10};
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_NEAR(x.values[0], 2, 1e-14);
  EXPECT_NEAR(x.values[1], 2, 1e-14);
  EXPECT_NEAR(x.values[2], 0, 1e-14);
  EXPECT_EQ(report.factorize->structural_deficiency, 1);
  EXPECT_FALSE(report.verify->verified);
}

TEST(singular_answer, names_are_read_back) {
  for (const SingularAnswer answer :
       {SingularAnswer::raise, SingularAnswer::warn, SingularAnswer::least_norm})
    EXPECT_EQ(singular_answer(name_of(answer)), answer);
  EXPECT_THROW((void)singular_answer("ignore"), UsageError);
}

TEST(thin_basis, singular_vectors_of_a_triangle_by_hand) {
  // [3 0; 4 5]: AᵀA = [25 20; 20 25] has eigenvalues 5 and 45.
  DenseMatrix<double> basis(2, 2), image(2, 2);
  basis.values = {1, 0, 0, 1};
  image.values = {3, 4, 0, 5};
  turn_to_singular_vectors(basis, image);
  EXPECT_NEAR(two_norm<double>(std::as_const(image).view(), 0), std::sqrt(5.0), 1e-14);
  EXPECT_NEAR(two_norm<double>(std::as_const(image).view(), 1), std::sqrt(45.0), 1e-14);
}

TEST(thin_basis, the_inverse_of_a_zero_matrix_is_bounded) {
  DenseMatrix<C> matrix(2, 2);
  matrix.values = {C(0, 2), 0, 0, 1e-9};
  const DenseMatrix<C> inverse = bounded_inverse(matrix, 1e-3);
  EXPECT_NEAR(std::abs(inverse.view()(0, 0) - C(0, -0.5)), 0, 1e-15);
  EXPECT_NEAR(std::abs(inverse.view()(1, 1) - C(1e3)), 0, 1e-9);
}

}  // namespace
}  // namespace palmette
