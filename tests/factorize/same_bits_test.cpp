// The bits of a factor do not depend on the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/factorize/factor_testing.hpp"
#include "tests/factorize/same_factor.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
void compare_threads(const std::string& problem_name, index_t n, FactorKind kind) {
  const Problem<T> problem(convert<T>(generate({problem_name, n})), kind);
  const FactorizationTasks tasks = factorization_tasks(*problem.symbolic, place(*problem.symbolic), kind);
  ASSERT_GT(tasks.graph.num_tasks(), tasks.partition.num_groups())
      << "no panel above the subtrees: the test is empty";
  const auto alone = problem.factored(kind).value();
  for (const int threads : {1, 2, 3, 5, 8}) {
    ThreadTeam team(threads);
    expect_same_factor(problem.factored(kind, 0, &team).value(), alone);
  }
}

/// The same values, then others, then the same again, in reused memory: the bits are those of new memory, and
/// the addresses stay the same.
void compare_again(const std::string& problem_name, index_t n, FactorKind kind) {
  const Problem<double> problem(generate({problem_name, n}), kind);
  SparseMatrix<double> other = problem.matrix;
  for (double& value : other.values) value *= 0.75;
  const auto expected = problem.factored(kind).value();
  for (const int threads : {1, 3}) {
    ThreadTeam team(threads);
    FactorizeOptions options;
    options.kind = kind;
    options.team = &team;
    FactorizeMemory<double> memory;
    const auto factored = [&](const SparseMatrix<double>& matrix) {
      return factorize_again(memory, matrix, problem.symbolic, problem.ordering, options).value();
    };
    auto first = factored(problem.matrix);
    const double* const place = first->lower.data();
    first.reset();
    const auto second = factored(other);
    EXPECT_EQ(second->lower.data(), place) << "the memory of a factor that nobody reads was not used again";
    const auto third = factored(problem.matrix);
    EXPECT_NE(third->lower.data(), place) << "a factor that is still read was written over";
    expect_same_factor(*third, expected);
    EXPECT_NE(second->pivots.log_abs_determinant, third->pivots.log_abs_determinant);
  }
}

TEST(same_bits, factors_in_kept_memory_are_those_in_fresh_memory) {
  compare_again("poisson2d9", 90, FactorKind::llt);  // with panels that are cut into chunks
  compare_again("kkt3d", 6, FactorKind::ldlt);
  compare_again("convection_diffusion3d", 10, FactorKind::lu);
}

TEST(same_bits, kept_memory_survives_a_failure_and_another_structure) {
  FactorizeMemory<double> memory;
  const Problem<double> square(generate({"poisson2d5", 9}), FactorKind::llt),
      cube(generate({"poisson3d7", 5}), FactorKind::llt);
  SparseMatrix<double> negative = square.matrix;
  for (double& value : negative.values) value = -value;
  for (const Problem<double>* problem : {&square, &cube, &square}) {
    const auto expected = problem->factored(FactorKind::llt).value();
    EXPECT_EQ(factorize_again(memory, negative, square.symbolic, square.ordering, {}).failure().kind,
              FailureKind::not_positive_definite);
    expect_same_factor(
        *factorize_again(memory, problem->matrix, problem->symbolic, problem->ordering, {}).value(),
        expected);
  }
}

/// Only the entries on the diagonal and those that keep(i, j).
template <class Keep>
SparseMatrix<double> thinned(const SparseMatrix<double>& matrix, const Keep& keep) {
  Triplets<double> entries{matrix.rows(), matrix.cols(), {}, {}, {}};
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      if (row != column && !keep(row, column)) continue;
      entries.row.push_back(row);
      entries.column.push_back(column);
      entries.value.push_back(matrix.values[entry]);
    }
  return from_triplets(entries, matrix.symmetry);
}

TEST(same_bits, kept_memory_serves_matrices_of_other_patterns_in_the_same_structure) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem(generate({"poisson2d9", 20}), kind);
    const auto thin =
        thinned(problem.matrix, [](index_t row, index_t column) { return (row + column) % 5 != 0; });
    ASSERT_LT(thin.nnz(), problem.matrix.nnz());
    // Each unknown with one neighbour, at its side or above: as many entries in each column.
    const auto pairs = [&](index_t distance) {
      return thinned(problem.matrix, [=](index_t row, index_t column) {
        return std::abs(row - column) == distance && std::min(row, column) / distance % 2 == 0;
      });
    };
    const SparseMatrix<double> beside = pairs(1), above = pairs(20);
    ASSERT_EQ(beside.pattern.column_ptr, above.pattern.column_ptr);
    ASSERT_NE(beside.pattern.row_index, above.pattern.row_index);
    FactorizeOptions options;
    options.kind = kind;
    FactorizeMemory<double> memory;
    for (const SparseMatrix<double>* matrix :
         {&problem.matrix, &problem.matrix, &thin, &thin, &problem.matrix, &thin, &beside, &above})
      expect_same_factor(
          *factorize_again(memory, *matrix, problem.symbolic, problem.ordering, options).value(),
          factorize(*matrix, problem.symbolic, problem.ordering, options).value());
  }
}

TEST(same_bits, llt_of_a_cube) { compare_threads<double>("poisson3d7", 15, FactorKind::llt); }
TEST(same_bits, llt_of_a_square) { compare_threads<double>("poisson2d9", 90, FactorKind::llt); }
TEST(same_bits, llt_of_elasticity_in_single_precision) {
  compare_threads<float>("elasticity3d", 8, FactorKind::llt);
}
TEST(same_bits, ldlt_of_a_saddle_point) { compare_threads<double>("kkt3d", 12, FactorKind::ldlt); }
TEST(same_bits, ldlt_of_an_indefinite_square) {
  compare_threads<double>("indefinite2d", 90, FactorKind::ldlt);
}
TEST(same_bits, lu_of_convection_and_diffusion) {
  compare_threads<double>("convection_diffusion3d", 14, FactorKind::lu);
}
TEST(same_bits, lu_of_complex_numbers) {
  compare_threads<std::complex<double>>("convection_diffusion2d", 70, FactorKind::lu);
}

}  // namespace
}  // namespace palmette
