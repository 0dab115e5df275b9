// Part of the door of `tasks`: which part of the tree a solve visits if b has few entries, or few entries of
// x are wanted.
#pragma once

#include <span>
#include <vector>

#include "palmette/place/place.hpp"

namespace palmette {

/// The forward sweep visits the supernodes with entries of b and their ancestors; the backward sweep those
/// with wanted entries of x, and their ancestors. All other values are zero, or nobody asks for them. Marks
/// of groups of supernodes say that some of theirs are visited.
/// Source: [Gilbert and Peierls 1988]; [Amestoy et al. 2012].
class SolveReach {
 public:
  /// @param groups         consecutive supernodes; if a group is visited, so is the group of its parent
  /// @param given, wanted  rows of the structure, in any order
  /// @cost  O(num_supernodes) bytes, and the supernodes visited
  SolveReach(const SymbolicFactor& symbolic, const TreePartition& groups, std::span<const index_t> given,
             std::span<const index_t> wanted);

  bool forward(index_t s) const { return forward_.supernode[s] != 0; }
  bool forward_group(index_t group) const { return forward_.group[group] != 0; }
  bool backward(index_t s) const { return backward_.supernode[s] != 0; }
  bool backward_group(index_t group) const { return backward_.group[group] != 0; }
  /// Groups that the forward sweep visits, in no order.
  const std::vector<index_t>& forward_groups() const { return forward_.groups; }
  /// Entries of panels that both sweeps read.
  double entries() const { return forward_.entries + backward_.entries; }

 private:
  struct Visited {
    std::vector<unsigned char> supernode, group;
    std::vector<index_t> groups;
    double entries = 0;
  };
  static Visited visit(const SymbolicFactor& symbolic, const TreePartition& groups,
                       std::span<const index_t> rows);

  Visited forward_, backward_;
};

}  // namespace palmette
