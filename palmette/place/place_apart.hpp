// Inside `place`: placements in which some supernodes stand apart: they are in no whole subtree and go round
// the whole grid.
#pragma once

#include "palmette/place/placement.hpp"

namespace palmette {

struct Apart {
  std::vector<char> marks;      ///< length num_supernodes
  std::vector<index_t> number;  ///< length num_supernodes: as Placement::number
};

/// As place. Everything above a supernode that stands apart must do so too.
Placement place_apart(const SymbolicFactor& symbolic, ProcessGrid grid, PlacementMap map,
                      const WholeSubtrees& whole, Apart apart);

/// Number of the grid in the placement's list, to which it is added where it is new.
index_t number_of_grid(Placement& placement, const RankGrid& grid);

}  // namespace palmette
