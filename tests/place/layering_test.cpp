// Layers: the layers whose subtrees reach a supernode hold it, work is balanced, and the structures of layers
// are those of the whole.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/place/place.hpp"

namespace palmette {
namespace {

SymbolicFactor structure_of(const SparseMatrix<double>& matrix, index_t max_width) {
  OrderOptions how;
  how.method = OrderingMethod::amd;
  AnalyzeOptions options;
  options.max_width = max_width;
  return analyze(matrix.pattern, order(matrix, how).value(), options);
}

/// Grid of side × side, natural neighbours.
SparseMatrix<double> grid(index_t side, index_t copies = 1) {
  Triplets<double> entries{side * side * copies, side * side * copies, {}, {}, {}};
  const auto add = [&](index_t a, index_t b) {
    entries.row.push_back(a), entries.column.push_back(b), entries.value.push_back(a == b ? 5 : -1);
    if (a != b) entries.row.push_back(b), entries.column.push_back(a), entries.value.push_back(-1);
  };
  for (index_t copy = 0; copy < copies; ++copy)
    for (index_t k = 0; k < side * side; ++k) {
      const index_t at = copy * side * side + k;
      add(at, at);
      if (k % side + 1 < side) add(at, at + 1);
      if (k + side < side * side) add(at, at + side);
    }
  return from_triplets(entries, Symmetry::symmetric);
}

SparseMatrix<double> chain(index_t n) {
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t k = 0; k < n; ++k) {
    entries.row.push_back(k), entries.column.push_back(k), entries.value.push_back(4);
    if (k + 1 < n) {
      entries.row.push_back(k + 1), entries.column.push_back(k), entries.value.push_back(-1);
      entries.row.push_back(k), entries.column.push_back(k + 1), entries.value.push_back(-1);
    }
  }
  return from_triplets(entries, Symmetry::symmetric);
}

struct Named {
  const char* name;
  SymbolicFactor symbolic;
};
std::vector<Named> structures() {
  std::vector<Named> all;
  all.push_back({"grid", structure_of(grid(24), 4)});
  all.push_back({"forest of three", structure_of(grid(9, 3), 3)});
  all.push_back({"many single rows", structure_of(grid(1, 40), 3)});
  all.push_back({"one row", structure_of(grid(1), 3)});
  AnalyzeOptions single;
  single.max_width = 1;
  single.relax = false;
  Ordering natural;
  natural.row = natural.column = Permutation::identity(30);
  all.push_back({"chain", analyze(chain(30).pattern, natural, single)});
  all.push_back({"empty", SymbolicFactor{}});
  return all;
}

TEST(layering, every_supernode_has_its_layers_and_whatever_lies_above_it_is_held_there_too) {
  for (const Named& one : structures())
    for (const index_t layers : {1, 2, 3, 4, 5, 7, 8, 16}) {
      const Layering cut = cut_into_layers(one.symbolic, layers);
      ASSERT_EQ(cut.nodes.size(), 2 * static_cast<std::size_t>(layers) - 1);
      index_t depth = 0;
      while ((1 << depth) < layers) ++depth;
      EXPECT_EQ(cut.depth, depth);
      for (index_t layer = 0; layer < layers; ++layer) {
        EXPECT_EQ(cut.nodes[cut.leaf[layer]].first, layer);
        EXPECT_TRUE(cut.nodes[cut.leaf[layer]].is_leaf());
      }
      for (index_t s = 0; s < one.symbolic.num_supernodes(); ++s) {
        ASSERT_GE(cut.node_of[s], 0) << one.name;
        for (const Block& block : one.symbolic.blocks_of(s))
          EXPECT_TRUE(cut.is_above(cut.node_of[block.row_supernode], cut.node_of[s]))
              << one.name << " " << layers << ": supernode " << s;
        if (!cut.is_replicated(s)) continue;
        // A supernode is replicated only where both halves have something below it.
        const LayerNode& node = cut.holders(s);
        bool left = false, right = false;
        for (index_t below = one.symbolic.first_descendant[s]; below < s; ++below) {
          left = left || cut.holders(below).end <= node.middle;
          right = right || cut.holders(below).first >= node.middle;
        }
        EXPECT_TRUE(left && right) << one.name << " " << layers << ": supernode " << s;
      }
    }
  EXPECT_THROW(cut_into_layers(SymbolicFactor{}, 0), UsageError);
}

TEST(layering, work_is_balanced_and_little_is_replicated_where_the_tree_allows_it) {
  const SymbolicFactor symbolic = structure_of(grid(64), 16);
  for (const index_t layers : {2, 3, 4, 5, 8}) {
    const Layering cut = cut_into_layers(symbolic, layers);
    const Replication held = replication_of(symbolic, cut, LayeredMethod::one_sync_3d);
    double most = 0, all = 0;
    for (const double flops : held.sweep_flops) most = std::max(most, flops), all += flops;
    const double once =
        replication_of(symbolic, cut_into_layers(symbolic, 1), LayeredMethod::one_sync_3d).sweep_flops[0];
    EXPECT_LE(most, 1.45 * all / layers) << layers << " layers";
    EXPECT_LE(most, 0.75 * once) << layers << " layers";
    EXPECT_GT(held.extra_entries(), 0);
  }
}

TEST(layering, a_chain_cannot_be_shared_out_and_leaves_layers_empty) {
  const std::vector<Named> all = structures();
  const SymbolicFactor& symbolic = all[4].symbolic;
  const Layering cut = cut_into_layers(symbolic, 4);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    EXPECT_EQ(cut.holders(s).first, 0);
    EXPECT_FALSE(cut.is_replicated(s));
  }
  EXPECT_EQ(replication_of(symbolic, cut, LayeredMethod::one_sync_3d).extra_entries(), 0);
}

