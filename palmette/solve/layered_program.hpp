// Inside `solve`: the program of a rank in one of several layers.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solve/rank_program.hpp"

namespace palmette::solve_detail {

/// Fills body.caller_row and body.own_row. @returns rows of the whole permuted matrix whose values this rank
/// provides and receives
template <class T>
std::vector<index_t> list_caller_rows(const LayerSystem& system, RankPlanBody<T>& body);

/// With one_sync_3d each layer sweeps forward through everything that it holds; the right-hand sides of
/// shared supernodes are zero on all layers except the first. Then partners add up, once, what they share,
/// and each layer sweeps backward. With baseline_3d only the first of its layers sweeps a shared supernode:
/// it waits for the others' contributions, and sends them the solution on the way back.
///
/// @param body, system  must outlive the program. The transport of a solve is that of all layers.
/// @param group         of right-hand sides
template <class T>
std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>& body, const LayerSystem& system,
                                                 index_t group = 0);

}  // namespace palmette::solve_detail
