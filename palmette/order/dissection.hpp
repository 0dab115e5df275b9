// Palmette's own nested dissection.
#pragma once

#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

/// Nested dissection: length n, the vertex at each place.
///
/// Each region is coarsened, cut on its coarsest graph several times, and the better cuts improved on the way
/// back; its two sides go on likewise until they are small. Those are ordered by minimum degree with the
/// separators around them in view, and separators come after what they part. A region without a good
/// separator stays whole. The branches of the tree are shared by the threads of the team, and so is the
/// coarsening of the whole graph; the order depends on the graph alone.
/// @throws MemoryError
/// @cost O((n + edges)·log n) in practice; memory about 4 × the graph
/// @source [George 1973]; [Karypis and Kumar 1998];
///         [Pellegrini et al. 2000] for minimum degree with a halo
std::vector<index_t> dissection_order(const Graph& graph, ThreadTeam& team);

}  // namespace palmette::order_detail
