// Palmette's own nested dissection.
#pragma once

#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

struct Dissected {
  std::vector<index_t> order;  ///< length n: the vertex at each place
  bool is_stencil = false;     ///< a level of a search was the better cut of the whole graph
};

/// Nested dissection.
///
/// Each region is cut in two ways, and the better cut is taken: it is coarsened, and a cut of the coarsest
/// graph is improved on the way back; and the best level of some breadth-first searches is improved. Graphs
/// for which levels win on the whole and in each region, as for stencils of neighbours along the axes, are
/// cut by levels alone, until regions have at most `stencil_region` vertices if more were allowed. Where
/// levels have lost three times in a row, they are not tried any more. The two sides are dissected in the
/// same way until they are small. Small regions are ordered by minimum degree, which takes the separators
/// around them into account, and separators come after the regions that they separate. A region without a
/// good separator stays whole. The threads of the team share the branches of the tree and the coarsening of
/// the whole graph; the order depends on the graph alone.
/// @param largest_whole  regions of at most this many vertices are not cut, those of stencils aside
/// @throws MemoryError
/// @cost O((n + edges)·log n) in practice; memory about 4 × the graph
/// @source [George 1973]; [Karypis and Kumar 1998]; [George and Liu 1978] for cuts by distance;
///         [Pellegrini et al. 2000] for minimum degree with a halo
Dissected dissection_order(const Graph& graph, index_t largest_whole, ThreadTeam& team);

/// Regions that minimum degree orders at least as well as further cuts would, and faster.
inline constexpr index_t small_region = 200;
/// Of meshes in the plane: there minimum degree lacks only the first cuts.
inline constexpr index_t plane_region = 64000;
/// Of stencils, whose cuts cost less: in the plane a percent more entries than with small regions, in three
/// quarters of the time.
inline constexpr index_t stencil_region = 2000;

}  // namespace palmette::order_detail
