// Approximate minimum degree by SuiteSparse's AMD, in 32-bit integers where they are enough.
#include <amd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "palmette/order/fill_methods.hpp"

namespace palmette::order_detail {
namespace {

[[noreturn]] void no_memory(offset_t entries) {
  throw MemoryError(
      "no memory for the AMD ordering of a graph with " + std::to_string(entries / 2) + " edges",
      entries * static_cast<offset_t>(sizeof(index_t)));
}

void require_success(int status, offset_t entries) {
  if (status == AMD_OUT_OF_MEMORY) no_memory(entries);
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED)
    throw UsageError("AMD refused the graph (status " + std::to_string(status) + ")");
}

/// Σ (c + 1)² with c = entries of a column below the diagonal: AMD knows Σ c and Σ (c² + c) / 2.
double flops_of(const double* info) { return info[AMD_N] + info[AMD_NDIV] + 2 * info[AMD_NMULTSUBS_LDL]; }

/// Whether lists ascend, without repetition, and as many entries lie before their vertices as behind them:
/// AMD's kernel needs that each edge is in both its lists, and its door makes it so.
bool has_ascending_lists(const Graph& graph) {
  offset_t earlier = 0;
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    const auto begin = graph.neighbour.begin() + graph.start[vertex],
               end = graph.neighbour.begin() + graph.start[vertex + 1];
    if (std::adjacent_find(begin, end, std::greater_equal<>()) != end) return false;
    earlier += std::lower_bound(begin, end, vertex) - begin;
  }
  return 2 * earlier == graph.start.back();
}

/// amd_order without its checks, its sum of the matrix and its transpose, and its copy of that: the graph is
/// such a sum, and amd_order would make these lists of it, in this order.
AmdOrder order_of_ascending_lists(const Graph& graph) try {
  const int n = graph.n, entries = static_cast<int>(graph.start.back());
  const int room = entries + entries / 5 + n;  // as amd_order reserves
  const auto lists = std::make_unique_for_overwrite<int[]>(room);
  std::copy_n(graph.neighbour.data(), entries, lists.get());
  // Entries of one vertex are used together: apart by a power of two, they would share few places of a cache.
  constexpr std::size_t num_arrays = 8, gap = 272;
  const std::size_t stride = static_cast<std::size_t>(n) + gap;
  const auto arrays = std::make_unique_for_overwrite<int[]>(num_arrays * stride);
  const auto array = [&](std::size_t nth) { return arrays.get() + nth * stride; };
  int *const start = array(0), *const length = array(1);
  for (int vertex = 0; vertex < n; ++vertex) {
    start[vertex] = static_cast<int>(graph.start[vertex]);
    length[vertex] = static_cast<int>(graph.degree(vertex));
  }
  std::vector<int> order(n);
  double info[AMD_INFO];
  info[AMD_N] = n;
  ::amd_2(n, start, lists.get(), length, room, entries, array(2), array(3), order.data(), array(4), array(5),
          array(6), array(7), nullptr, info);
  return {std::move(order), flops_of(info)};
} catch (const std::bad_alloc&) {
  no_memory(graph.start.back());
}

AmdOrder order_in_32_bits(const Graph& graph) {
  if (has_ascending_lists(graph)) return order_of_ascending_lists(graph);
  const std::vector<int> start = copied_as<int>(graph.start);
  std::vector<int> order(graph.n);
  double info[AMD_INFO];
  const int status = ::amd_order(graph.n, start.data(), graph.neighbour.data(), order.data(), nullptr, info);
  require_success(status, graph.start.back());
  return {std::move(order), flops_of(info)};
}

AmdOrder order_in_64_bits(const Graph& graph) {
  const auto start = copied_as<SuiteSparse_long>(graph.start);
  const auto neighbour = copied_as<SuiteSparse_long>(graph.neighbour);
  std::vector<SuiteSparse_long> order(graph.n);
  double info[AMD_INFO];
  const int status =
      static_cast<int>(::amd_l_order(graph.n, start.data(), neighbour.data(), order.data(), nullptr, info));
  require_success(status, graph.start.back());
  return {copied_as<index_t>(order), flops_of(info)};
}

}  // namespace

AmdOrder amd_order(const Graph& graph) {
  if (graph.neighbour.empty()) {
    AmdOrder natural{std::vector<index_t>(graph.n), static_cast<double>(graph.n)};
    std::iota(natural.order.begin(), natural.order.end(), 0);
    return natural;
  }
  // AMD's workspace has 1.2 entries for each stored neighbour and at most 8 for each vertex, counted in its
  // index type.
  const double workspace = 1.25 * static_cast<double>(graph.start.back()) + 8.0 * graph.n;
  return workspace < std::numeric_limits<int>::max() ? order_in_32_bits(graph) : order_in_64_bits(graph);
}

ThinOrder amd_order_of_columns(int n, const int* start, const int* row) {
  ThinOrder thin;
  thin.order.resize(n);
  double info[AMD_INFO];
  require_success(::amd_order(n, start, row, thin.order.data(), nullptr, info), start[n]);
  thin.entries = info[AMD_LNZ] + n;
  thin.flops = flops_of(info);
  return thin;
}

}  // namespace palmette::order_detail
