// The graph that elimination works on: the pattern of B + Bᵀ without its diagonal, B the permuted matrix.
#pragma once

#include <span>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Neighbours of vertex j are neighbour[ptr[j] … ptr[j+1]), ascending, each once, never j itself.
struct SymmetricGraph {
  index_t n = 0;
  std::vector<offset_t> ptr = {0};  // length n + 1
  std::vector<index_t> neighbour;   // length ptr[n]

  std::span<const index_t> neighbours(index_t j) const {
    return {neighbour.data() + ptr[j], static_cast<std::size_t>(ptr[j + 1] - ptr[j])};
  }
};

/// @param pattern  n × n; entry (row.new_to_old[i], column.new_to_old[j]) makes the edge {i, j}
/// @cost O(nnz + n) by two bucket passes
SymmetricGraph symmetric_graph(const SparsityPattern& pattern, const Permutation& row, const Permutation& column);

/// The same graph with vertex place[k] renamed k. @cost O(edges + n)
SymmetricGraph renumber(const SymmetricGraph& graph, const Permutation& place);

}  // namespace palmette
