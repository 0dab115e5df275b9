// The number of entries that a factor has under an ordering: exact column counts without forming the factor.
#pragma once

#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

struct FillCount {
  double entries = 0;  ///< nnz(L), diagonal included; a double, since bad orders can exceed 2⁶³
  double flops = 0;    ///< Σ (column count)², the multiplications and additions of LLᵀ
};

/// Exact counts for the Cholesky factor of the graph's matrix.
/// A vertex of weight w stands for w unknowns with the same neighbours.
/// @param order  length graph.n: the vertex at each place
/// @cost O((n + edges)·α(edges, n)) time, O(n) memory in addition to the graph
/// @source [Gilbert et al. 1994]; [Davis 2006], §4.4-4.5
FillCount fill_count(const Graph& graph, const std::vector<index_t>& order);

/// The elimination tree of the graph's matrix under an ordering: the parent of each place, −1 for roots.
/// @param place  length graph.n: the inverse of `order`
/// @cost O(edges·log n)
/// @source [Liu 1990]
std::vector<index_t> elimination_tree(const Graph& graph, const std::vector<index_t>& order,
                                      const std::vector<index_t>& place);

}  // namespace palmette::order_detail
