// Part of the door of `tasks`: a solve over layers of ranks as one graph.
#pragma once

#include <vector>

#include "palmette/place/place.hpp"
#include "palmette/tasks/solve_tasks.hpp"

namespace palmette {

/// Both sweeps of all layers, and their exchanges in between (one_sync_3d) or at each level of the cut
/// (baseline_3d). Ranks are numbered in the whole run, supernodes in the whole structure. Each exchange of a
/// rank is a task for each direction, which reads and writes its rows once.
/// @param systems  of all layers, from layer_systems
/// @throws UsageError if there are none
/// @cost   solve_tasks and layer_steps for every layer
SolveGraph layered_solve_tasks(const std::vector<LayerSystem>& systems, TreeShape trees);

}  // namespace palmette
