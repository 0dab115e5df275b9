// Symbolic analysis against the naive elimination of random patterns, and the laws of its products.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "palmette/analyze/analyze.hpp"
#include "tests/analyze/naive_structure.hpp"

namespace palmette {
namespace {

using testing::naive_fill;
using testing::united_rows;
using testing::RandomPatterns;

Ordering same_order(const Permutation& order) {
  Ordering ordering;
  ordering.row = order;
  ordering.column = order;
  return ordering;
}

SparsityPattern pattern_of(index_t n, const std::vector<std::pair<index_t, index_t>>& entries) {
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (const auto& [i, j] : entries) {
    triplets.row.push_back(i);
    triplets.column.push_back(j);
    triplets.value.push_back(1);
  }
  return from_triplets(triplets).pattern;
}

/// Everything that must hold for any SymbolicFactor, against the naive fill in its own final numbering.
void expect_lawful(const SymbolicFactor& symbolic, const std::vector<std::vector<char>>& filled,
                   bool relaxed) {
  const index_t n = symbolic.n;
  offset_t nnz = 0;
  double flops = 0;
  for (index_t j = 0; j < n; ++j) {
    index_t count = 0, parent = -1;
    for (index_t i = j; i < n; ++i) {
      count += filled[i][j];
      if (i > j && filled[i][j] && parent == -1) parent = i;
    }
    ASSERT_EQ(symbolic.column_count[j], count) << "column " << j;
    ASSERT_EQ(symbolic.column_parent[j], parent) << "column " << j;
    nnz += count;
    flops += double(count) * count;
  }
  ASSERT_EQ(symbolic.nnz_factor, nnz);
  ASSERT_EQ(symbolic.flops_llt, flops);
  offset_t updater_total = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const index_t begin = symbolic.supernode_begin[s], end = symbolic.supernode_begin[s + 1];
    const auto rows = symbolic.rows_below(s);
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    const std::set<index_t> listed(rows.begin(), rows.end());
    ASSERT_EQ(listed.size(), rows.size());
    for (index_t j = begin; j < end; ++j) {
      ASSERT_EQ(symbolic.supernode_of[j], s);
      for (index_t i = end; i < n; ++i) {
        const bool listed_here = listed.count(i) > 0;
        ASSERT_TRUE(listed_here || !filled[i][j]) << "row " << i << " of column " << j << " is not stored";
        ASSERT_TRUE(relaxed || listed_here == bool(filled[i][j]))
            << "row " << i << " of column " << j << " is a zero";
      }
    }
    ASSERT_EQ(symbolic.parent[s], rows.empty() ? -1 : symbolic.supernode_of[rows.front()]);
    // Rows of a child lie in its parent's columns or rows: sums can follow the tree.
    if (symbolic.parent[s] != -1) {
      const index_t p = symbolic.parent[s];
      const auto above = symbolic.rows_below(p);
      for (const index_t row : rows)
        ASSERT_TRUE(row < symbolic.supernode_begin[p + 1] ||
                    std::binary_search(above.begin(), above.end(), row));
      ASSERT_LE(symbolic.first_descendant[p], symbolic.first_descendant[s]);
    }
    ASSERT_EQ(symbolic.panel_offset[s + 1] - symbolic.panel_offset[s],
              symbolic.leading_dimension(s) * (end - begin));
    index_t covered = 0;
    for (const Block& block : symbolic.blocks_of(s)) {
      ASSERT_EQ(block.first, covered);
      ASSERT_GT(block.count, 0);
      for (index_t k = 0; k < block.count; ++k)
        ASSERT_EQ(symbolic.supernode_of[rows[block.first + k]], block.row_supernode);
      covered += block.count;
    }
    ASSERT_EQ(covered, symbolic.num_rows_below(s));
    index_t previous = -1;
    for (const Updater& updater : symbolic.updaters_of(s)) {
      ASSERT_GT(updater.source, previous);
      previous = updater.source;
      ASSERT_EQ(symbolic.blocks[updater.block].row_supernode, s);
      ASSERT_GE(updater.block, symbolic.block_ptr[updater.source]);
      ASSERT_LT(updater.block, symbolic.block_ptr[updater.source + 1]);
      ASSERT_GE(updater.source, symbolic.first_descendant[s]);
      ++updater_total;
    }
  }
  ASSERT_EQ(updater_total, static_cast<offset_t>(symbolic.blocks.size()));
}

TEST(analyze, counts_flops_and_rows_are_exact_on_random_patterns) {
  RandomPatterns random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const index_t n = static_cast<index_t>(random.next() % 40);
    const SparsityPattern pattern = random.pattern(n, 0.5 * double(random.next() % 7), trial % 2 == 0);
    AnalyzeOptions options;
    options.relax = trial % 3 != 0;
    options.max_width = 1 + static_cast<index_t>(random.next() % 9);
    Ordering ordering = same_order(random.permutation(n));
    if (trial % 4 == 0) ordering.row = random.permutation(n);
    const SymbolicFactor symbolic = analyze(pattern, ordering, options);
    ASSERT_NO_FATAL_FAILURE(
        expect_lawful(symbolic, naive_fill(pattern, symbolic.row, symbolic.column), options.relax))
        << "trial " << trial;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) ASSERT_LE(symbolic.width(s), options.max_width);
  }
}

