// Rows, blocks and updaters of each supernode, and where its panel lies.
#pragma once

#include <vector>

#include "palmette/analyze/analyze.hpp"
#include "palmette/analyze/symmetric_graph.hpp"

namespace palmette {

/// Fill supernode_of, parent, first_descendant, row lists, blocks, updaters and panel offsets of `symbolic`,
/// whose supernode_begin is set (split); `unsplit` are the supernodes before splitting.
/// @cost O(edges + row_index·log(rows of a supernode))
void fill_block_structure(const EliminationGraph& graph, const std::vector<index_t>& column_parent,
                          const std::vector<index_t>& unsplit, SymbolicFactor& symbolic);

/// Fill nnz_factor and flops_llt from column_count.
void count_entries(SymbolicFactor& symbolic);

}  // namespace palmette
