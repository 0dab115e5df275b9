// The graph that elimination works on: the pattern of B + Bᵀ, where B is the permuted matrix.
#pragma once

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

/// A graph whose vertices are eliminated in a given order. It is never renumbered, since each phase reads it
/// only once.
struct EliminationGraph {
  const SymmetricGraph& graph;
  const std::vector<index_t>& vertex;  // length n: at each place
  const std::vector<index_t>& place;   // length n: of each vertex

  index_t size() const { return graph.n; }
  /// Call visit(place) for each neighbour of the vertex at `at`, in no particular order, possibly for `at`
  /// itself too.
  template <class Visit>
  void for_each_neighbour(index_t at, const Visit& visit) const {
    for (const index_t other : graph.neighbours(vertex[at])) visit(place[other]);
  }
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
