// Part of the door of `place`: which rank owns which block.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "palmette/place/tree_partition.hpp"

namespace palmette {

struct ProcessGrid {
  index_t rows = 1;
  index_t cols = 1;
  index_t num_ranks() const { return rows * cols; }
};

/// The most nearly square grid of num_ranks ranks, rows ≥ columns.
/// @throws UsageError if num_ranks < 1
ProcessGrid nearly_square_grid(index_t num_ranks);

enum class PlacementMap {
  block_cyclic,         ///< every block on the whole grid
  /// disjoint subtrees on disjoint ranks, in proportion to their work, down to one rank
  subtree_to_subcube,
};
inline constexpr PlacementMap placement_maps[] = {PlacementMap::block_cyclic,
                                                  PlacementMap::subtree_to_subcube};
std::string_view name_of(PlacementMap map);
/// @throws UsageError listing the names
PlacementMap placement_map(std::string_view name);

/// Consecutive ranks first … first + grid.num_ranks() − 1 arranged as a grid, row by row; blocks are
/// distributed cyclically.
struct RankGrid {
  index_t first = 0;
  ProcessGrid grid;

  index_t owner(index_t row_supernode, index_t column_supernode) const {
    return first + (row_supernode % grid.rows) * grid.cols + column_supernode % grid.cols;
  }
  bool contains(index_t rank) const { return rank >= first && rank < first + grid.num_ranks(); }
};

/// Owners of blocks. Constant after construction.
struct Placement {
  ProcessGrid grid;
  index_t num_supernodes = 0;
  PlacementMap map = PlacementMap::block_cyclic;
  std::vector<RankGrid> grids;   ///< those that occur; empty: only the whole grid
  /// length num_supernodes: number of the grid of its columns; empty: the whole grid
  std::vector<index_t> grid_of;
  /// Groups of supernodes. Those that are whole subtrees are on one rank each; the others are single
  /// supernodes. The same for any grid.
  TreePartition units;
  std::vector<char> is_whole;    ///< length units
  /// length num_supernodes: number for the cyclic distribution of its blocks; empty: its own
  std::vector<index_t> number;

  RankGrid grid_of_column(index_t supernode) const {
    return grid_of.empty() ? RankGrid{0, grid}
                           : grids[grid_of[supernode]];
  }
  index_t number_of(index_t supernode) const {
    return number.empty() ? supernode : number[supernode];
  }
  /// Rank that owns the block of rows `row_supernode` in the columns of `column_supernode`.
  index_t owner(index_t row_supernode, index_t column_supernode) const {
    return grid_of_column(column_supernode).owner(number_of(row_supernode), number_of(column_supernode));
  }
  index_t num_ranks() const { return grid.num_ranks(); }
  /// Whether the supernode is part of a subtree that is not distributed.
  bool lies_whole(index_t supernode) const {
    const std::vector<index_t>& begin = units.group_begin;
    const auto unit =
        static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), supernode) - begin.begin()) - 1;
    return unit < is_whole.size() && is_whole[unit] != 0;
  }
};

/// Which subtrees stay on one rank each and so need no messages.
struct WholeSubtrees {
  bool kept = true;        ///< false: none, every supernode is distributed
  double max_entries = 0;  ///< as sweep_groups
};

/// @throws UsageError if the grid has no ranks
/// @cost   a few passes over the supernodes
/// @source [Pothen and Sun 1993]
Placement place(const SymbolicFactor& symbolic, ProcessGrid grid = {},
                PlacementMap map = PlacementMap::block_cyclic, const WholeSubtrees& whole = {});

/// The same placement, but supernodes `first`, … are in no whole subtree, and their blocks lie on all ranks.
Placement with_last_over_all(Placement placement, index_t first);

}  // namespace palmette
