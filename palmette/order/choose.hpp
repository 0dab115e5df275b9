// From a graph to a fill-reducing order: shrinks the graph, calls a method, expands its order; and the rule
// of `automatic`.
#pragma once

#include "palmette/order/fill_count.hpp"
#include "palmette/order/graph.hpp"
#include "palmette/order/order.hpp"

namespace palmette::order_detail {

struct FillOrder {
  OrderingMethod method = OrderingMethod::natural;  ///< the one used, never automatic
  std::vector<index_t> order;                       ///< length n: the vertex at each place
};

/// Order a graph by amd, nd, metis, scotch, natural or automatic.
///
/// Before nested dissection, indistinguishable vertices, or else nearly so, are merged where that leaves at
/// most 3/4 of them; vertices without neighbours are put first, and vertices with very many neighbours last.
/// @param threads  for nd; the order does not depend on it
/// @throws UsageError for a method that this build lacks
FillOrder order_graph(const Graph& graph, OrderingMethod method, int threads = 1);

/// The rule of `automatic`, first half: is nested dissection worth trying, once AMD has said what it would
/// cost without?
///
/// Nested dissection takes about a microsecond for each vertex and entry of the (merged) graph, a
/// factorization about a second for each 2·10¹⁰ flops, so below 10⁴ flops for each vertex and entry it could
/// not earn its time even if it saved half of them. Very sparse factors (2D meshes, circuits, networks) stay
/// with AMD, 3D meshes go on. Graphs of very uneven degrees (mean square over 4 × square of the mean, as in
/// scale-free networks) have no small separators. The second half is: keep whichever order has the fewer
/// flops, counted exactly.
///
/// METIS's separators are better by up to a fifth of the flops on some meshes, and it takes two to four times
/// as long. It is asked too where a fifth of the flops are worth its time: above 1.5·10⁵ flops for each
/// vertex and entry.
///
/// AMD is not even tried on large meshes in space, which growth_dimension tells: there it takes a quarter to
/// a half of the time and had 1.14 to 10 times the flops of nested dissection in all 14 that were looked at
/// (dimensions 2.6 to 4.1).
/// @param amd_flops  AMD's bound for the whole graph
bool nested_dissection_may_pay(double amd_flops, const Graph& merged);

/// How the number of vertices within a distance grows with it: about 2 in meshes of the plane, 2.6 to 4.1 in
/// space. 0 where the graph is too shallow to tell, or falls apart. @cost two breadth-first searches
double growth_dimension(const Graph& graph);

}  // namespace palmette::order_detail
