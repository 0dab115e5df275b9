// Cuts by distance: the vertices equally far from one vertex separate the nearer ones from the farther ones.
#pragma once

#include <cstdint>

#include "palmette/order/separator.hpp"

namespace palmette::order_detail {

/// The best level of three breadth-first searches, as `is_better` has it: from a vertex, from one that is
/// farthest from it, and from one that is farthest from that. Not yet improved.
///
/// Where each unknown is coupled to its neighbours along the axes alone (finite differences, finite volumes),
/// distances are sums of coordinates, and a level is a diagonal plane, which cuts a cube by three quarters of
/// the vertices of a plane along the axes. Multilevel cuts do not find it: clusters have lost the distances.
/// @param graph  of at least one vertex
/// @param name  determines the first vertex
/// @cost O(n + edges), three times @source [George and Liu 1978], §2
Cut cut_by_distance(const LevelGraph& graph, std::uint64_t name);

}  // namespace palmette::order_detail
