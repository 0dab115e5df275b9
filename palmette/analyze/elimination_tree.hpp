// The elimination tree, its postorder, and the column counts of the factor.
#pragma once

#include <vector>

#include "palmette/analyze/symmetric_graph.hpp"

namespace palmette {

/// parent[j] = smallest row below the diagonal in column j of L; −1 at roots. Length n, by place.
/// @cost O(edges·α(n)) @source [Liu 1990]
std::vector<index_t> elimination_tree(const EliminationGraph& graph);

/// A postorder in which the children of each vertex are in ascending `rank` (length n, values from 0 to n, or
/// empty: all equal), and children of equal rank in ascending order. Not recursive. @returns new_to_old
/// @cost O(n)
std::vector<index_t> postorder(const std::vector<index_t>& parent, const std::vector<index_t>& rank);

/// Entries in each column of L, diagonal included. Length n, by place.
/// @param post  any postorder of the tree, new_to_old
/// @cost O(edges·α(n)) @source [Gilbert et al. 1994]
std::vector<index_t> column_counts(const EliminationGraph& graph, const std::vector<index_t>& parent,
                                   const std::vector<index_t>& post);

}  // namespace palmette
