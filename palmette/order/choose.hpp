// From a graph to a fill-reducing order: shrinks the graph, calls a method, expands its order. Also the rule
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
/// Before nested dissection, indistinguishable vertices (or, failing that, nearly indistinguishable ones) are
/// merged if that leaves at most 3/4 of them; vertices without neighbours are put first, and vertices with
/// very many neighbours last. `nd` and `automatic` first renumber a graph whose neighbours lie far apart in
/// memory.
/// @param threads  for nd; the order does not depend on it
/// @throws UsageError for a method that this build lacks
FillOrder order_graph(const Graph& graph, OrderingMethod method, int threads = 1);

/// The rule of `automatic`, first half: is nested dissection worth trying, given the flops of AMD's order?
///
/// Nested dissection takes about a microsecond for each vertex and entry of the (merged) graph, a
/// factorization about a second for each 2·10¹⁰ flops, so below 10⁴ flops for each vertex and entry it could
/// not save its own time even if it saved half of them. Very sparse factors (circuits, networks, most 2D
/// meshes) stay with AMD; 3D meshes are dissected. Graphs of very uneven degrees (mean square over 4 × square
/// of the mean, as in scale-free networks) have no small separators. The second half: keep the order with
/// fewer flops, counted exactly.
///
/// On some meshes METIS finds separators that save up to a fifth of the flops, and it takes two to four times
/// as long. It is also tried if a fifth of the flops is worth its time: above 1.5·10⁵ flops for each vertex
/// and entry.
///
/// AMD is not tried on large meshes in space, which growth_dimension recognizes: there it takes a quarter to
/// a half of the time and had 1.14 to 10 times the flops of nested dissection on all 14 that were tested
/// (dimensions 2.6 to 4.1). Vertices that stand for several unknowns, such as pairs of pivots, count as
/// those.
///
/// Nor is AMD tried on planar meshes from 10⁵ vertices on: three and a half to six neighbours a vertex, about
/// as many for each, a local_dimension of about 2. Cut into regions of at most 64,000 vertices, which minimum
/// degree orders, they had 0.87 to 1.00 of AMD's entries and 0.67 to 0.99 of its flops; stencils, which are
/// cut further, had 0.68 to 0.74 and 0.49 to 0.54. AMD is as good where vertices have eight neighbours, and
/// faster.
/// @param amd_flops  AMD's bound for the whole graph
bool nested_dissection_may_pay(double amd_flops, const Graph& merged);

}  // namespace palmette::order_detail
