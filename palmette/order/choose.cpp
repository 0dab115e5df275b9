// One function for all methods, and the choice between them.
#include "palmette/order/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "palmette/order/dissection.hpp"
#include "palmette/order/fill_methods.hpp"

namespace palmette::order_detail {
namespace {

constexpr double flops_to_pay = 1e4;      // for each vertex and entry of the merged graph
constexpr double flops_for_second_opinion = 1.5e5;  // likewise
constexpr double most_uneven = 4;         // mean square degree ÷ square of the mean degree
// merged vertices ÷ vertices; above this, merging costs more than it saves
constexpr double merge_ratio = 0.75;
// part of a sample of the vertices that must have an indistinguishable neighbour; merging needs more than a
// quarter of all
constexpr double fewest_twins = 0.1;
// growth_dimension of meshes in space; other graphs may have a larger one
constexpr double space_begins = 2.5, space_ends = 4.2;
// flops of AMD's order ÷ (vertices · edges) of a mesh in space; usually 0.7
constexpr double space_flops = 0.5;
constexpr index_t most_in_space = 300000;  // vertices: beyond, finding the dimension takes as long as AMD
constexpr std::size_t deep = 60;  // distances of a graph of which a third tells how it grows
constexpr index_t fewest_to_dissect =
    32;  // AMD orders smaller graphs: there is nothing to gain, and METIS is fragile there

std::vector<index_t> identity_order(index_t n) {
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// A graph and the groups of original vertices that its vertices stand for.
struct MergedGraph {
  Graph graph;
  Groups groups;        // empty if not merged
  bool merged = false;
  bool alike = false;   // the members of each group have the same neighbours

  const Graph& graph_of(const Graph& original) const { return merged ? graph : original; }
  std::vector<index_t> expand(std::vector<index_t> order) const {
    return merged ? groups.expand(order) : order;
  }
};

MergedGraph merge(const Graph& graph) {
  MergedGraph result;
  if (sampled_twins(graph) >= fewest_twins) {
    result.groups = indistinguishable(graph);
    result.alike = result.groups.count() <= merge_ratio * graph.n;
  }
  if (!result.alike) result.groups = nearly_indistinguishable(graph);
  result.merged = result.groups.count() <= merge_ratio * graph.n;
  if (result.merged) result.graph = quotient(graph, result.groups, result.alike);
  return result;
}

/// Vertices with more neighbours than this do not help to find a cut, and slow dissection down.
double quasi_dense_degree(const Graph& graph) {
  return std::max(64.0, 10 * std::sqrt(static_cast<double>(graph.n)));
}

/// Nested dissection of the vertices with neighbours, but not too many; those without neighbours are put
/// first, those with too many last.
template <class Dissect>
std::vector<index_t> order_core(const Graph& graph, const Dissect& dissect) {
  const double crowded = quasi_dense_degree(graph);
  std::vector<index_t> core, order, last, place(graph.n, -1);
  for (index_t vertex = 0; vertex < graph.n; ++vertex)
    if (static_cast<double>(graph.degree(vertex)) > crowded) last.push_back(vertex);
    else place[vertex] = 0;
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    if (place[vertex] < 0) continue;
    const auto begin = graph.neighbour.begin() + graph.start[vertex],
               end = graph.neighbour.begin() + graph.start[vertex + 1];
    if (std::any_of(begin, end, [&](index_t other) { return place[other] >= 0; })) core.push_back(vertex);
    else order.push_back(vertex);
  }
  if (static_cast<index_t>(core.size()) == graph.n && graph.n >= fewest_to_dissect) return dissect(graph);
  std::fill(place.begin(), place.end(), -1);
  for (std::size_t at = 0; at < core.size(); ++at) place[core[at]] = static_cast<index_t>(at);
  const Graph part = induced(graph, core, place);
  for (const index_t at : part.n < fewest_to_dissect ? amd_order(part).order : dissect(part))
    order.push_back(core[at]);
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
      throw UsageError("ordering method " + std::string(name_of(method)) +
                       " is not in this build; install lib" + std::string(name_of(method)) +
                       "-dev and configure again, or use amd or auto");
}

/// A breadth-first search.
struct Sweep {
  std::vector<index_t> within;  // number of vertices within each distance of the first one
  index_t last = 0;             // a vertex that was reached last
};

/// @param most  distances to visit
Sweep sweep_from(index_t start, const Graph& graph, std::size_t most) {
  std::vector<index_t> reached(graph.n);
  std::vector<char> seen(graph.n, 0);
  Sweep sweep;
  reached[0] = start;
  seen[start] = 1;
  for (index_t begin = 0, count = 1; begin < count && sweep.within.size() < most;) {
    const index_t end = count;
    sweep.within.push_back(end);
    for (; begin < end; ++begin)
      for (offset_t edge = graph.start[reached[begin]]; edge < graph.start[reached[begin] + 1]; ++edge)
        if (const index_t other = graph.neighbour[edge]; !seen[other]) {
          seen[other] = 1;
          reached[count++] = other;
        }
    sweep.last = reached[end - 1];
  }
  return sweep;
}

}  // namespace

/// The second search begins far from the first one's start, at a border. It goes through a deep graph no
/// further than needed.
double growth_dimension(const Graph& graph) {
  if (graph.n == 0) return 0;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const Sweep first = sweep_from(0, graph, all);
  if (first.within.back() < graph.n / 2) return 0;
  std::size_t depth = first.within.size() - 1;
  const bool is_deep = depth >= deep;
  const Sweep second = sweep_from(first.last, graph, is_deep ? depth / 3 + 1 : all);
  if (!is_deep) depth = second.within.size() - 1;
  const std::size_t near = depth / 6, far = depth / 3;
  if (near == 0) return 0;
  return std::log(double(second.within[far]) / second.within[near]) /
         std::log((static_cast<double>(far) + 0.5) / (static_cast<double>(near) + 0.5));
}

namespace {

/// Number of unknowns times number of entries beside the diagonal, if every unknown of a vertex is coupled to
/// every unknown of its neighbours.
double unknowns_times_entries(const Graph& graph) {
  double unknowns = 0, entries = 0;
  for (index_t vertex = 0; vertex < graph.n; ++vertex) {
    double coupled = 0;
    for (offset_t edge = graph.start[vertex]; edge < graph.start[vertex + 1]; ++edge)
      coupled += graph.weight_of(graph.neighbour[edge]);
    unknowns += graph.weight_of(vertex);
    entries += graph.weight_of(vertex) * coupled;
  }
  return unknowns * entries;
}

/// Whether AMD is certain to lose and need not be tried: a mesh in space, large enough for nested dissection
/// to pay. Depends on the graph alone, since the order must.
bool is_large_mesh_in_space(const Graph& graph, const Graph& merged) {
  const double least_flops = space_flops * unknowns_times_entries(graph);
  if (merged.n > most_in_space || !nested_dissection_may_pay(least_flops, merged)) return false;
  const double dimension = growth_dimension(merged);
  return dimension >= space_begins && dimension <= space_ends;
}

/// An order and its cost.
struct Candidate {
  FillOrder order;
  double flops = 0;
};

Candidate dissection_of(const Graph& graph, const MergedGraph& merged, OrderingMethod method, int threads) {
  const Graph& small = merged.graph_of(graph);
  std::vector<index_t> order = dissect(small, method, threads);
  // Vertices with the same neighbours need not be told apart to count.
  const bool counts_small = !merged.merged || merged.alike;
  const double flops = counts_small ? fill_count(small, order).flops : 0;
  Candidate made{{method, merged.expand(std::move(order))}, flops};
  if (!counts_small) made.flops = fill_count(graph, made.order.order).flops;
  return made;
}

/// AMD and, if it may pay, nested dissection.
Candidate best_of_ours(const Graph& graph, const MergedGraph& merged, int threads) {
  const Graph& small = merged.graph_of(graph);
  if (is_large_mesh_in_space(graph, small)) return dissection_of(graph, merged, OrderingMethod::nd, threads);
  AmdOrder amd = amd_order(graph);
  Candidate best{{OrderingMethod::amd, std::move(amd.order)}, 0};
  // AMD's own bound counts every vertex as one unknown.
  best.flops = graph.weight.empty() ? amd.flops_bound : fill_count(graph, best.order.order).flops;
  if (!nested_dissection_may_pay(best.flops, small)) return {std::move(best.order), 0};
  // exact, like the counts that it is compared with
  if (graph.weight.empty()) best.flops = fill_count(graph, best.order.order).flops;
  Candidate dissected = dissection_of(graph, merged, OrderingMethod::nd, threads);
  return dissected.flops < best.flops ? std::move(dissected) : std::move(best);
}

/// The order with the fewer flops: ours or, if trying METIS may pay, that of METIS.
FillOrder order_automatically(const Graph& graph, int threads) {
  const MergedGraph merged = merge(graph);
  const Graph& small = merged.graph_of(graph);
  Candidate best = best_of_ours(graph, merged, threads);
  if (has_metis() &&
      best.flops >= flops_for_second_opinion * static_cast<double>(small.n + small.start.back())) {
    Candidate second = dissection_of(graph, merged, OrderingMethod::metis, threads);
    if (second.flops < best.flops) best = std::move(second);
  }
  return std::move(best.order);
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
