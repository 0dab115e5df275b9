// The grid problems: closed formulas for rows and entries, and properties of rows that follow from the
// equations.
#include <gtest/gtest.h>

#include "tests/matrix/generate_support.hpp"

namespace palmette::test {
namespace {

/// Σ over columns of the entries of one row.
std::vector<double> row_sums(const SparseMatrix<double>& matrix) {
  std::vector<double> sums(matrix.rows(), 0.0);
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      sums[matrix.pattern.row_index[entry]] += matrix.values[entry];
  return sums;
}

TEST(grid_generators, rows_and_entries_follow_the_formulas) {
  for (const index_t side : {1, 2, 3, 7}) {
    const offset_t n = side;
    // In one dimension n points have n pairs with themselves and 2(n−1) with a neighbour: 3n − 2 in all. Box
    // stencils are products of such; the cross has n^d centres and 2d·(n−1)·n^(d−1) neighbours.
    EXPECT_EQ(make("poisson2d9", side).nnz(), (3 * n - 2) * (3 * n - 2));
    EXPECT_EQ(make("poisson3d27", side).nnz(), (3 * n - 2) * (3 * n - 2) * (3 * n - 2));
    EXPECT_EQ(make("poisson2d5", side).nnz(), 5 * n * n - 4 * n);
    EXPECT_EQ(make("indefinite2d", side).nnz(), 5 * n * n - 4 * n);
    EXPECT_EQ(make("convection_diffusion2d", side).nnz(), 5 * n * n - 4 * n);
    EXPECT_EQ(make("poisson3d7", side).nnz(), 7 * n * n * n - 6 * n * n);
    EXPECT_EQ(make("convection_diffusion3d", side).nnz(), 7 * n * n * n - 6 * n * n);
    // Two diagonals of n³, the 7-point stencil twice, the identity twice.
    EXPECT_EQ(make("kkt3d", side).nnz(), 18 * n * n * n - 12 * n * n);
    EXPECT_EQ(make("poisson2d9", side).rows(), n * n);
    EXPECT_EQ(make("convection_diffusion3d", side).rows(), n * n * n);
    EXPECT_EQ(make("kkt3d", side).rows(), 3 * n * n * n);
  }
}

TEST(grid_generators, five_points_on_two_by_two_are_the_matrix_on_paper) {
  // Points 0 1 / 2 3: 0 neighbours 1 and 2, 3 neighbours 1 and 2.
  const SparseMatrix<double> matrix = make("poisson2d5", 2);
  const std::vector<double> expected = {4, -1, -1, 0, -1, 4, 0, -1, -1, 0, 4, -1, 0, -1, -1, 4};
  EXPECT_EQ(dense(matrix).values, expected);
}

TEST(grid_generators, nine_points_have_row_sum_zero_inside_and_three_at_an_edge) {
  // 8 − 8 inside, 8 − 5 at an edge, 8 − 3 at a corner.
  const std::vector<double> sums = row_sums(make("poisson2d9", 4));
  const std::vector<double> expected = {5, 3, 3, 5, 3, 0, 0, 3, 3, 0, 0, 3, 5, 3, 3, 5};
  EXPECT_EQ(sums, expected);
}

TEST(grid_generators, shift_lowers_the_diagonal_and_makes_eigenvalues_negative) {
  // Eigenvalues are 4 − 2cos(iπ/(n+1)) − 2cos(jπ/(n+1)): for n = 2 they are 2, 4, 4, 6.
  EXPECT_EQ(dense(make("indefinite2d", 2)).values[0], 3.25);
  EXPECT_TRUE(is_positive_definite(make("indefinite2d", 2)));
  EXPECT_FALSE(is_positive_definite(make("indefinite2d", 2, 1, 2.5)));
  // For n = 9 the smallest is 4 − 4cos(18°) = 0.196, below the default shift 0.75.
  EXPECT_FALSE(is_positive_definite(make("indefinite2d", 9)));
}

TEST(convection_diffusion, rows_are_dominant_m_matrices_with_sum_zero_inside) {
  for (const double strength : {0.01, 1.0, 1000.0}) {
    const index_t n = 7;
    const SparseMatrix<double> matrix = make("convection_diffusion2d", n, 1, strength);
    const std::vector<double> sums = row_sums(matrix);
    const DenseMatrix<double> full = dense(matrix);
    double largest = 0;
    for (index_t row = 0; row < n * n; ++row) {
      const bool inside = row % n > 0 && row % n < n - 1 && row / n > 0 && row / n < n - 1;
      if (inside) { EXPECT_NEAR(sums[row], 0, 1e-12 * strength + 1e-14) << row; }
      else { EXPECT_GT(sums[row], 0.5) << row; }
      for (index_t column = 0; column < n * n; ++column)
        if (row != column) largest = std::max(largest, full.view()(row, column));
    }
    EXPECT_EQ(largest, 0);
  }
}

TEST(convection_diffusion, takes_what_flows_in_from_upstream) {
  // n = 2, N = 3, point (0, 0), that is X = Y = 1: u_x = 4·1·(1−3)·(3−2)/27 = −8/27, from the right-hand
  // neighbour; u_y = −4·1·(1−3)·(3−2)/27 = 8/27, from below, where there is no neighbour.
  const SparseMatrix<double> matrix = make("convection_diffusion2d", 2);
  const DenseMatrix<double> full = dense(matrix);
  EXPECT_DOUBLE_EQ(full.view()(0, 0), 4 + 16.0 / 27);
  EXPECT_DOUBLE_EQ(full.view()(0, 1), -1 - 8.0 / 27);
  EXPECT_DOUBLE_EQ(full.view()(0, 2), -1);
}

TEST(kkt, constraint_block_is_empty_not_merely_zero) {
  const index_t n = 3, points = n * n * n;
  const SparseMatrix<double> matrix = make("kkt3d", n);
  for (index_t column = 2 * points; column < 3 * points; ++column)
    for (index_t row : matrix.pattern.column(column)) EXPECT_LT(row, 2 * points);
}

TEST(kkt, has_the_blocks_of_the_optimality_system) {
  // n = 1: the Laplacian is the number 6.
  const std::vector<double> expected = {1, 0, 6, 0, 0.5, -1, 6, -1, 0};
  EXPECT_EQ(dense(make("kkt3d", 1, 1, 0.5)).values, expected);
}

}  // namespace
}  // namespace palmette::test
