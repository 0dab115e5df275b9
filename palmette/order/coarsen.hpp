// The hierarchy of smaller and smaller graphs on which dissection finds its separators.
#pragma once

#include <span>
#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

/// One level: a graph with weights, and its vertices' clusters on the next coarser level.
struct LevelGraph {
  index_t n = 0;
  std::span<const offset_t> start;     // length n + 1
  std::span<const index_t> neighbour;  // length start[n]
  std::span<const index_t> weight;     // length n: unknowns that a vertex stands for
  std::vector<index_t> edge_weight;    // length start[n], or empty: one each

  std::vector<index_t> cluster_start;  // length n of the coarser level + 1
  std::vector<index_t> cluster_member; // length n: the members of each cluster

  std::vector<offset_t> own_start;     // storage of the spans, except on the finest level
  std::vector<index_t> own_neighbour;
  std::vector<index_t> own_weight;

  std::span<const index_t> neighbours(index_t vertex) const {
    return neighbour.subspan(start[vertex],
                             start[vertex + 1] - start[vertex]);
  }
};

/// The graph as a level of its own; refers to the graph's arrays, which must outlive it.
LevelGraph finest_level(const Graph& graph);

/// The levels from the graph itself to a graph of about `coarsest` vertices, or to the level at which merging
/// no longer helps.
///
/// Each vertex is matched with the neighbour whose edge is heaviest relative to its weight. Unmatched
/// vertices join a neighbour's cluster or, where stars stall the matching, one another. No cluster is heavier
/// than four times the mean. The result depends on the graph alone, not on the number of threads.
/// @param graph  must outlive the result
/// @cost O(n + edges), about half of it on the finest level
/// @source [Karypis and Kumar 1998], §3.1; [LaSalle et al. 2015] for two-hop matching
std::vector<LevelGraph> coarsen(const Graph& graph, index_t coarsest, ThreadTeam& team);

}  // namespace palmette::order_detail
