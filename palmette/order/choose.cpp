// The methods behind one function, and the choice between them.
#include "palmette/order/choose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "palmette/order/dissection.hpp"
#include "palmette/order/fill_methods.hpp"

namespace palmette::order_detail {
namespace {

constexpr double flops_to_pay = 1e4;      // for each vertex and entry of the merged graph
constexpr double flops_for_second_opinion = 1.5e5;  // likewise
constexpr double most_uneven = 4;         // mean square degree ÷ square of the mean degree
constexpr double merge_ratio = 0.75;      // merged vertices ÷ vertices, above which merging is not worth its time
constexpr index_t fewest_to_dissect = 32; // smaller graphs go to AMD: nothing to gain, and METIS is fragile there

std::vector<index_t> identity_order(index_t n) {
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// A graph and the groups of original vertices that its vertices stand for.
struct MergedGraph {
  Graph graph;
  Groups groups;        // empty if not merged
  bool merged = false;

  const Graph& graph_of(const Graph& original) const { return merged ? graph : original; }
  std::vector<index_t> expand(std::vector<index_t> order) const { return merged ? groups.expand(order) : order; }
};

MergedGraph merge(const Graph& graph) {
  MergedGraph result;
  result.groups = indistinguishable(graph);
  const bool alike = result.groups.count() <= merge_ratio * graph.n;
  if (!alike) result.groups = nearly_indistinguishable(graph);
  result.merged = result.groups.count() <= merge_ratio * graph.n;
  if (result.merged) result.graph = quotient(graph, result.groups, alike);
  return result;
}

/// Vertices with more neighbours than this say nothing about where to cut, and make dissection slow.
double quasi_dense_degree(const Graph& graph) { return std::max(64.0, 10 * std::sqrt(static_cast<double>(graph.n))); }

/// Nested dissection of the vertices that have neighbours, but not too many; the lone ones first, the crowded ones last.
template <class Dissect>
std::vector<index_t> order_core(const Graph& graph, const Dissect& dissect) {
  const double crowded = quasi_dense_degree(graph);
  std::vector<index_t> core, order, last, place(static_cast<std::size_t>(graph.n), -1);
  for (index_t vertex = 0; vertex < graph.n; ++vertex)
    if (static_cast<double>(graph.degree(vertex)) > crowded) last.push_back(vertex);
    else place[vertex] = 0;
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    if (place[vertex] < 0) continue;
    const auto begin = graph.neighbour.begin() + graph.start[vertex], end = graph.neighbour.begin() + graph.start[vertex + 1];
    if (std::any_of(begin, end, [&](index_t other) { return place[other] >= 0; })) core.push_back(vertex);
    else order.push_back(vertex);
  }
  std::fill(place.begin(), place.end(), -1);
  for (std::size_t at = 0; at < core.size(); ++at) place[core[at]] = static_cast<index_t>(at);
  const Graph part = induced(graph, core, place);
  for (const index_t at : part.n < fewest_to_dissect ? amd_order(part).order : dissect(part)) order.push_back(core[at]);
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

std::vector<index_t> dissect(const Graph& graph, OrderingMethod method, int threads) {
  if (method == OrderingMethod::nd) {
    ThreadTeam team(threads);
    return order_core(graph, [&](const Graph& part) { return dissection_order(part, team); });
  }
  return method == OrderingMethod::metis ? order_core(graph, metis_order) : order_core(graph, scotch_order);
}

void require_available(OrderingMethod method) {
  for (const OrderingMethodInfo& info : ordering_method_list())
    if (info.method == method && !info.available)
      throw UsageError("ordering method " + std::string(name_of(method)) + " is not in this build; install lib" +
                       std::string(name_of(method)) + "-dev and configure again, or use amd or auto");
}

/// AMD; then, where it may pay, nested dissection, where a second opinion may pay METIS's too; the fewest flops win.
FillOrder order_automatically(const Graph& graph, int threads) {
  AmdOrder amd = amd_order(graph);
  FillOrder chosen{OrderingMethod::amd, std::move(amd.order)};
  // AMD's own bound takes every vertex for one unknown.
  double flops = graph.weight.empty() ? amd.flops_bound : fill_count(graph, chosen.order).flops;
  const MergedGraph merged = merge(graph);
  const Graph& small = merged.graph_of(graph);
  if (!nested_dissection_may_pay(flops, small)) return chosen;
  if (graph.weight.empty()) flops = fill_count(graph, chosen.order).flops;  // exact, as what it is compared with
  for (const OrderingMethod method : {OrderingMethod::nd, OrderingMethod::metis}) {
    if (method == OrderingMethod::metis &&
        (!has_metis() || flops < flops_for_second_opinion * static_cast<double>(small.n + small.start.back())))
      break;
    std::vector<index_t> dissected = merged.expand(dissect(small, method, threads));
    const double dissected_flops = fill_count(graph, dissected).flops;
    if (dissected_flops >= flops) continue;
    flops = dissected_flops;
    chosen = {method, std::move(dissected)};
  }
  return chosen;
}

}  // namespace

bool nested_dissection_may_pay(double amd_flops, const Graph& merged) {
  if (amd_flops <= flops_to_pay * static_cast<double>(merged.n + merged.start.back())) return false;
  const double crowded = quasi_dense_degree(merged);
  double vertices = 0, sum = 0, square_sum = 0;
  for (index_t vertex = 0; vertex < merged.n; ++vertex) {
    const double degree = static_cast<double>(merged.degree(vertex));
    if (degree > crowded) continue;
    vertices += 1;
    sum += degree;
    square_sum += degree * degree;
  }
  return square_sum * vertices <= most_uneven * sum * sum;
}

FillOrder order_graph(const Graph& graph, OrderingMethod method, int threads) {
  require_available(method);
  switch (method) {
    case OrderingMethod::automatic: return order_automatically(graph, threads);
    case OrderingMethod::amd: return {method, amd_order(graph).order};
    case OrderingMethod::nd:
    case OrderingMethod::metis:
    case OrderingMethod::scotch: {
      const MergedGraph merged = merge(graph);
      return {method, merged.expand(dissect(merged.graph_of(graph), method, threads))};
    }
    default: return {OrderingMethod::natural, identity_order(graph.n)};
  }
}

}  // namespace palmette::order_detail
