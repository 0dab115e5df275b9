// What a rank sends and reads in a factorization, against the definition: an update of block (Y, X) reads the
// blocks of rows Y and of rows X of its source.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "palmette/tasks/tasks.hpp"
#include "tests/predict/predict_testing.hpp"

namespace palmette {
namespace {

/// Calls update(source, row block, column block, owner of the target) for each update of the first sources.
template <class Update>
void for_each_update(const SymbolicFactor& symbolic, const Placement& placement, index_t num_sources,
                     const Update& update) {
  for (index_t s = 0; s < num_sources; ++s)
    for (offset_t row = symbolic.block_ptr[s]; row < symbolic.block_ptr[s + 1]; ++row)
      for (offset_t column = symbolic.block_ptr[s]; column <= row; ++column)
        update(s, row, column,
               placement.owner(symbolic.blocks[row].row_supernode, symbolic.blocks[column].row_supernode));
}

void expect_destinations(const SymbolicFactor& symbolic, const Placement& placement, const FanOut& fan) {
  std::vector<std::set<index_t>> readers(symbolic.blocks.size());
  const auto note = [&](index_t, offset_t row, offset_t column, index_t owner) {
    if (owner == fan.owned.rank) return;
    readers[row].insert(owner);
    readers[column].insert(owner);
  };
  for_each_update(symbolic, placement, fan.num_eliminated, note);
  for (std::size_t own = 0; own < fan.owned.own.size(); ++own) {
    const std::set<index_t> goes_to(fan.goes_to.begin() + fan.goes_ptr[own],
                                    fan.goes_to.begin() + fan.goes_ptr[own + 1]);
    EXPECT_EQ(goes_to, readers[fan.owned.own[own].block]) << "block " << fan.owned.own[own].block;
    EXPECT_EQ(static_cast<offset_t>(goes_to.size()), fan.goes_ptr[own + 1] - fan.goes_ptr[own]);
  }
}

/// Every block that an own target reads is needed by its step, unless it lies in an own panel.
void expect_steps(const SymbolicFactor& symbolic, const Placement& placement, const FanOut& fan) {
  std::vector<char> has_all(symbolic.num_supernodes(), 1);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    has_all[s] = placement.owner(s, s) == fan.owned.rank;
    for (const Block& block : symbolic.blocks_of(s))
      has_all[s] = has_all[s] && placement.owner(block.row_supernode, s) == fan.owned.rank;
  }
  std::map<std::pair<index_t, offset_t>, std::set<offset_t>> reads;  // by target and right block
  const auto note = [&](index_t s, offset_t row, offset_t column, index_t owner) {
    if (owner != fan.owned.rank) return;
    std::set<offset_t>& blocks = reads[{symbolic.blocks[column].row_supernode, column}];
    blocks.insert(column);
    if (!has_all[s]) blocks.insert(row);
  };
  for_each_update(symbolic, placement, fan.num_eliminated, note);
  for (index_t p = 0; p < fan.owned.num_panels(); ++p)
    for (offset_t step = fan.step_ptr[p]; step < fan.step_ptr[p + 1]; ++step) {
      const UpdateStep& what = fan.steps[step];
      const std::set<offset_t> needs(fan.needs.begin() + fan.need_ptr[step],
                                     fan.needs.begin() + fan.need_ptr[step + 1]);
      const auto found = reads.find({fan.owned.panel[p], what.right});
      ASSERT_NE(found, reads.end());
      EXPECT_EQ(needs, found->second);
      EXPECT_EQ(what.own_panel, has_all[what.source] ? fan.owned.panel_number(what.source) : -1);
      reads.erase(found);
    }
  EXPECT_TRUE(reads.empty()) << "updates without a step";
}

void expect_fan_outs(const SymbolicFactor& symbolic, const Placement& placement, index_t columns_last) {
  for (index_t rank = 0; rank < placement.num_ranks(); ++rank) {
    SCOPED_TRACE(std::to_string(placement.grid.rows) + "x" + std::to_string(placement.grid.cols) + " rank " +
                 std::to_string(rank) + ", last columns " + std::to_string(columns_last));
    const FanOut fan = fan_out(symbolic, placement, rank, columns_last);
    expect_destinations(symbolic, placement, fan);
    expect_steps(symbolic, placement, fan);
  }
}

TEST(fan_out, sends_and_reads_what_updates_need) {
  const SparseMatrix<double> matrix = testing::grid_matrix(17);
  const SymbolicFactor symbolic = analyze(matrix.pattern, testing::nested_dissection(matrix));
  for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
    for (const ProcessGrid grid : {ProcessGrid{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}, {7, 1}})
      for (const WholeSubtrees whole : {WholeSubtrees{true, 0}, {true, 60}, {false, 0}}) {
        const Placement placement = place(symbolic, grid, map, whole);
        expect_fan_outs(symbolic, placement, 0);
        for (const index_t last : {1, 5, 40}) {  // supernodes that only take updates
          const index_t first = symbolic.num_supernodes() - last;
          expect_fan_outs(symbolic, with_last_over_all(placement, first),
                          symbolic.n - symbolic.supernode_begin[first]);
        }
      }
}

}  // namespace
}  // namespace palmette
