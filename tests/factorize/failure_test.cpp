// What stops a factorization: misuse throws, numerical failure is a value, and both name the place.
#include <gtest/gtest.h>

#include <thread>

#include "tests/factorize/factor_testing.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

SparseMatrix<double> with_diagonal(SparseMatrix<double> matrix, index_t at, double value) {
  for (offset_t entry = matrix.pattern.column_ptr[at]; entry < matrix.pattern.column_ptr[at + 1]; ++entry)
    if (matrix.pattern.row_index[entry] == at) matrix.values[entry] = value;
  return matrix;
}

TEST(factorize_failure, llt_of_a_negative_diagonal_names_its_column_and_the_remedy) {
  // A negative diagonal entry makes the pivot of its own column negative, since updates only lower it.
  for (const index_t bad : {0, 57, 99}) {
    const auto matrix = with_diagonal(generate({"poisson2d5", 10}), bad, -1);
    const auto outcome = Problem<double>(matrix, FactorKind::llt).factored(FactorKind::llt);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure().kind, FailureKind::not_positive_definite);
    EXPECT_EQ(outcome.failure().column, bad);
    EXPECT_EQ(outcome.failure().row, bad);
    EXPECT_GE(outcome.failure().supernode, 0);
    EXPECT_NE(outcome.failure().message.find("column " + std::to_string(bad + 1)), std::string::npos);
    EXPECT_NE(outcome.failure().message.find("ldlt"), std::string::npos);
  }
}

TEST(factorize_failure, the_failure_of_several_bad_pivots_does_not_depend_on_the_threads) {
  SparseMatrix<double> matrix = generate({"poisson3d7", 18});
  for (const index_t bad : {100, 1500, 2500, 4000, 5800}) matrix = with_diagonal(std::move(matrix), bad, -1);
  const Problem<double> problem(matrix, FactorKind::llt);
  const auto alone = problem.factored(FactorKind::llt);
  ASSERT_FALSE(alone.ok());
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const int threads : {2, 5}) {
      ThreadTeam team(threads);
      const auto outcome = problem.factored(FactorKind::llt, 0, &team);
      ASSERT_FALSE(outcome.ok());
      EXPECT_EQ(outcome.failure().column, alone.failure().column);
      EXPECT_EQ(outcome.failure().supernode, alone.failure().supernode);
    }
}

TEST(factorize_failure, nan_in_the_matrix_is_not_finite_for_every_kind) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    for (const double poison :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const Problem<double> problem(generate({"poisson2d5", 9}), kind);
      for (const offset_t entry : {offset_t(0), problem.matrix.nnz() / 2, problem.matrix.nnz() - 1}) {
        SparseMatrix<double> matrix = problem.matrix;
        // Both mirror images, since LLᵀ and LDLᵀ read only one of them.
        const index_t row = matrix.pattern.row_index[entry];
        index_t column = 0;
        while (matrix.pattern.column_ptr[column + 1] <= entry) ++column;
        for (const auto& [i, j] : {std::pair(row, column), std::pair(column, row)})
          for (offset_t at = matrix.pattern.column_ptr[j]; at < matrix.pattern.column_ptr[j + 1]; ++at)
            if (matrix.pattern.row_index[at] == i) matrix.values[at] = poison;
        FactorizeOptions options;
        options.kind = kind;
        const auto outcome = factorize(matrix, problem.symbolic, problem.ordering, options);
        ASSERT_FALSE(outcome.ok());
        EXPECT_EQ(outcome.failure().kind, FailureKind::not_finite);
        EXPECT_GE(outcome.failure().column, 0);
      }
    }
}

TEST(factorize_failure, the_zero_matrix_is_numerically_singular) {
  SparseMatrix<double> matrix = generate({"poisson2d5", 3});
  const Problem<double> problem(matrix, FactorKind::llt);
  std::fill(matrix.values.begin(), matrix.values.end(), 0.0);
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu}) {
    FactorizeOptions options;
    options.kind = kind;
    const auto outcome = factorize(matrix, problem.symbolic, problem.ordering, options);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure().kind, FailureKind::numerically_singular);
  }
  const auto outcome = factorize(matrix, problem.symbolic, problem.ordering, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().kind, FailureKind::not_positive_definite);
}

TEST(factorize_failure, sizes_that_differ_are_refused_naming_both) {
  const Problem<double> problem(generate({"poisson2d5", 3}), FactorKind::llt);
  try {
    (void)factorize(generate({"poisson2d5", 4}), problem.symbolic, problem.ordering, {});
    FAIL() << "no exception";
  } catch (const DimensionError& error) {
    EXPECT_NE(std::string(error.what()).find("16"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("9"), std::string::npos);
  }
  Ordering ordering = problem.ordering;
  ordering.row_scale = {1, 2};
  EXPECT_THROW((void)factorize(problem.matrix, problem.symbolic, ordering, {}), DimensionError);
  EXPECT_THROW((void)factorize(problem.matrix, nullptr, problem.ordering, {}), UsageError);
}

TEST(factorize_failure, memory_that_is_not_to_be_had_is_said) {
#if defined(PALMETTE_ADDRESS_SANITIZER) || defined(PALMETTE_THREAD_SANITIZER)
  GTEST_SKIP() << "sanitizers end the program when an allocation is that large";
#endif
  // A structure that claims 2⁵⁵ panel entries: 2⁵⁸ bytes, more than any address space of today.
  Problem<double> problem(generate({"poisson2d5", 3}), FactorKind::llt);
  SymbolicFactor huge = *problem.symbolic;
  huge.panel_offset.back() = offset_t(1) << 55;
  try {
    (void)factorize(problem.matrix, std::make_shared<const SymbolicFactor>(huge), problem.ordering, {});
    FAIL() << "no exception";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.requested_bytes(), std::int64_t(1) << 58);
  }
}

TEST(factorize_failure, progress_is_told_to_the_caller_and_may_stop_the_run) {
  const Problem<double> problem(generate({"poisson3d7", 14}), FactorKind::llt);
  ThreadTeam team(3);
  const auto caller = std::this_thread::get_id();
  FactorizeOptions options;
  options.team = &team;
  double last = 0;
  options.progress = [&](std::string_view phase, double fraction) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(phase, "factorize");
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1);
    last = fraction;
  };
  ASSERT_TRUE(factorize(problem.matrix, problem.symbolic, problem.ordering, options).ok());
  struct Stop {};
  options.team = nullptr;
  options.progress = [](std::string_view, double) { throw Stop(); };
  EXPECT_THROW((void)factorize(problem.matrix, problem.symbolic, problem.ordering, options), Stop);
}

}  // namespace
}  // namespace palmette
