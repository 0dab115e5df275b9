// The undirected graph of A + Aᵀ that fill-reducing methods order, and the ways to make it smaller: merging
// vertices into groups, and splitting off vertices that need no method.
#pragma once

#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::order_detail {

/// Undirected, without loops or multiple edges; both directions of each edge are stored.
struct Graph {
  index_t n = 0;
  std::vector<offset_t> start = {0};  // length n + 1
  // length 2 × edges; ascending within a vertex only if a function says so
  std::vector<index_t> neighbour;
  std::vector<index_t> weight;        // length n: number of unknowns that a vertex represents; empty: one
                                      // each

  offset_t degree(index_t vertex) const { return start[vertex + 1] - start[vertex]; }
  index_t weight_of(index_t vertex) const { return weight.empty() ? 1 : weight[vertex]; }
};

/// A partition of vertices: group g holds member[start[g] … start[g+1]), in the order that they are to have.
struct Groups {
  std::vector<index_t> start = {0};  // length groups + 1
  std::vector<index_t> member;       // length n

  index_t count() const { return static_cast<index_t>(start.size()) - 1; }
  /// The group of each vertex, length n.
  std::vector<index_t> group_of() const;
  /// The vertices in the order of their groups. @param order  length count(): the groups in order
  std::vector<index_t> expand(const std::vector<index_t>& order) const;
};

/// The graph of PA + (PA)ᵀ, where row i of A becomes row new_row[i]; neighbours ascending.
/// @param new_row  length n, or empty for the identity
/// @param symmetric  a promise that the pattern is symmetric (with new_row empty): saves a transposition
/// @cost O(n + nnz)
Graph adjacency(const SparsityPattern& pattern, const std::vector<index_t>& new_row, bool symmetric);

/// One vertex for each group, weights added up.
/// @param alike  a promise that the members of a group have the same neighbours: only the first is read
Graph quotient(const Graph& graph, const Groups& groups, bool alike);

/// Groups of adjacent vertices with the same neighbours (each counted as its own neighbour), in order of
/// their first member. Elimination cannot tell them apart, so an optimal order keeps them together.
/// @cost O(n + edges) expected: vertices are compared only with neighbours of equal hash
/// @source [Ashcraft 1995]
Groups indistinguishable(const Graph& graph);

/// Of some 250 vertices, evenly spread, the part that has an indistinguishable neighbour; 1 for small graphs.
/// @param graph  any
/// @cost O(degrees of the sample and of its neighbours)
double sampled_twins(const Graph& graph);

/// Groups of adjacent vertices with nearly the same neighbours: of the neighbours of either vertex, at least
/// three in five are neighbours of both. The unknowns of one mesh point are like this if not all of their
/// couplings are stored. Vertices with fewer than a dozen neighbours stay single, and so do all vertices if a
/// sample shows that few would be grouped.
/// @cost O(n + edges) expected: only vertices with like sketches (smallest hashes of their neighbours) are
///   compared
/// @source [Broder 1997], for the sketches
Groups nearly_indistinguishable(const Graph& graph);

/// The subgraph of the listed vertices, numbered as listed. @param place  length n: place in `vertices`, or
/// −1
Graph induced(const Graph& graph, const std::vector<index_t>& vertices, const std::vector<index_t>& place);

}  // namespace palmette::order_detail
