// A solver owns what it keeps: changing the caller's data afterwards changes no answer.
#include <gtest/gtest.h>

#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::quiet_options;
using testing::some_right_hand_sides;

/// A pointer whose object the test may change, given as a pointer to constant.
std::shared_ptr<SparseMatrix<double>> changeable(const std::string& problem, index_t n) {
  return std::make_shared<SparseMatrix<double>>(*generated<double>(problem, n));
}

template <class AnySolver>
DenseMatrix<double> answer(AnySolver& solver) {
  const DenseMatrix<double> b = some_right_hand_sides<double>(solver.size(), 2);
  DenseMatrix<double> x(solver.size(), 2);
  const Outcome<Report> report = solver.solve(b.view(), x.view());
  EXPECT_TRUE(report.ok() && report.value().verify->verified);
  return x;
}

void scribble(SparseMatrix<double>& matrix) {
  for (double& value : matrix.values) value = -7;
  std::fill(matrix.pattern.row_index.begin(), matrix.pattern.row_index.end(), 0);
}

TEST(ownership, solver_copies_a_matrix_that_somebody_else_can_change) {
  for (const char* problem : {"poisson2d5", "convection_diffusion2d"}) {
    const auto matrix = changeable(problem, 30);
    auto solver = Solver<double>::create(matrix, quiet_options()).value();
    const DenseMatrix<double> before = answer(solver);
    scribble(*matrix);
    EXPECT_EQ(answer(solver).values, before.values) << problem;
    EXPECT_NE(solver.matrix().get(), matrix.get());
  }
}

TEST(ownership, solver_takes_over_a_matrix_that_nobody_else_holds) {
  auto matrix = std::make_shared<SparseMatrix<double>>(*generated<double>("convection_diffusion2d", 12));
  const double* const values = matrix->values.data();
  const auto solver = Solver<double>::create(std::move(matrix), quiet_options()).value();
  EXPECT_EQ(solver.matrix()->values.data(), values);
}

TEST(ownership, refactor_copies_a_matrix_that_somebody_else_can_change) {
  const auto first = generated<double>("convection_diffusion2d", 30);
  auto solver = Solver<double>::create(first, quiet_options()).value();
  const auto second = std::make_shared<SparseMatrix<double>>(*first);
  for (double& value : second->values) value *= 3;
  ASSERT_TRUE(solver.refactor(second).ok());
  const DenseMatrix<double> before = answer(solver);
  scribble(*second);
  EXPECT_EQ(answer(solver).values, before.values);
}

TEST(ownership, values_alone_are_taken_in_the_order_of_the_solvers_matrix) {
  const auto matrix = generated<double>("convection_diffusion2d", 30);
  auto solver = Solver<double>::create(matrix, quiet_options()).value();
  const DenseMatrix<double> one = answer(solver);
  std::vector<double> values = matrix->values;
  for (double& value : values) value *= -2;  // a power of two: x is halved and its sign changes, bit by bit
  ASSERT_TRUE(solver.refactor_values(values).ok());
  DenseMatrix<double> half = answer(solver);
  for (double& value : half.values) value *= -2;
  EXPECT_EQ(half.values, one.values);
  values.pop_back();
  EXPECT_THROW((void)solver.refactor_values(values).ok(), DimensionError);
}

TEST(ownership, triangles_and_factors_are_copied_where_somebody_else_can_change_them) {
  const auto triangle = std::make_shared<SparseMatrix<double>>(
      from_triplets<double>({3, 3, {0, 1, 1, 2, 2}, {0, 0, 1, 1, 2}, {2, 1, 4, 1, 8}}));
  const auto factors = std::make_shared<OwnFactors<double>>();
  factors->lower = *triangle;
  TriangularSolverOptions options;
  options.measure = false;
  auto by_triangle = TriangularSolver<double>::create(triangle, options).value();
  auto by_factors = TriangularSolver<double>::from_factors(factors, nullptr, options).value();
  const DenseMatrix<double> of_triangle = answer(by_triangle), of_factors = answer(by_factors);
  scribble(*triangle);
  scribble(factors->lower);
  EXPECT_EQ(answer(by_triangle).values, of_triangle.values);
  EXPECT_EQ(answer(by_factors).values, of_factors.values);
}

}  // namespace
}  // namespace palmette
