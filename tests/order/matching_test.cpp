// Maximum-product matching against all permutations, its scaling, structural rank, and the cutting of cycles
// into pairs.
#include <gtest/gtest.h>

#include <complex>
#include <numeric>

#include "palmette/order/matching.hpp"
#include "palmette/order/pairs.hpp"
#include "tests/order/small_graphs.hpp"

namespace palmette {
namespace {

using namespace order_detail;
using namespace order_test;

using Dense = std::vector<std::vector<double>>;

/// Largest Σ log₂|a(p(j), j)| over all permutations p without a zero; −inf if there is none.
double best_log_product(const Dense& a) {
  std::vector<index_t> row(a.size());
  std::iota(row.begin(), row.end(), 0);
  double best = -HUGE_VAL;
  do {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
      sum += a[row[j]][j] == 0 ? -HUGE_VAL : std::log2(std::abs(a[row[j]][j]));
    best = std::max(best, sum);
  } while (std::next_permutation(row.begin(), row.end()));
  return best;
}

/// Largest number of nonzeros on a permuted diagonal.
index_t structural_rank(const Dense& a) {
  std::vector<index_t> row(a.size());
  std::iota(row.begin(), row.end(), 0);
  index_t best = 0;
  do {
    index_t size = 0;
    for (std::size_t j = 0; j < a.size(); ++j) size += a[row[j]][j] != 0;
    best = std::max(best, size);
  } while (std::next_permutation(row.begin(), row.end()));
  return best;
}

Dense random_dense(Dice& dice, index_t n, double density, int range) {
  Dense a(n, std::vector<double>(n, 0.0));
  for (std::vector<double>& row : a)
    for (double& value : row)
      if (dice.uniform() < density)
        value = (dice.uniform() < 0.5 ? -1 : 1) *
                std::ldexp(0.5 + dice.uniform(), dice.below(2 * range + 1) - range);
  return a;
}

/// Each matched once, partners agree, matched entries are nonzero. @returns Σ log₂ of the matched moduli
double checked_log_product(const Dense& a, const Matching& matching) {
  double sum = 0;
  for (index_t column = 0; column < static_cast<index_t>(a.size()); ++column) {
    const index_t row = matching.row_of_column[column];
    if (row < 0) continue;
    EXPECT_EQ(matching.column_of_row[row], column);
    EXPECT_NE(a[row][column], 0);
    sum += std::log2(std::abs(a[row][column]));
  }
  return sum;
}

TEST(MatchingTest, product_is_largest_of_all_permutations) {
  Dice dice(1);
  int perfect = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const index_t n = 1 + dice.below(6);
    const Dense a = random_dense(dice, n, 0.3 + 0.7 * dice.uniform(), trial % 3 == 0 ? 0 : 12);
    const Matching matching = maximum_product_matching(edge_list(from_dense(a)));
    const double found = checked_log_product(a, matching), best = best_log_product(a);
    if (matching.size < n) {
      EXPECT_EQ(best, -HUGE_VAL);
      continue;
    }
    ++perfect;
    // Each of n logarithms is rounded by half of 2⁻²⁰, in the matching found and in the best one.
    EXPECT_NEAR(found, best, n * 0x1p-20 + 1e-9);
  }
  EXPECT_GT(perfect, 500);
}

TEST(MatchingTest, cardinality_is_largest_when_no_perfect_matching_exists) {
  Dice dice(2);
  int deficient = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const index_t n = 1 + dice.below(6);
    const Dense a = random_dense(dice, n, 0.1 + 0.3 * dice.uniform(), 5);
    const Matching matching = maximum_product_matching(edge_list(from_dense(a)));
    EXPECT_EQ(matching.size, structural_rank(a));
    checked_log_product(a, matching);
    deficient += matching.size < n;
  }
  EXPECT_GT(deficient, 500);
}

TEST(MatchingTest, duals_scale_matched_entries_to_one_and_no_entry_above_one) {
  Dice dice(4);
  for (int trial = 0; trial < 300; ++trial) {
    const index_t n = 1 + dice.below(30);
    const Dense a = random_dense(dice, n, 0.6, 40);
    const EdgeList edges = edge_list(from_dense(a));
    const Matching matching = maximum_product_matching(edges);
    if (matching.size < n) continue;
    for (index_t column = 0; column < n; ++column)
      for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge) {
        const index_t row = edges.row[edge];
        const exponent_t scaled =
            edges.log[edge] + matching.scaling.row[row] + matching.scaling.column[column];
        EXPECT_LE(scaled, 0);
        EXPECT_TRUE(scaled == 0 || matching.row_of_column[column] != row);
      }
  }
}

TEST(MatchingTest, long_alternating_path_needs_no_recursion) {
  // Bidiagonal with a corner: a(i, i) = 1/2 and a(i+1, i) = 1, and a(0, n−1) = 1: the shifted diagonal is the
  // best.
  const index_t n = 100000;
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (index_t i = 0; i < n; ++i)
    for (const index_t row : {i, (i + 1) % n}) {
      triplets.row.push_back(row);
      triplets.column.push_back(i);
      triplets.value.push_back(row == i ? 0.5 : 1.0);
    }
  const Matching matching = maximum_product_matching(edge_list(from_triplets(triplets)));
  ASSERT_EQ(matching.size, n);
  for (index_t i = 0; i < n; ++i) ASSERT_EQ(matching.row_of_column[i], (i + 1) % n);
}

