// Part of the door of `predict`: which process grid and map a solve should have.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

struct GridChoice {
  ProcessGrid grid;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  double seconds = 0;  ///< predicted, of one solve
};

/// What is to be solved, on how many ranks.
struct GridQuestion {
  const SymbolicFactor& symbolic;
  index_t num_ranks = 1;
  std::vector<PlacementMap> maps = {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic};
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
};

/// All grids of so many ranks with all maps, the fastest first (of equals, the one nearer to a square).
/// @throws UsageError if there are no ranks or no maps
/// @cost   a schedule (schedule_solve) for each divisor of the number of ranks and each map
std::vector<GridChoice> ranked_grids(const GridQuestion& question, const Cluster& cluster);

}  // namespace palmette
