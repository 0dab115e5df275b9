// A request may allow fewer threads than the solver has.
#include <gtest/gtest.h>

#include "palmette/solver/solver.hpp"

namespace palmette {
namespace {

Solver<double> solver_of(const std::shared_ptr<const SparseMatrix<double>>& matrix, int threads) {
  SolverOptions options;
  options.threads = threads;
  options.method = SolveMethod::sync_free;
  options.measure = false;
  return Solver<double>::create(matrix, options).value();
}

TEST(solve_request, threads_limit_one_solve_and_leave_the_bits) {
  const auto matrix = std::make_shared<const SparseMatrix<double>>(generate({"poisson2d5", 40}));
  Solver<double> solver = solver_of(matrix, 3);
  const std::vector<double> b(1600, 1.0);
  const auto solve = [&](int threads) {
    std::vector<double> x(1600);
    SolveRequest request;
    request.threads = threads;
    const Report report = solver.solve({b.data(), 1600, 1, 1600}, {x.data(), 1600, 1, 1600}, request).value();
    return std::pair(report.solve->threads, x);
  };
  const auto whole = solve(0);
  EXPECT_EQ(whole.first, 3);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const auto& [asked, called] : {std::pair(1, 1), {2, 2}, {3, 3}, {9, 3}})
      EXPECT_EQ(solve(asked), std::pair(called, whole.second));
  EXPECT_THROW(solve(-1), UsageError);
}

TEST(solve_request, threads_limit_one_factorization_too) {
  const auto matrix = std::make_shared<const SparseMatrix<double>>(generate({"poisson3d7", 20}));
  Solver<double> solver = solver_of(matrix, 2);
  EXPECT_EQ(solver.report().factorize->threads, 2);
  ASSERT_TRUE(solver.refactor(matrix, 1));
  EXPECT_EQ(solver.report().factorize->threads, 1);
  ASSERT_TRUE(solver.refactor(matrix));
  EXPECT_EQ(solver.report().factorize->threads, 2);
}

}  // namespace
}  // namespace palmette
