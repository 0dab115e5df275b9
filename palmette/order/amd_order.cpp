// Approximate minimum degree by SuiteSparse's AMD, in 32-bit integers where they are enough.
#include <amd.h>

#include <limits>
#include <numeric>

#include "palmette/order/fill_methods.hpp"

namespace palmette::order_detail {
namespace {

void require_success(int status, offset_t entries) {
  if (status == AMD_OUT_OF_MEMORY)
    throw MemoryError("no memory for the AMD ordering of a graph with " + std::to_string(entries / 2) + " edges",
                      entries * static_cast<offset_t>(sizeof(index_t)));
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED)
    throw UsageError("AMD refused the graph (status " + std::to_string(status) + ")");
}

std::vector<index_t> order_in_32_bits(const Graph& graph) {
  const std::vector<int> start = copied_as<int>(graph.start);
  std::vector<int> order(static_cast<std::size_t>(graph.n));
  const int status = ::amd_order(graph.n, start.data(), graph.neighbour.data(), order.data(), nullptr, nullptr);
  require_success(status, graph.start.back());
  return order;
}

std::vector<index_t> order_in_64_bits(const Graph& graph) {
  const auto start = copied_as<SuiteSparse_long>(graph.start);
  const auto neighbour = copied_as<SuiteSparse_long>(graph.neighbour);
  std::vector<SuiteSparse_long> order(static_cast<std::size_t>(graph.n));
  const int status =
      static_cast<int>(::amd_l_order(graph.n, start.data(), neighbour.data(), order.data(), nullptr, nullptr));
  require_success(status, graph.start.back());
  return copied_as<index_t>(order);
}

}  // namespace

std::vector<index_t> amd_order(const Graph& graph) {
  if (graph.neighbour.empty()) {
    std::vector<index_t> order(static_cast<std::size_t>(graph.n));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // AMD's workspace has 1.2 entries for each stored neighbour and at most 8 for each vertex, counted in its own type.
  const double workspace = 1.25 * static_cast<double>(graph.start.back()) + 8.0 * graph.n;
  return workspace < std::numeric_limits<int>::max() ? order_in_32_bits(graph) : order_in_64_bits(graph);
}

}  // namespace palmette::order_detail
