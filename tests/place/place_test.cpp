// Placement: every block has exactly one owner, which is a rank of the grid.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/place/place.hpp"

namespace palmette {
namespace {

/// The pattern of a chain of `levels` separators, two below each: a binary tree of cliques.
SymbolicFactor tree_of_cliques(int levels, index_t width) {
  const index_t cliques = (1 << levels) - 1, n = cliques * width;
  Triplets<double> entries{n, n, {}, {}, {}};
  const auto join = [&](index_t a, index_t b) {
    for (index_t i = 0; i < width; ++i)
      for (index_t j = 0; j < width; ++j) {
        entries.row.push_back(a * width + i), entries.column.push_back(b * width + j),
            entries.value.push_back(1);
        if (a != b)
          entries.row.push_back(b * width + j), entries.column.push_back(a * width + i),
              entries.value.push_back(1);
      }
  };
  for (index_t clique = 0; clique < cliques; ++clique) {
    join(clique, clique);
    if (clique > 0) join(clique, (clique - 1) / 2);
  }
  Ordering ordering;
  std::vector<index_t> leaves_first(n);
  for (index_t k = 0; k < n; ++k) leaves_first[k] = n - 1 - k;
  ordering.row = ordering.column = Permutation(leaves_first);
  AnalyzeOptions options;
  options.relax = false;
  return analyze(from_triplets(entries, Symmetry::symmetric).pattern, ordering, options);
}

TEST(place, owners_are_ranks_of_the_grid_and_columns_cycle_over_it) {
  const SymbolicFactor symbolic = tree_of_cliques(3, 2);
  const index_t count = symbolic.num_supernodes();
  ASSERT_GE(count, 6);
  const Placement placement = place(symbolic, {2, 3}, PlacementMap::block_cyclic, {false});
  for (index_t i = 0; i + 2 < count; ++i)
    for (index_t j = 0; j + 3 < count; ++j) {
      EXPECT_GE(placement.owner(i, j), 0);
      EXPECT_LT(placement.owner(i, j), 6);
      EXPECT_EQ(placement.owner(i, j), placement.owner(i + 2, j));
      EXPECT_EQ(placement.owner(i, j), placement.owner(i, j + 3));
    }
  // Row 1 of the grid, column 2: rank 1·3 + 2.
  EXPECT_EQ(placement.owner(1, 2), 5);
}

TEST(place, a_whole_subtree_lies_on_one_rank_and_units_do_not_depend_on_the_grid) {
  const SymbolicFactor symbolic = tree_of_cliques(5, 3);
  const TreePartition units = place(symbolic, {1, 1}, PlacementMap::block_cyclic, {true, 60}).units;
  for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
    for (const ProcessGrid& grid : {ProcessGrid{1, 1}, {2, 1}, {2, 3}, {4, 4}}) {
      const Placement placement = place(symbolic, grid, map, {true, 60});
      EXPECT_EQ(placement.units.group_begin, units.group_begin);
      index_t whole = 0;
      std::vector<char> busy(grid.num_ranks(), 0);
      for (index_t unit = 0; unit < units.num_groups(); ++unit) {
        if (placement.is_whole[unit] == 0) continue;
        ++whole;
        const index_t rank = placement.owner(units.group_begin[unit], units.group_begin[unit]);
        busy[rank] = 1;
        for (index_t s = units.group_begin[unit]; s < units.group_begin[unit + 1]; ++s)
          for (const Block& block : symbolic.blocks_of(s))
            EXPECT_EQ(placement.owner(block.row_supernode, s), rank);
      }
      EXPECT_GE(whole, 8);
      if (grid.num_ranks() <= 6) {
        EXPECT_EQ(std::count(busy.begin(), busy.end(), 1), grid.num_ranks())
            << "equal subtrees are shared out";
      }
    }
}

TEST(place, a_communication_tree_reaches_each_member_once_from_the_root) {
  for (const TreeShape shape : {TreeShape::binary, TreeShape::flat})
    for (const index_t size : {1, 2, 3, 6, 9}) {
      std::vector<index_t> members;
      for (index_t k = 0; k < size; ++k) members.push_back(3 * k + 1), members.push_back(3 * k + 1);
      const CommunicationTree tree = communication_tree(shape, 3 * (size / 2) + 1, members);
      ASSERT_EQ(tree.size(), size);
      EXPECT_EQ(tree.ranks[0], 3 * (size / 2) + 1);
      EXPECT_EQ(tree.position_of(0), -1);
      std::vector<int> reached(size, 0);
      for (index_t position = 0; position < size; ++position) {
        EXPECT_EQ(tree.position_of(tree.ranks[position]), position);
        for (index_t child = tree.first_child(position); child < tree.end_child(position); ++child) {
          ++reached[child];
          EXPECT_EQ(tree.parent(child), position);
        }
      }
      for (index_t position = 0; position < size; ++position)
        EXPECT_EQ(reached[position], position == 0 ? 0 : 1);
    }
  EXPECT_EQ(tree_shape("flat"), TreeShape::flat);
  EXPECT_THROW(tree_shape("ternary"), UsageError);
}

TEST(place, grid_without_ranks_is_refused) {
  EXPECT_THROW(place(SymbolicFactor{}, {0, 1}), UsageError);
  EXPECT_THROW(place(SymbolicFactor{}, {1, -2}), UsageError);
}

TEST(place, last_supernodes_lie_on_all_ranks_and_the_others_where_they_were) {
  const SymbolicFactor symbolic = tree_of_cliques(5, 3);
  const index_t count = symbolic.num_supernodes(), first = count - 6;
  for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
    for (const bool kept : {false, true}) {
      const Placement before = place(symbolic, {2, 3}, map, {kept, 60});
      const Placement after = with_last_over_all(before, first);
      std::vector<char> owns(6, 0);
      for (index_t s = 0; s < count; ++s)
        for (index_t row = s; row < count; ++row) {
          if (s < first) {
            EXPECT_EQ(after.owner(row, s), before.owner(row, s));
            EXPECT_EQ(after.lies_whole(s), before.lies_whole(s));
          } else {
            EXPECT_EQ(after.owner(row, s), row % 2 * 3 + s % 3);
            EXPECT_FALSE(after.lies_whole(s));
            owns[after.owner(row, s)] = 1;
          }
        }
      EXPECT_EQ(std::count(owns.begin(), owns.end(), 1), 6);
      EXPECT_EQ(after.units.group_begin.back(), count);
    }
}

}  // namespace
}  // namespace palmette
