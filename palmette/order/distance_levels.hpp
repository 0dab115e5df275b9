// Cuts by distance: the vertices equally far from one vertex separate the nearer ones from the farther ones.
#pragma once

#include <cstdint>
#include <vector>

#include "palmette/order/separator.hpp"

namespace palmette::order_detail {

/// Finds cuts by breadth-first search; reused for its memory by one thread.
///
/// Where each unknown is coupled to its neighbours along the axes alone (finite differences, finite volumes),
/// distances are sums of coordinates, and a level is a diagonal plane, which cuts a cube by three quarters of
/// the vertices of a plane along the axes. Multilevel cuts do not find it: clusters have lost the distances.
class DistanceLevels {
 public:
  /// The best level of three searches, as `is_better` has it: from a vertex, from one that is farthest from
  /// it, and from one that is farthest from that. Not yet improved.
  /// @param graph  of at least one vertex
  /// @param name  determines the first vertex
  /// @cost O(n + edges), three times @source [George and Liu 1978], §2
  Cut best_cut(const LevelGraph& graph, std::uint64_t name);

 private:
  /// The vertices that a search has reached, by distance.
  struct Search {
    std::vector<index_t> reached;
    std::vector<std::size_t> begin;  // of each distance in `reached`, and the end
  };
  /// One level of a search that lies in `best_`.
  struct Level {
    std::size_t begin = 0, end = 0;
    Cut weights;  // without lists
  };
  void run(const LevelGraph& graph, index_t start);
  bool choose_level(const LevelGraph& graph, offset_t total, Level& chosen) const;

  std::vector<char> seen_;  // by vertex
  Search search_, best_;
};

}  // namespace palmette::order_detail
