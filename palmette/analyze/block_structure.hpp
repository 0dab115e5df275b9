// Rows, blocks and updaters of each supernode, and where its panel lies.
#pragma once

#include <vector>

#include "palmette/analyze/analyze.hpp"
#include "palmette/analyze/symmetric_graph.hpp"

namespace palmette {

/// The elimination tree in its final numbering, over a graph in an earlier one.
struct NumberedTree {
  const EliminationGraph& graph;
  const Permutation& order;            // from the graph's numbering to the final one, a postorder
  const std::vector<index_t>& parent;  // length n, final numbering
  const std::vector<index_t>& count;   // length n: entries of each column of L
};

/// Fill supernode_of, parent, first_descendant, row lists, blocks, updaters and panel offsets of `symbolic`,
/// whose supernode_begin is set (split); `unsplit` are the supernodes before splitting.
/// @cost O(edges + row_index)
void fill_block_structure(const NumberedTree& tree, const std::vector<index_t>& unsplit,
                          SymbolicFactor& symbolic);

/// Fill nnz_factor and flops_llt from column_count.
void count_entries(SymbolicFactor& symbolic);

}  // namespace palmette
