// Part of the door of `predict`: whether right-hand sides should be solved in groups of columns.
#pragma once

#include "palmette/predict/schedule.hpp"

namespace palmette {

/// The tasks of all groups, with tasks of earlier groups more urgent than those of later ones.
/// @param groups  >= 1
SolveGraph tasks_in_groups(const SolveGraph& tasks, index_t groups);

/// What groups would do, predicted.
struct GroupChoice {
  index_t groups = 1;        ///< 1: they do not pay
  double plain_seconds = 0;  ///< of a solve with all right-hand sides together
  double seconds = 0;        ///< of a solve with this choice
};

/// In how many groups the right-hand sides of `rates` should be solved: 2, 4 or 8, each of at least 64 bytes
/// for a row, whichever has the shortest schedule, if it is shorter than without groups by more than
/// schedules usually err, 5 %.
/// @cost  schedules of at most 15 times the tasks
GroupChoice choose_rhs_groups(const SolveGraph& tasks, const RankRates& rates);

}  // namespace palmette
