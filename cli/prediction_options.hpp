// What predict and simulate-cluster share: the machine, how many ranks, and how they are arranged.
#pragma once

#include "cli/options.hpp"
#include "cli/rank_options.hpp"
#include "palmette/predict/predict.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::cli {

struct PlacementOptions {
  std::string machine = "this";
  bool counts_gpus = false;  ///< --gpus: ranks are devices
  std::vector<index_t> ranks = {1, 2, 4};
  std::optional<ProcessGrid> grid;
  bool chooses_grid = false;  ///< --grid auto: by prediction
  std::optional<PlacementMap> map;  ///< empty: subtree_to_subcube, or with --grid auto the better one
  std::vector<index_t> layers = {1};
  bool chooses_layers = false;  ///< --layers auto
  /// automatic: message_driven for one layer, for several what is predicted to be faster
  SolveMethod method = SolveMethod::automatic;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  bool splits_subtrees = false;  ///< no subtree stays on one rank
  bool chooses_packing = false;  ///< --packing auto: by prediction
  std::optional<Packing> packing;
  bool chooses_rhs_groups = false;  ///< --rhs-groups auto: by prediction
  index_t rhs_groups = 1;
};

void add_placement_options(CLI::App& app, PlacementOptions& options);
/// The machine whose ranks are these devices, by the file of one. @throws UsageError unless --gpus was given
/// with one device, and --machine was not
void use_device(PlacementOptions& options, const std::string& device);
/// --packing, for runs in which messages are sent.
void add_packing_option(CLI::App& app, PlacementOptions& options);
/// --rhs-groups, for runs in which messages are sent.
void add_groups_option(CLI::App& app, PlacementOptions& options);

/// "1,2,4", or "64:4096": each twice the previous one; both may be mixed. @throws UsageError
std::vector<index_t> parse_ranks(const std::string& text);

/// --method runs on each number of --layers, as palmette solve would run it. @throws UsageError
void check_method(const PlacementOptions& options);

/// The grid of --grid, or the nearest to a square. @throws UsageError if --grid has another number of ranks
ProcessGrid grid_of_ranks(const PlacementOptions& options, index_t ranks);

/// The arrangement of this many ranks, as given or as predicted to be fastest.
struct Layout {
  LayeredGrid ranks;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  WholeSubtrees whole;
  SolveMethod method = SolveMethod::message_driven;
  std::optional<Packing> packing;  ///< of small messages
  index_t rhs_groups = 1;
};

/// One for each number of ranks and each number of layers that divides it.
/// @throws UsageError if there are none, or --grid has another number of ranks
std::vector<Layout> layouts_of(const PlacementOptions& options, const SymbolicFactor& symbolic,
                               FactorKind kind, int scalar_bytes, const Cluster& cluster);

}  // namespace palmette::cli
