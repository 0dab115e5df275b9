// Factorization by columns in the hall: which matrices take it, that its answers agree with those of
// supernodes, and what happens if it fails.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "palmette/solver/columns_first.hpp"
#include "tests/scalars.hpp"
#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::matrix_of;
using testing::quiet_options;
using testing::some_right_hand_sides;

template <class T>
class EveryScalarByColumns : public ::testing::Test {};
TYPED_TEST_SUITE(EveryScalarByColumns, TestedScalars);

template <class T>
Report solved(Solver<T>& solver, index_t num_rhs, Operation operation = Operation::plain) {
  const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), num_rhs);
  DenseMatrix<T> x(solver.size(), num_rhs);
  SolveRequest request;
  request.operation = operation;
  return solver.solve(b.view(), x.view(), request).value();
}

TYPED_TEST(EveryScalarByColumns, thin_factors_are_made_by_columns_and_answer_as_supernodes_do) {
  using T = TypeParam;
  SolverOptions by_supernodes = quiet_options();
  by_supernodes.ordering = OrderingMethod::amd;
  for (const char* problem : {"circuit", "poisson2d5"}) {
    const auto matrix = generated<T>(problem, std::string(problem) == "circuit" ? 300 : 12);
    auto columns = Solver<T>::create(matrix, quiet_options()).value();
    auto supernodes = Solver<T>::create(matrix, by_supernodes).value();
    EXPECT_EQ(columns.report().analyze->supernodes, 0) << problem;
    EXPECT_GT(supernodes.report().analyze->supernodes, 0) << problem;
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
      for (const index_t num_rhs : {0, 1, 9})
        EXPECT_TRUE(solved(columns, num_rhs, operation).verify->verified) << problem;
    const double logarithm = supernodes.slogdet().second;
    EXPECT_NEAR(columns.slogdet().second, logarithm, 1e-3 * std::abs(logarithm)) << problem;
    EXPECT_NEAR(std::abs(columns.slogdet().first - supernodes.slogdet().first), 0, 1e-3) << problem;
    EXPECT_GT(columns.symbolic()->num_supernodes(), 0) << problem;
    EXPECT_EQ(columns.factor()->size(), matrix->rows()) << problem;
    EXPECT_EQ(columns.report().analyze->supernodes, 0) << "looking at the structure has changed the way";
  }
}

/// Diagonal entries of 20, and −1 at each of the places that `below` lists for a column; also mirrored if
/// symmetric.
SparseMatrix<double> with_entries_below(index_t n, bool symmetric,
                                        const std::function<std::vector<index_t>(index_t)>& below) {
  Triplets<double> entries{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, double value) {
    entries.row.push_back(row);
    entries.column.push_back(column);
    entries.value.push_back(value);
  };
  for (index_t column = 0; column < n; ++column) {
    add(column, column, 20);
    for (const index_t row : below(column)) {
      if (row >= n) continue;
      add(row, column, -1);
      if (symmetric) add(column, row, -1);
    }
  }
  return from_triplets(entries);
}