SparsityPattern mesh(index_t n) {
  GenerateOptions options;
  options.problem = "thermal2d";
  options.n = n;
  return generate(options).pattern;
}

TEST(analyze, row_lists_are_the_unions_of_columns_and_children) {
  RandomPatterns random(11);
  for (const SparsityPattern& pattern :
       {mesh(3000), random.pattern(400, 2, false), random.pattern(0, 1, true)})
    for (const bool relax : {false, true}) {
      AnalyzeOptions options;
      options.relax = relax;
      options.max_width = pattern.rows + 1;  // nothing is split
      const Ordering ordering = same_order(random.permutation(pattern.rows));
      const SymbolicFactor symbolic = analyze(pattern, ordering, options);
      const std::vector<std::set<index_t>> united = united_rows(pattern, symbolic);
      for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
        const auto rows = symbolic.rows_below(s);
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), united[s].begin(), united[s].end()));
        // Without relaxation the columns of a supernode nest without a gap.
        for (index_t j = symbolic.supernode_begin[s]; !relax && j < symbolic.supernode_begin[s + 1]; ++j)
          ASSERT_EQ(symbolic.column_count[j],
                    symbolic.supernode_begin[s + 1] - j + symbolic.num_rows_below(s));
      }
    }
}

TEST(analyze, the_structure_is_the_same_on_any_number_of_threads) {
  RandomPatterns random(12);
  for (const SparsityPattern& pattern :
       {mesh(3000), random.pattern(300, 3, true), random.pattern(1, 1, false)}) {
    Ordering ordering = same_order(random.permutation(pattern.rows));
    ordering.row = random.permutation(pattern.rows);
    const SymbolicFactor alone = analyze(pattern, ordering);
    for (int threads = 1; threads <= 8; ++threads) {
      ThreadTeam team(threads);
      const SymbolicFactor shared = analyze(pattern, ordering, {}, &team);
      EXPECT_EQ(shared.column.new_to_old(), alone.column.new_to_old());
      EXPECT_EQ(shared.row.new_to_old(), alone.row.new_to_old());
      EXPECT_EQ(shared.column_parent, alone.column_parent);
      EXPECT_EQ(shared.column_count, alone.column_count);
      EXPECT_EQ(shared.supernode_begin, alone.supernode_begin);
      EXPECT_EQ(shared.row_ptr, alone.row_ptr);
      EXPECT_EQ(shared.row_index, alone.row_index);
    }
  }
}

