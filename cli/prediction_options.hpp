// What predict and simulate-cluster share: the machine, how many ranks, and how they are arranged.
#pragma once

#include "cli/options.hpp"
#include "cli/rank_options.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {

struct PlacementOptions {
  std::string machine = "this";
  std::vector<index_t> ranks = {1, 2, 4};
  std::optional<ProcessGrid> grid;
  bool chooses_grid = false;  ///< --grid auto: by prediction
  std::optional<PlacementMap> map;  ///< empty: subtree_to_subcube, or with --grid auto the better one
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
};

void add_placement_options(CLI::App& app, PlacementOptions& options);

/// "1,2,4", or "64:4096": each twice the one before; both may be mixed. @throws UsageError
std::vector<index_t> parse_ranks(const std::string& text);

/// The grid of --grid, or the nearest to a square. @throws UsageError if --grid has another number of ranks
ProcessGrid grid_of_ranks(const PlacementOptions& options, index_t ranks);

/// The grid of --grid, or what is predicted to be the fastest. Where nothing is left to choose, `seconds` is 0.
/// @param question  its maps are ignored
GridChoice choose(const PlacementOptions& options, GridQuestion question, const Cluster& cluster);

}  // namespace palmette::cli