TEST(columns_first, diagonals_chains_triangles_and_power_grids_are_factored_by_columns_and_meshes_are_not) {
  using Rows = std::vector<index_t>;
  const index_t n = 6000;  // more than what counts as small
  const auto diagonal = with_entries_below(n, false, [](index_t) { return Rows(); });
  const auto chain = with_entries_below(n, true, [](index_t column) { return Rows{column + 1}; });
  // 4 entries in each column: no tree, and all rows of the same length.
  const auto triangle = with_entries_below(n, false, [](index_t column) {
    return Rows{column + 1, column + 7, column + 50};
  });
  // A tree of which each node has three children, its 2000 inner nodes joined in a chain: 4000 rows of 2
  // entries and 2000 of 7, so that mean square ÷ square of the mean is 19 ÷ (11/3)² = 1.41.
  const auto grid = with_entries_below(n, true, [](index_t column) {
    Rows rows{3 * column + 1, 3 * column + 2, 3 * column + 3};
    if (column < 1999 && column > 0) rows.push_back(column + 1);
    return rows;
  });
  for (const SparseMatrix<double>& matrix : {diagonal, chain, triangle, transpose(triangle), grid}) {
    ASSERT_TRUE(may_be_thin(matrix.pattern));
    auto solver =
        Solver<double>::create(std::make_shared<const SparseMatrix<double>>(matrix), quiet_options()).value();
    EXPECT_EQ(solver.report().analyze->supernodes, 0);
    EXPECT_TRUE(solved(solver, 1).verify->verified);
  }
  for (const char* mesh : {"poisson2d5", "poisson2d9", "thermal2d"})
    EXPECT_FALSE(may_be_thin(generated<double>(mesh, std::string(mesh) == "thermal2d" ? 6000 : 80)->pattern))
        << mesh;
}

TEST(columns_first, few_flops_in_all_are_thin_and_many_for_each_entry_are_not) {
  BlockOrdering order;
  order.entries = 1e4;
  order.flops = 1e6;  // 100 for each entry, and done in a millisecond
  EXPECT_TRUE(is_thin(order));
  order.flops = 1e7;
  EXPECT_FALSE(is_thin(order));
  order.entries = 1e6;
  EXPECT_TRUE(is_thin(order));
}

TEST(columns_first, new_values_keep_the_way_as_long_as_the_pivots_are_good) {
  const auto first = generated<double>("circuit", 300);
  auto solver = Solver<double>::create(first, quiet_options()).value();
  auto scaled = std::make_shared<SparseMatrix<double>>(*first);
  for (double& value : scaled->values) value *= -3;
  ASSERT_TRUE(solver.refactor(scaled).ok());
  EXPECT_TRUE(solved(solver, 1).verify->verified);
  // Diagonal entries a million times smaller: pivots must be chosen again.
  auto weak = std::make_shared<SparseMatrix<double>>(*first);
  for (index_t column = 0; column < weak->cols(); column += 3)
    for (offset_t entry = weak->pattern.column_ptr[column]; entry < weak->pattern.column_ptr[column + 1];
         ++entry)
      if (weak->pattern.row_index[entry] == column) weak->values[entry] *= 1e-6;
  ASSERT_TRUE(solver.refactor(weak).ok());
  EXPECT_TRUE(solved(solver, 1).verify->verified);
  const DenseMatrix<double> b = some_right_hand_sides<double>(300, 1);
  DenseMatrix<double> x(300, 1);
  ASSERT_TRUE(solver.solve(b.view(), x.view()).ok());
  EXPECT_LE(verify<double>(*weak, Operation::plain, b.view(), std::as_const(x).view()).backward_error, 1e-14);
}

TEST(columns_first, a_doubtful_pivot_sends_the_matrix_to_the_supernodes) {
  // Rows 1 and 2 differ by 1e-13: regular, but after elimination the pivot is below u^(2/3).
  const auto near_singular = matrix_of<double>({{1, 2, 3}, {1 + 1e-13, 2, 3}, {0, 1, 5}});
  auto solver = Solver<double>::create(near_singular, quiet_options()).value();
  EXPECT_GT(solver.report().analyze->supernodes, 0);
  EXPECT_TRUE(solved(solver, 1).verify->verified);
}

TEST(columns_first, a_progress_callback_hears_of_every_phase) {
  std::vector<std::string> heard;
  SolverOptions options = quiet_options();
  options.progress = [&](std::string_view phase, double) { heard.emplace_back(phase); };
  auto solver = Solver<double>::create(generated<double>("circuit", 100), options).value();
  solved(solver, 1);
  for (const char* phase : {"order", "factorize", "solve"})
    EXPECT_NE(std::find(heard.begin(), heard.end(), phase), heard.end()) << phase;
}

}  // namespace
}  // namespace palmette
