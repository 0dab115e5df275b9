// One function for all methods, and the choice between them.
#include "palmette/order/choose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "palmette/order/breadth_first.hpp"
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
constexpr double plane_begins = 1.6, plane_ends = 2.35;  // local_dimension of meshes in the plane
constexpr index_t fewest_in_plane = 100000;  // vertices; one or two cuts
// Neighbours of a vertex, on average: planar graphs have less than six, networks of lines two or three.
constexpr double fewest_neighbours = 3.5, most_neighbours = 6;
constexpr double most_uneven_in_plane = 1.5;  // as most_uneven
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

/// Of the vertices without very many neighbours.
struct Degrees {
  double mean = 0;
  double unevenness = 1;  // mean square ÷ square of the mean

  explicit Degrees(const Graph& graph) {
    const double crowded = quasi_dense_degree(graph);
    double vertices = 0, sum = 0, square_sum = 0;
    for (index_t vertex = 0; vertex < graph.n; ++vertex) {
      const double degree = static_cast<double>(graph.degree(vertex));
      if (degree > crowded) continue;
      vertices += 1;
      sum += degree;
      square_sum += degree * degree;
    }
    if (sum == 0) return;
    mean = sum / vertices;
    unevenness = square_sum * vertices / (sum * sum);
  }
};

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

Dissected dissect_ours(const Graph& graph, index_t largest_whole, ThreadTeam& team) {
  bool is_stencil = false;
  std::vector<index_t> order = order_core(graph, [&](const Graph& part) {
    Dissected made = dissection_order(part, largest_whole, team);
    is_stencil = made.is_stencil;
    return std::move(made.order);
  });
  return {std::move(order), is_stencil};
}

Dissected dissect(const Graph& graph, OrderingMethod method, ThreadTeam& team) {
  if (method == OrderingMethod::nd) return dissect_ours(graph, small_region, team);
  return {order_core(graph, method == OrderingMethod::metis ? metis_order : scotch_order)};
}

void require_available(OrderingMethod method) {
  for (const OrderingMethodInfo& info : ordering_method_list())
    if (info.method == method && !info.available)
      throw UsageError("ordering method " + std::string(name_of(method)) +
                       " is not in this build; install lib" + std::string(name_of(method)) +
                       "-dev and configure again, or use amd or auto");
}

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

/// What kind of large mesh a graph is, if any.
enum class Mesh { none, plane, space };

/// Whether a graph looks like a planar mesh, and is so large that cuts above minimum degree pay.
bool is_large_and_planar(const Graph& graph, double dimension) {
  if (graph.n < fewest_in_plane || dimension < plane_begins || dimension > plane_ends) return false;
  const Degrees degrees(graph);
  return degrees.mean >= fewest_neighbours && degrees.mean <= most_neighbours &&
         degrees.unevenness <= most_uneven_in_plane;
}

/// Whether AMD is certain to lose and need not be tried: a mesh in space, large enough for nested dissection
/// to pay, or a large planar one. Depends on the graph alone, since the order must.
Mesh mesh_of(const Graph& graph, const Graph& merged) {
  const bool may_pay = nested_dissection_may_pay(space_flops * unknowns_times_entries(graph), merged);
  if (!may_pay && merged.n < fewest_in_plane) return Mesh::none;
  const double dimension = local_dimension(merged);
  if (is_large_and_planar(merged, dimension)) return Mesh::plane;
  if (!may_pay || (dimension >= plane_begins && dimension <= plane_ends)) return Mesh::none;
  const double growth = growth_dimension(merged);
  return growth >= space_begins && growth <= space_ends ? Mesh::space : Mesh::none;
}

/// An order and its cost.
struct Candidate {
  FillOrder order;
  double flops = 0;
  bool is_stencil = false;  ///< cut by distances, which METIS does not do
};