TEST(layering, a_layers_structure_is_that_of_the_whole_and_partners_own_the_same_diagonal_blocks) {
  for (const Named& one : structures())
    for (const index_t layers : {1, 3, 4})
      for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
        for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d}) {
          const auto cut = std::make_shared<const Layering>(cut_into_layers(one.symbolic, layers));
          const LayerPlacement where{{{2, 3}, layers}, map, {true, 40}};
          const std::vector<LayerSystem> systems = layer_systems(one.symbolic, cut, method, where);
          const Replication held = replication_of(one.symbolic, *cut, method);
          std::vector<index_t> owner(one.symbolic.parent.size(), -1);
          std::vector<int> led(one.symbolic.parent.size());
          for (const LayerSystem& system : systems) {
            const SymbolicFactor& part = *system.symbolic;
            EXPECT_EQ(part.panel_entries(), held.entries[system.layer]) << one.name;
            for (index_t s = 0; s < part.num_supernodes(); ++s) {
              const index_t old = system.supernode[s];
              led[old] += system.leads(s);
              ASSERT_EQ(part.width(s), one.symbolic.width(old));
              const bool has_rows = method == LayeredMethod::one_sync_3d || system.leads(s);
              ASSERT_EQ(part.num_rows_below(s), has_rows ? one.symbolic.num_rows_below(old) : 0);
              for (index_t k = 0; k < part.num_rows_below(s); ++k)
                EXPECT_EQ(system.row[part.rows_below(s)[k]], one.symbolic.rows_below(old)[k]);
              for (const Block& block : part.blocks_of(s))
                EXPECT_EQ(part.supernode_of[part.rows_below(s)[block.first]], block.row_supernode);
              if (!system.is_replicated(s)) continue;
              if (owner[old] == -1) owner[old] = system.placement->owner(s, s);
              EXPECT_EQ(system.placement->owner(s, s), owner[old]) << one.name;
            }
          }
          for (const int count : led) EXPECT_EQ(count, 1);
          const Placement placement = layered_placement(one.symbolic, systems);
          for (const LayerSystem& system : systems)
            for (index_t s = 0; s < system.symbolic->num_supernodes(); ++s) {
              if (system.is_replicated(s)) continue;
              for (const Block& block : system.symbolic->blocks_of(s))
                EXPECT_EQ(
                    placement.owner(system.supernode[block.row_supernode], system.supernode[s]),
                    where.ranks.first_rank(system.layer) + system.placement->owner(block.row_supernode, s));
            }
        }
}

}  // namespace
}  // namespace palmette
