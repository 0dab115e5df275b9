// The fill-reducing methods of outside libraries, each as one function from a graph to an order.
#pragma once

#include <vector>

#include "palmette/order/graph.hpp"

namespace palmette::order_detail {

struct AmdOrder {
  std::vector<index_t> order;  ///< length n: the vertex at each place
  /// at least Σ (column count)², and seldom much more; costs nothing extra. Weights are ignored
  double flops_bound = 0;
};

/// Approximate minimum degree. Weights are ignored.
/// @throws MemoryError
/// @source [Amestoy et al. 1996]
AmdOrder amd_order(const Graph& graph);

/// Approximate minimum degree of A + Aᵀ, without a Graph: rows of column j at row[start[j] … start[j + 1]),
/// any order.
struct ThinOrder {
  std::vector<int> order;  ///< length n
  double entries = 0;      ///< of L, diagonal included: a bound
  double flops = 0;        ///< Σ (column count)²: a bound
};
ThinOrder amd_order_of_columns(int n, const int* start, const int* row);

/// Nested dissection by METIS, always with the same seed: length n, the vertex at each place. Calls wait for
/// each other, since METIS uses the C library's single random generator; if another thread of the program
/// calls rand() meanwhile, the order changes.
/// @param graph  at least one edge at each vertex
/// @throws MemoryError; UsageError if this build has no METIS or the graph is too large for its index type
/// @source [Karypis and Kumar 1998]
std::vector<index_t> metis_order(const Graph& graph);

/// Nested dissection by Scotch, always with the same seed, on one thread: length n, the vertex at each place.
/// Calls wait for each other.
/// @param graph  at least one edge at each vertex
/// @throws MemoryError; UsageError if this build has no Scotch or the graph is too large for its index type
/// @source [Pellegrini et al. 2000]
std::vector<index_t> scotch_order(const Graph& graph);

bool has_metis();
bool has_scotch();

/// A copy of an array in the integer type of an outside library.
template <class To, class From>
std::vector<To> copied_as(const std::vector<From>& from) {
  return std::vector<To>(from.begin(), from.end());
}

}  // namespace palmette::order_detail
