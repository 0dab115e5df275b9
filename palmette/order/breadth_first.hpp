// Breadth-first searches: how a graph grows, and an order in which neighbours lie near each other in memory.
#pragma once

#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

/// The exponent with which the number of vertices within a distance grows: about 2 for meshes in the plane,
/// 2.6 to 4.1 in space. 0 if the graph is too shallow to tell, or not connected. @cost two breadth-first
/// searches
double growth_dimension(const Graph& graph);

/// The same by small balls around a sample of the vertices: 2 to 2.3 for meshes in the plane, whatever their
/// outline, 2.7 and more in space, and between the two in thin slabs. 0 if a ball contains a quarter of the
/// graph, which then is too small or too well connected to tell. @cost about a millisecond; memory 5·n bytes
double local_dimension(const Graph& graph);

/// Whether most edges of a sample join vertices that are far apart in their numbering, in a graph beyond the
/// caches. Every pass over its edges then waits for memory. @cost O(1)
bool is_scattered(const Graph& graph);

/// The vertices in the order of a breadth-first search from the first one, and then from the first of each
/// component that is left. @cost O(n + edges)
std::vector<index_t> breadth_first_order(const Graph& graph);

/// The graph with vertex order[k] as its vertex k; neighbours ascending. @cost O(n + edges), shared by the
/// threads
Graph renumbered(const Graph& graph, const std::vector<index_t>& order, ThreadTeam& team);

}  // namespace palmette::order_detail