Candidate dissection_of(const Graph& graph, const MergedGraph& merged, OrderingMethod method,
                        ThreadTeam& team) {
  const Graph& small = merged.graph_of(graph);
  auto [order, is_stencil] = dissect(small, method, team);
  // Vertices with the same neighbours need not be told apart to count.
  const bool counts_small = !merged.merged || merged.alike;
  const double flops = counts_small ? fill_count(small, order).flops : 0;
  Candidate made{{method, merged.expand(std::move(order))}, flops, is_stencil};
  if (!counts_small) made.flops = fill_count(graph, made.order.order).flops;
  return made;
}

/// AMD and, if it may pay, nested dissection.
Candidate best_of_ours(const Graph& graph, const MergedGraph& merged, ThreadTeam& team) {
  const Graph& small = merged.graph_of(graph);
  switch (mesh_of(graph, small)) {
    case Mesh::space: return dissection_of(graph, merged, OrderingMethod::nd, team);
    case Mesh::plane:  // far too few flops for a second opinion: not counted
      return {{OrderingMethod::nd, merged.expand(dissect_ours(small, plane_region, team).order)}, 0};
    case Mesh::none: break;
  }
  AmdOrder amd = amd_order(graph);
  Candidate best{{OrderingMethod::amd, std::move(amd.order)}, 0};
  // AMD's own bound counts every vertex as one unknown.
  best.flops = graph.weight.empty() ? amd.flops_bound : fill_count(graph, best.order.order).flops;
  if (!nested_dissection_may_pay(best.flops, small)) return {std::move(best.order), 0};
  // exact, like the counts that it is compared with
  if (graph.weight.empty()) best.flops = fill_count(graph, best.order.order).flops;
  Candidate dissected = dissection_of(graph, merged, OrderingMethod::nd, team);
  return dissected.flops < best.flops ? std::move(dissected) : std::move(best);
}

/// The order with the fewer flops: ours or, if trying METIS may pay, that of METIS, which has more on
/// stencils.
FillOrder order_automatically(const Graph& graph, ThreadTeam& team) {
  const MergedGraph merged = merge(graph);
  const Graph& small = merged.graph_of(graph);
  Candidate best = best_of_ours(graph, merged, team);
  if (has_metis() && !best.is_stencil &&
      best.flops >= flops_for_second_opinion * static_cast<double>(small.n + small.start.back())) {
    Candidate second = dissection_of(graph, merged, OrderingMethod::metis, team);
    if (second.flops < best.flops) best = std::move(second);
  }
  return std::move(best.order);
}

}  // namespace

bool nested_dissection_may_pay(double amd_flops, const Graph& merged) {
  if (amd_flops <= flops_to_pay * static_cast<double>(merged.n + merged.start.back())) return false;
  return Degrees(merged).unevenness <= most_uneven;
}

namespace {

FillOrder order_as_numbered(const Graph& graph, OrderingMethod method, ThreadTeam& team) {
  switch (method) {
    case OrderingMethod::automatic: return order_automatically(graph, team);
    case OrderingMethod::amd: return {method, amd_order(graph).order};
    case OrderingMethod::nd:
    case OrderingMethod::metis:
    case OrderingMethod::scotch: {
      const MergedGraph merged = merge(graph);
      return {method, merged.expand(dissect(merged.graph_of(graph), method, team).order)};
    }
    default: return {OrderingMethod::natural, identity_order(graph.n)};
  }
}

}  // namespace

FillOrder order_graph(const Graph& graph, OrderingMethod method, int threads) {
  require_available(method);
  ThreadTeam team(threads);
  const bool may_renumber = method == OrderingMethod::automatic || method == OrderingMethod::nd;
  if (!may_renumber || !is_scattered(graph)) return order_as_numbered(graph, method, team);
  const std::vector<index_t> near = breadth_first_order(graph);
  FillOrder made = order_as_numbered(renumbered(graph, near, team), method, team);
  for (index_t& vertex : made.order) vertex = near[vertex];
  return made;
}

}  // namespace palmette::order_detail
