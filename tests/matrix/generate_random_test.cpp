// The random problems: exact level counts, dominance, hidden transversal, degrees, and the random stream
// itself.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/matrix/generate_random.hpp"
#include "tests/matrix/generate_support.hpp"

namespace palmette::test {
namespace {

/// Longest chain of dependencies that ends in a row, counted in rows, over all rows of a lower triangle.
index_t count_levels(const SparseMatrix<double>& lower) {
  std::vector<index_t> level(lower.rows(), 1);
  index_t largest = lower.rows() > 0 ? 1 : 0;
  for (index_t column = 0; column < lower.cols(); ++column)
    for (index_t row : lower.pattern.column(column))
      if (row > column) largest = std::max(largest, level[row] = std::max(level[row], level[column] + 1));
  return largest;
}

/// Number of components of the graph of a symmetric pattern.
index_t count_components(const SparsityPattern& pattern) {
  std::vector<bool> seen(pattern.cols, false);
  std::vector<index_t> stack;
  index_t components = 0;
  for (index_t start = 0; start < pattern.cols; ++start) {
    if (seen[start]) continue;
    ++components;
    seen[start] = true;
    stack.push_back(start);
    while (!stack.empty()) {
      const index_t column = stack.back();
      stack.pop_back();
      for (index_t row : pattern.column(column))
        if (!seen[row]) {
          seen[row] = true;
          stack.push_back(row);
        }
    }
  }
  return components;
}

offset_t longest_column(const SparsityPattern& pattern) {
  offset_t longest = 0;
  for (index_t column = 0; column < pattern.cols; ++column)
    longest = std::max(longest, pattern.column_ptr[column + 1] - pattern.column_ptr[column]);
  return longest;
}

TEST(random_stream, is_splitmix64) {
  // The second word after the seed is mixed: state = mix(0 + weyl); published first outputs of splitmix64
  // from state 0 are 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4.
  EXPECT_EQ(mix_bits(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix_bits(2 * 0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

TEST(random_stream, stays_in_its_ranges_and_reaches_their_ends) {
  matrix_detail::RandomStream random(5);
  std::vector<int> count(7, 0);
  for (int draw = 0; draw < 7000; ++draw) {
    ++count[random.below(7)];
    const double fraction = random.fraction(), signed_fraction = random.signed_fraction();
    ASSERT_TRUE(fraction >= 0 && fraction < 1);
    ASSERT_TRUE(signed_fraction > -1 && signed_fraction < 1 && signed_fraction != 0);
    const double power = random.power_of_two(-2, 1);
    ASSERT_TRUE(power == 0.25 || power == 0.5 || power == 1 || power == 2);
  }
  // 1000 expected, standard deviation √(7000·(1/7)·(6/7)) = 29.
  for (int bin : count) EXPECT_NEAR(bin, 1000, 5 * 29);
}

TEST(random_triangular, has_exactly_the_levels_that_were_asked) {
  for (const index_t n : {1, 2, 10, 500})
    for (const index_t levels : {1, 2, 3, 9, 10, 100, 499, 500})
      for (std::uint64_t seed = 1; levels <= n && seed <= 3; ++seed)
        EXPECT_EQ(count_levels(make("random_triangular", n, seed, levels)), levels)
            << n << " rows, seed " << seed;
}

TEST(random_triangular, has_the_root_of_n_levels_by_default) {
  EXPECT_EQ(count_levels(make("random_triangular", 99)), 9);
  EXPECT_EQ(count_levels(make("random_triangular", 100)), 10);
  EXPECT_EQ(count_levels(make("random_triangular", 1)), 1);
}

TEST(triangular_generators, have_the_entries_and_levels_of_their_names) {
  EXPECT_EQ(make("bidiagonal", 50).nnz(), 99);
  EXPECT_EQ(count_levels(make("bidiagonal", 50)), 50);
  EXPECT_EQ(make("dense_triangle", 50).nnz(), 50 * 51 / 2);
  EXPECT_EQ(count_levels(make("dense_triangle", 50)), 50);
}

TEST(triangular_generators, have_rows_that_their_diagonal_dominates) {
  for (const char* name : {"bidiagonal", "dense_triangle", "random_triangular"}) {
    const DenseMatrix<double> full = dense(make(name, 200, 3));
    for (index_t row = 0; row < 200; ++row) {
      double sum = 0;
      for (index_t column = 0; column < row; ++column) sum += std::abs(full.view()(row, column));
      EXPECT_LT(sum, 0.7501) << name;
      EXPECT_GE(full.view()(row, row), 1) << name;
      EXPECT_LT(full.view()(row, row), 2) << name;
    }
  }
}

TEST(circuit, has_dense_rows_dominant_rows_and_an_unsymmetric_pattern) {
  const index_t n = 2000;
  const SparseMatrix<double> matrix = make("circuit", n);
  EXPECT_FALSE(has_symmetric_pattern(matrix.pattern));
  EXPECT_EQ(count_components(matrix.pattern), 1);
  // A rail has n/25 = 80 taps, some drawn twice; other nodes have about 2·(1 + 1.2) + 1/4 + 1 entries.
  EXPECT_GT(longest_column(matrix.pattern), 70);
  EXPECT_GT(longest_column(transpose(matrix.pattern)), 70);
  EXPECT_LT(matrix.nnz(), 8 * n);
  const DenseMatrix<double> full = dense(matrix);
  for (index_t row = 0; row < n; ++row) {
    double others = 0;
    for (index_t column = 0; column < n; ++column)
      others += row == column ? 0 : std::abs(full.view()(row, column));
    EXPECT_GT(full.view()(row, row), others);
    EXPECT_LT(full.view()(row, row), 1.01 * others + 0.01);
  }
}

TEST(circuit, has_as_many_rails_as_asked) {
  // Twelve more rails, each with up to 2·(n/25) = 160 entries.
  EXPECT_GT(make("circuit", 2000, 1, 18).nnz(), make("circuit", 2000, 1, 6).nnz() + 12 * 120);
}

TEST(rmat, has_hubs_and_laplacian_rows) {
  const index_t n = 3000;
  const SparseMatrix<double> matrix = make("rmat", n);
  EXPECT_GT(longest_column(matrix.pattern), 10 * matrix.nnz() / n);
  for (index_t column = 0; column < n; ++column) {
    double sum = 0;
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      sum += matrix.values[entry];
    ASSERT_EQ(sum, 1);
  }
}

TEST(road, is_connected_thin_and_between_a_tree_and_the_grid) {
  const index_t n = 60;
  const SparseMatrix<double> matrix = make("road", n);
  EXPECT_EQ(count_components(matrix.pattern), 1);
  EXPECT_LE(longest_column(matrix.pattern), 5);
  // A tree has n² − 1 edges, the grid 2n(n−1); a fifth of the (n−1)² streets beyond the tree is built.
  const offset_t num_edges = (matrix.nnz() - n * n) / 2, shortcuts = num_edges - (n * n - 1);
  EXPECT_NEAR(static_cast<double>(shortcuts), 0.2 * 59 * 59, 5 * std::sqrt(0.16 * 59 * 59));
  EXPECT_EQ(make("road", n, 1, 1).nnz(), 5 * n * n - 4 * n);
  EXPECT_EQ(make("road", n, 1, 1e-6).nnz(), 3 * n * n - 2);
}

TEST(random_spd, draws_the_degree_that_was_asked) {
  // n·degree/2 pairs are drawn; a few meet a diagonal place or one another.
  EXPECT_NEAR(static_cast<double>(make("random_spd", 4000, 1, 6).nnz()), 7 * 4000, 150);
}

TEST(random_unsymmetric, has_no_dominant_diagonal_but_a_full_transversal) {
  const index_t n = 300;
  const SparseMatrix<double> matrix = make("random_unsymmetric", n);
  index_t on_diagonal = 0;
  for (index_t column = 0; column < n; ++column)
    for (index_t row : matrix.pattern.column(column)) on_diagonal += row == column ? 1 : 0;
  // Five entries a column, each on the diagonal with probability 1/300.
  EXPECT_LT(on_diagonal, 20);
  EXPECT_GT(smallest_scaled_pivot(matrix), 1e-6);
}

}  // namespace
}  // namespace palmette::test
