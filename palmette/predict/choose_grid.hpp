// Part of the door of `predict`: which process grid, map and layers a solve should have.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

struct GridChoice {
  ProcessGrid grid;  ///< of one layer
  PlacementMap map = PlacementMap::subtree_to_subcube;
  double seconds = 0;  ///< predicted, of one solve
  index_t layers = 1;
  LayeredMethod method = LayeredMethod::one_sync_3d;  ///< of several layers
};

/// The solve, and its number of ranks.
struct GridQuestion {
  const SymbolicFactor& symbolic;
  index_t num_ranks = 1;
  std::vector<PlacementMap> maps = {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic};
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
  std::vector<index_t> layers = {1};  ///< those that do not divide the ranks are omitted
  /// of several layers
  std::vector<LayeredMethod> methods = {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d};
  FactorKind kind = FactorKind::llt;
};

/// All grids of this many ranks with all maps, layers and methods, the fastest first (of equals, fewer
/// layers, then the one nearer to a square).
/// @throws UsageError if there are no ranks, or no maps, or no number of layers divides the ranks
/// @cost   a schedule (schedule_solve) for each divisor of the number of ranks, map, and (with several
///   layers) method
std::vector<GridChoice> ranked_grids(const GridQuestion& question, const Cluster& cluster);

/// One of the first of ranked_grids, found with fewer schedules: first compares layers and methods on nearly
/// square grids with the first map; then grids, maps and methods for the best three numbers of layers.
GridChoice chosen_layout(const GridQuestion& question, const Cluster& cluster);

/// The predicted time of a solve over this layout, in seconds.
double predicted_seconds(const GridQuestion& question, const GridChoice& layout, const Cluster& cluster);

/// The tasks of a solve over this layout.
SolveGraph tasks_of(const GridQuestion& question, const GridChoice& layout);

/// 1, 2, 4, …, as long as they divide the ranks.
std::vector<index_t> doubling_layers(index_t ranks);

/// Whole subtrees that are small enough for this many ranks; for up to 16 ranks those that a solve uses, so
/// that x has the bits of one rank. None for ranks of several workers, which take supernodes one by one.
WholeSubtrees subtrees_for(const SymbolicFactor& symbolic, index_t ranks, index_t workers = 1);

}  // namespace palmette