// The arrow with its point last, n = 4: columns 0, 1, 2 hold {j, 3}, column 3 holds {3}: no fill, nnz(L) = 7,
// Σ c² = 4 + 4 + 4 + 1 = 13. With the point first, everything fills: nnz(L) = 10, Σ c² = 16 + 9 + 4 + 1 = 30.
TEST(analyze, promise_of_a_symmetric_pattern_changes_nothing) {
  const SparsityPattern grid =
      pattern_of(6, {{0, 0}, {0, 1}, {1, 0}, {1, 2}, {2, 1}, {3, 0}, {0, 3}, {4, 5}, {5, 4}, {2, 5}, {5, 2}});
  const Ordering ordering = same_order(Permutation({3, 0, 5, 1, 4, 2}));
  AnalyzeOptions promised;
  promised.symmetric_pattern = true;
  const SymbolicFactor plain = analyze(grid, ordering), believed = analyze(grid, ordering, promised);
  EXPECT_EQ(believed.column.new_to_old(), plain.column.new_to_old());
  EXPECT_EQ(believed.column_parent, plain.column_parent);
  EXPECT_EQ(believed.column_count, plain.column_count);
  EXPECT_EQ(believed.supernode_begin, plain.supernode_begin);
  EXPECT_EQ(believed.row_index, plain.row_index);
}

TEST(analyze, arrow_fills_only_when_its_point_comes_first) {
  const SparsityPattern last = pattern_of(4, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {3, 0}, {3, 1}, {3, 2}});
  const SparsityPattern first = pattern_of(4, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 0}, {2, 0}, {3, 0}});
  const Ordering natural = same_order(Permutation::identity(4));
  EXPECT_EQ(analyze(last, natural).nnz_factor, 7);
  EXPECT_EQ(analyze(last, natural).flops_llt, 13);
  EXPECT_EQ(analyze(first, natural).nnz_factor, 10);
  EXPECT_EQ(analyze(first, natural).flops_llt, 30);
  // LDLᵀ adds one division a column: Σ c² + c; LU counts 2(c−1)² + (c−1): 3·(2 + 1) = 9 for the first.
  EXPECT_EQ(factorization_flops(analyze(last, natural), FactorKind::ldlt), 13 + 7);
  EXPECT_EQ(factorization_flops(analyze(last, natural), FactorKind::lu), 9);
  EXPECT_EQ(factor_entries(analyze(last, natural), FactorKind::lu), 2 * 7 - 4);
}

TEST(analyze, matched_pairs_share_a_supernode_whatever_the_postorder_and_the_width_limit) {
  RandomPatterns random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const index_t n = 2 + static_cast<index_t>(random.next() % 40);
    SparsityPattern pattern = random.pattern(n, 1.5, true);
    Ordering ordering = same_order(random.permutation(n));
    ordering.paired_with_next.assign(n, 0);
    std::vector<std::pair<index_t, index_t>> pairs, entries;
    for (index_t j = 0; j < n; ++j)
      for (const index_t i : pattern.column(j)) entries.push_back({i, j});
    for (index_t k = 0; k + 1 < n; k += 2 + static_cast<index_t>(random.next() % 3)) {
      const index_t a = ordering.column.new_to_old()[k], b = ordering.column.new_to_old()[k + 1];
      ordering.paired_with_next[k] = 1;
      pairs.push_back({a, b});
      entries.push_back({a, b});  // matched with each other, so the entry exists
    }
    AnalyzeOptions options;
    options.max_width = 2 + static_cast<index_t>(random.next() % 4);
    const SymbolicFactor symbolic = analyze(pattern_of(n, entries), ordering, options);
    for (const auto& [a, b] : pairs) {
      const index_t place_a = symbolic.column.old_to_new()[a], place_b = symbolic.column.old_to_new()[b];
      ASSERT_EQ(place_b, place_a + 1) << "trial " << trial;
      ASSERT_EQ(symbolic.supernode_of[place_a], symbolic.supernode_of[place_b]) << "trial " << trial;
    }
    ASSERT_NO_FATAL_FAILURE(
        expect_lawful(symbolic, naive_fill(pattern_of(n, entries), symbolic.row, symbolic.column), true));
  }
}