TEST(MatchingTest, auction_keeps_the_matching_exact_where_searches_are_long) {
  // Large enough, and with few enough entries, that the auction replaces the searches. The duals prove
  // optimality: all scaled entries at most one, matched ones one.
  const index_t n = 20000;
  Dice dice(8);
  const std::vector<index_t> hidden = dice.permutation(n).new_to_old();
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (int entry = 0; entry < 5; ++entry) {
      triplets.row.push_back(entry == 0 ? hidden[column] : dice.below(n));
      triplets.column.push_back(column);
      triplets.value.push_back(std::exp2(40 * dice.uniform()));
    }
  const EdgeList edges = edge_list(from_triplets(triplets));
  const Matching matching = maximum_product_matching(edges);
  ASSERT_EQ(matching.size, n);
  for (index_t column = 0; column < n; ++column)
    for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge) {
      const index_t row = edges.row[edge];
      const exponent_t scaled = edges.log[edge] + matching.scaling.row[row] + matching.scaling.column[column];
      ASSERT_LE(scaled, 0);
      ASSERT_TRUE(scaled == 0 || matching.row_of_column[column] != row);
    }
}

TEST(MatchingTest, many_unmatched_columns_cost_no_more_than_one) {
  // 20000 columns that share 2 rows: a search for each, over all columns, would take minutes.
  const index_t n = 20000;
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (const index_t row : {0, 1}) {
      triplets.row.push_back(row);
      triplets.column.push_back(column);
      triplets.value.push_back(1 + column % 7);
    }
  EXPECT_EQ(maximum_product_matching(edge_list(from_triplets(triplets))).size, 2);
}

TEST(Pairs, two_cycle_of_zero_diagonal_is_one_pair) {
  const EdgeList edges =
      edge_list(from_dense<double>({{0, 2, 0}, {2, 0, 0}, {0, 0, 5}}, Symmetry::symmetric));
  const Matching matching = maximum_product_matching(edges);
  const Groups groups = pivot_groups(matching, scaled_diagonal(edges, std::vector<exponent_t>(3, 0)));
  EXPECT_EQ(groups.start, (std::vector<index_t>{0, 2, 3}));
  EXPECT_EQ(groups.member, (std::vector<index_t>{0, 1, 2}));
}

Matching cyclic_matching(index_t n) {
  Matching matching;
  matching.size = n;
  for (index_t i = 0; i < n; ++i) matching.row_of_column.push_back((i + 1) % n);
  for (index_t i = 0; i < n; ++i) matching.column_of_row.push_back((i + n - 1) % n);
  return matching;
}

TEST(Pairs, odd_cycle_leaves_its_largest_diagonal_single) {
  // Cycle 0 → 1 → 2 → 3 → 4 → 0; vertex 3 has the largest diagonal: pairs (4, 0), (1, 2).
  std::vector<exponent_t> diagonal(5, no_diagonal);
  diagonal[3] = 0;
  diagonal[1] = -5 * one_power;
  const Groups groups = pivot_groups(cyclic_matching(5), diagonal);
  EXPECT_EQ(groups.start, (std::vector<index_t>{0, 2, 4, 5}));
  EXPECT_EQ(groups.member, (std::vector<index_t>{0, 4, 1, 2, 3}));
}

TEST(Pairs, even_cycle_takes_the_cut_with_the_better_determinants) {
  // Diagonals 1, 1, 0, 0: the cut (0,1), (2,3) joins the two ones, |det| may be 0; the cut (1,2), (3,0)
  // cannot.
  std::vector<exponent_t> diagonal = {0, 0, no_diagonal, no_diagonal};
  const Groups groups = pivot_groups(cyclic_matching(4), diagonal);
  EXPECT_EQ(groups.start, (std::vector<index_t>{0, 2, 4}));
  EXPECT_EQ(groups.member, (std::vector<index_t>{0, 3, 1, 2}));
}

TEST(Pairs, pair_with_two_fair_diagonals_is_dissolved_and_with_one_is_kept) {
  // log₂(1/8) = −3 is above log₂(1/10), log₂(1/16) = −4 is below.
  EXPECT_EQ(pivot_groups(cyclic_matching(2), {-3 * one_power, -3 * one_power}).count(), 2);
  EXPECT_EQ(pivot_groups(cyclic_matching(2), {-3 * one_power, -4 * one_power}).count(), 1);
}

TEST(Exponents, logarithms_of_all_scalars_reach_the_ends_of_their_range) {
  EXPECT_EQ(log2_modulus(1.0), 0);
  EXPECT_EQ(log2_modulus(-8.0f), 3 * one_power);
  EXPECT_EQ(log2_modulus(0x1p-1074), -1074 * one_power);
  EXPECT_EQ(log2_modulus(0x1p1023), 1023 * one_power);
  EXPECT_EQ(log2_modulus(0x1p-149f), -149 * one_power);
  // |1e308·(1 + i)| overflows, its logarithm does not: log₂(√2·2¹⁰²³) = 1023.5.
  EXPECT_EQ(log2_modulus(std::complex<double>(0x1p1023, 0x1p1023)), 1023 * one_power + one_power / 2);
  EXPECT_EQ(log2_modulus(std::complex<float>(0, -4)), 2 * one_power);
  EXPECT_EQ(log2_modulus(std::complex<double>(0x1p-1074, 0)), -1074 * one_power);
  EXPECT_EQ(log2_modulus(HUGE_VAL), 1025 * one_power);
  EXPECT_EQ(log2_modulus(std::nan("")), 1025 * one_power);
}

}  // namespace
}  // namespace palmette
