// Inside `solve`: the program of a rank that is in one layer among several.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solve/rank_program.hpp"

namespace palmette::sweep {

/// Fills body.caller_row. @returns rows of the whole permuted matrix whose values this rank provides and
/// receives
template <class T>
std::vector<index_t> list_caller_rows(const LayerSystem& system, RankPlanBody<T>& body);

/// With one_sync_3d each layer sweeps forward through all that it holds, right-hand sides of what several
/// layers hold being zero on all but the first; then partners add up, once, what they share; then each layer
/// sweeps backward. With baseline_3d what several layers hold is swept by the first of them, which waits for
/// the contributions of the others, and sends them the solution on the way back.
///
/// @param body, system  must outlive the program. The transport of a solve is that of all layers.
template <class T>
std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>& body, const LayerSystem& system);

}  // namespace palmette::sweep
