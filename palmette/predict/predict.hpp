// The door of `predict`: structure + placement + machine → the cost of a solve, before anything is factored:
// bounds, the model of [Ding et al. 2020], a schedule, memory and messages. Runs nothing over ranks and reads
// no values.
#pragma once

#include <string>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/predict/choose_grid.hpp"
#include "palmette/predict/column_model.hpp"
#include "palmette/predict/device_model.hpp"
#include "palmette/predict/path_model.hpp"
#include "palmette/predict/rhs_groups.hpp"
#include "palmette/predict/schedule.hpp"
#include "palmette/predict/thread_model.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

/// Lower bounds of the time of a solve over this placement, in seconds. The largest is the bound.
struct SolveBound {
  /// a node reads the parts of the factor that its ranks hold, once for each sweep
  double read_seconds = 0;
  double rank_seconds = 0;     ///< a rank reads its part, and has the overhead of its messages
  double path_seconds = 0;     ///< tasks and messages along the costliest path of the graph
  double link_seconds = 0;     ///< what leaves or enters a node
  double seconds() const;
};

/// The largest and the mean over nodes or ranks.
struct Spread {
  double least = 0;
  double mean = 0;
  double most = 0;
};
/// @param values  by node or rank; empty gives zeros
Spread spread_of(const std::vector<double>& values);

/// The cost of one solve, both sweeps.
struct SolvePrediction {
  index_t num_ranks = 1;
  ProcessGrid grid;           ///< of one layer
  index_t layers = 1;
  LayeredMethod method = LayeredMethod::one_sync_3d;  ///< of several layers
  PlacementMap map = PlacementMap::block_cyclic;
  TreeShape trees = TreeShape::binary;
  PathModel model;            ///< [Ding et al. 2020]; of one layer
  SolveBound bound;
  SolveGraph tasks;           ///< that the path of the schedule refers to
  Schedule schedule;          ///< its `seconds` are the predicted time
  std::int64_t messages = 0;
  std::int64_t message_bytes = 0;
  Spread factor_bytes;        ///< over ranks: the blocks that they hold
};

/// The case to predict.
struct SolveCase {
  const SymbolicFactor& symbolic;
  const Placement& placement;
  FactorKind kind = FactorKind::llt;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
};

/// Predict a solve over the ranks of the placement by the message-driven method.
///
/// The schedule charges the tasks that the rank programs run, in their order of priority, as a simulated
/// cluster does, but without arithmetic; the bound holds for any order of tasks.
/// @throws UsageError from check(Cluster)
/// @cost   solve_tasks; O(tasks·log tasks + messages)
/// @source [Ding et al. 2020], §6
SolvePrediction predict_solve(const SolveCase& given, const Cluster& cluster);

/// A solve over several layers.
struct LayeredSolveCase {
  const SymbolicFactor& symbolic;
  LayerPlacement placement;
  LayeredMethod method = LayeredMethod::one_sync_3d;
  FactorKind kind = FactorKind::llt;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
};

/// The same for layers; the level model of [Ding et al. 2020] stays empty.
/// @throws UsageError from check(Cluster), and as layer_systems
/// @cost   layered_solve_tasks; O(tasks·log tasks + messages)
SolvePrediction predict_layered_solve(const LayeredSolveCase& given, const Cluster& cluster);

/// Only the bound, for known tasks.
SolveBound solve_bound(const SolveGraph& tasks, const RankRates& rates);

}  // namespace palmette
