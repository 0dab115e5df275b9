// The graph that elimination works on: the pattern of B + Bᵀ, where B is the permuted matrix.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Neighbours of vertex j are neighbour[ptr[j] … ptr[j+1]), each once, in any order, possibly with j itself.
struct SymmetricGraph {
  index_t n = 0;
  std::span<const offset_t> ptr;       // length n + 1
  std::span<const index_t> neighbour;  // length ptr[n]
  std::vector<offset_t> own_ptr;       // storage of the spans, unless they refer to the pattern passed in
  std::vector<index_t> own_neighbour;

  std::span<const index_t> neighbours(index_t j) const {
    return {neighbour.data() + ptr[j], static_cast<std::size_t>(ptr[j + 1] - ptr[j])};
  }
};

/// A graph renumbered by the places at which its vertices are eliminated. Every postorder of the elimination
/// tree has the same earlier and later neighbours, since neighbours are ancestor and descendant.
class EliminationGraph {
 public:
  /// @param order  of the graph's vertices
  /// @param team  null: only the caller's thread
  /// @throws UsageError if not every edge can be in the lists of both its ends: their numbers differ
  /// @cost O(n + edges); memory 4 bytes for each entry of the graph, 16 for each vertex
  EliminationGraph(const SymmetricGraph& graph, const Permutation& order, ThreadTeam* team);

  index_t size() const { return static_cast<index_t>(start_.size()) - 1; }
  /// The places of the neighbours that are eliminated before the vertex at `place`, in no particular order.
  std::span<const index_t> earlier(index_t place) const {
    return {neighbour_.get() + start_[place], static_cast<std::size_t>(num_earlier_[place])};
  }
  /// Those eliminated after it.
  std::span<const index_t> later(index_t place) const {
    return {neighbour_.get() + start_[place + 1] - num_later_[place],
            static_cast<std::size_t>(num_later_[place])};
  }

 private:
  void place_neighbours(const SymmetricGraph& graph, const Permutation& order, index_t place);

  std::vector<offset_t> start_;  // length n + 1
  std::vector<index_t> num_earlier_, num_later_;
  std::unique_ptr<index_t[]> neighbour_;  // of each place: the earlier ones, perhaps a gap, the later ones
};

/// Vertices are the columns of the pattern.
/// @param pattern  n × n, must outlive the graph; entry (row.new_to_old[i], column.new_to_old[j]) makes an
///   edge between the columns at places i and j
/// @param is_symmetric  a promise that the pattern is its own transpose; with row and column equal, it is the
///   graph
/// @cost O(nnz + n) by a bucket pass; nothing where the pattern is the graph
SymmetricGraph symmetric_graph(const SparsityPattern& pattern, const Permutation& row,
                               const Permutation& column, bool is_symmetric);

}  // namespace palmette
