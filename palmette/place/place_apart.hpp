// Inside `place`: placements in which some supernodes are set apart: they are in no whole subtree, and are
// distributed over the whole grid.
#pragma once

#include "palmette/place/placement.hpp"

namespace palmette {

struct Apart {
  std::vector<char> marks;      ///< length num_supernodes
  std::vector<index_t> number;  ///< length num_supernodes: as Placement::number
};

/// As `place`. Everything above a supernode that is set apart must be set apart too.
Placement place_apart(const SymbolicFactor& symbolic, ProcessGrid grid, PlacementMap map,
                      const WholeSubtrees& whole, Apart apart);

/// Number of the grid in the placement's list; a new grid is added to it.
index_t number_of_grid(Placement& placement, const RankGrid& grid);

}  // namespace palmette
