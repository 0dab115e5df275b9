// Inside `solve`: right-hand sides in groups of columns, each with a program of its own.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solve/rank_program.hpp"

namespace palmette::solve_detail {

/// The first right-hand side of a group, when so many are solved in so many groups; of `groups`: their
/// number. Groups begin at multiples of 64 bytes, so that kernels take every column in registers as wide as
/// without groups, and give it the same bits. With few right-hand sides the first groups are empty.
index_t first_rhs_of_group(index_t num_rhs, index_t groups, index_t group, int scalar_bytes);

/// Most right-hand sides of a group, if at most so many are solved.
index_t widest_group(index_t max_rhs, index_t groups, int scalar_bytes);

/// The groups' programs side by side on one transport. While the messages of one group travel, its rank works
/// on another: what a group sends is a chunk of what a task would send without groups. Tasks of the first
/// group that has some are taken first.
/// @param programs  of one rank; at least one
template <class T>
std::unique_ptr<SolveProgram<T>> grouped_program(std::vector<std::unique_ptr<SolveProgram<T>>> programs,
                                                 int threads);

}  // namespace palmette::solve_detail
