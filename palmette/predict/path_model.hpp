// Part of the door of `predict`: the critical-path model of [Ding et al. 2020], §6, Algorithm 1, for both
// sweeps.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/place/place.hpp"

namespace palmette {

/// A block on the refined critical path.
struct PathBlock {
  index_t row_supernode = 0;
  index_t column_supernode = 0;
  index_t level = 0;
  /// on the path of the task graph itself; others are included because their process has several in the level
  bool is_initial = false;
};

/// Seconds for both sweeps.
struct PathModel {
  double compute_lower_seconds = 0;   ///< the largest sum of blocks of one rank
  double compute_upper_seconds = 0;   ///< along the refined path
  double communication_binary_seconds = 0;
  double communication_flat_seconds = 0;
  index_t levels = 0;                 ///< of the forward sweep
  std::vector<PathBlock> path;        ///< of the forward sweep, by level
};

struct PathModelCase {
  const SymbolicFactor& symbolic;
  const Placement& placement;
  int scalar_bytes = 8;
  index_t num_rhs = 1;
};

/// Levels of blocks by breadth-first search; each level takes as long as its busiest rank; diagonal blocks on
/// the path pay for the ranks in their row and column.
///
/// As printed, log2(#in) makes a reduction from one rank free; we take log2(#in + 1), the depth of the tree
/// with its root.
/// @param link  L_net and BW_net of the model
/// @cost  O(blocks·log blocks)
PathModel path_model(const PathModelCase& given, const Cluster& cluster);

}  // namespace palmette
