// Part of the door of `tasks`: a solve over layers of ranks as one graph.
#pragma once

#include <vector>

#include "palmette/place/place.hpp"
#include "palmette/tasks/solve_tasks.hpp"

namespace palmette {

/// Both sweeps of all layers, and their meetings in between (one_sync_3d) or at each level of the cut
/// (baseline_3d); ranks are those of the whole run, supernodes those of the whole structure. Each meeting of
/// a rank is a task for each direction, its rows read and written once.
/// @param systems  of all layers, as layer_systems makes them
/// @throws UsageError if there are none
/// @cost   solve_tasks and layer_steps for every layer
SolveTasks layered_solve_tasks(const std::vector<LayerSystem>& systems, TreeShape trees);

}  // namespace palmette