TEST(analyze, empty_and_single_column_matrices_have_a_structure) {
  const SymbolicFactor none = analyze(SparsityPattern{}, same_order(Permutation::identity(0)));
  EXPECT_EQ(none.num_supernodes(), 0);
  EXPECT_EQ(none.nnz_factor, 0);
  const SymbolicFactor one = analyze(pattern_of(1, {}), same_order(Permutation::identity(1)));
  EXPECT_EQ(one.num_supernodes(), 1);
  EXPECT_EQ(one.nnz_factor, 1);  // the diagonal counts although it is not stored
}

TEST(analyze, sizes_that_disagree_are_named) {
  const SparsityPattern pattern = pattern_of(3, {{0, 0}});
  EXPECT_THROW(analyze(pattern, same_order(Permutation::identity(2))), DimensionError);
  SparsityPattern wide = pattern;
  wide.rows = 5;
  EXPECT_THROW(analyze(wide, same_order(Permutation::identity(3))), DimensionError);
}

TEST(analyze, a_path_of_many_columns_needs_no_recursion) {
  const index_t n = 300000;
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t i = 0; i + 1 < n; ++i) {
    entries.row.push_back(i + 1);
    entries.column.push_back(i);
    entries.value.push_back(1);
  }
  const SymbolicFactor symbolic =
      analyze(from_triplets(entries).pattern, same_order(Permutation::identity(n)));
  EXPECT_EQ(symbolic.nnz_factor, 2 * offset_t(n) - 1);
}

TEST(analyze_triangle, closed_patterns_keep_their_entries_and_open_ones_have_no_structure) {
  RandomPatterns random(23);
  for (int trial = 0; trial < 100; ++trial) {
    const index_t n = 1 + static_cast<index_t>(random.next() % 30);
    const SparsityPattern pattern = random.pattern(n, 1.5, true);
    const Permutation identity = Permutation::identity(n);
    const auto filled = naive_fill(pattern, identity, identity);
    std::vector<std::pair<index_t, index_t>> entries;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j; i < n; ++i)
        if (filled[i][j]) entries.push_back({i, j});
    const auto closed = analyze_triangle(pattern_of(n, entries));
    ASSERT_TRUE(closed.has_value());
    EXPECT_EQ(closed->nnz_factor, static_cast<offset_t>(entries.size()));
    // The postorder keeps the triangle lower triangular.
    for (const auto& [i, j] : entries)
      ASSERT_GE(closed->row.old_to_new()[i], closed->column.old_to_new()[j]);
  }
  // Column 0 joins rows 1 and 2, but the entry (2, 1) is missing: not closed.
  EXPECT_FALSE(analyze_triangle(pattern_of(3, {{0, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 2}})).has_value());
  EXPECT_THROW(analyze_triangle(pattern_of(2, {{0, 1}})), UsageError);
}

TEST(analyze, refuses_one_triangle_that_is_promised_to_be_symmetric) {
  AnalyzeOptions promised;
  promised.symmetric_pattern = true;
  const Ordering natural = same_order(Permutation::identity(4));
  for (const bool upper : {false, true}) {
    std::vector<std::pair<index_t, index_t>> entries;
    for (index_t i = 0; i < 3; ++i) entries.push_back({i + !upper, i + upper});
    EXPECT_THROW(analyze(pattern_of(4, entries), natural, promised), UsageError);
  }
}

TEST(analyze, relaxation_merges_chains_of_narrow_columns) {
  // A tridiagonal matrix: every column is a supernode of its own without relaxation; with it, at least four
  // share one.
  std::vector<std::pair<index_t, index_t>> entries;
  for (index_t i = 0; i + 1 < 64; ++i) entries.push_back({i + 1, i});
  AnalyzeOptions plain;
  plain.relax = false;
  const Ordering natural = same_order(Permutation::identity(64));
  EXPECT_EQ(analyze(pattern_of(64, entries), natural, plain).num_supernodes(), 63);
  EXPECT_LE(analyze(pattern_of(64, entries), natural).num_supernodes(), 16);
}

}  // namespace
}  // namespace palmette
