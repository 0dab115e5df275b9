// The methods behind one function, and the choice between them.
#include "palmette/order/choose.hpp"

#include <algorithm>
#include <atomic>
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
constexpr double merge_ratio = 0.75;      // merged vertices ÷ vertices, above which merging is not worth its time
constexpr double least_dimension = 2.5;   // from which nested dissection is begun beside AMD: meshes in three dimensions have 2.7 to 3.9
constexpr index_t fewest_to_begin_early = 4000;    // vertices: AMD takes a millisecond
constexpr index_t most_to_begin_early = 300000;    // finding the dimension takes as long as AMD beyond
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

std::vector<index_t> dissect(const Graph& graph, OrderingMethod method, int threads, const std::atomic<bool>* stop = nullptr) {
  if (method == OrderingMethod::nd) {
    ThreadTeam team(threads);
    return order_core(graph, [&](const Graph& part) { return dissection_order(part, team, stop); });
  }
  return method == OrderingMethod::metis ? order_core(graph, metis_order) : order_core(graph, scotch_order);
}

void require_available(OrderingMethod method) {
  for (const OrderingMethodInfo& info : ordering_method_list())
    if (info.method == method && !info.available)
      throw UsageError("ordering method " + std::string(name_of(method)) + " is not in this build; install lib" +
                       std::string(name_of(method)) + "-dev and configure again, or use amd or auto");
}

/// Vertices within each distance of one that lies far from the first.
std::vector<index_t> vertices_within(const Graph& graph) {
  std::vector<index_t> reached, within;
  index_t start = 0;
  for (int sweep = 0; sweep < 2; ++sweep, start = reached.back()) {
    std::vector<char> seen(static_cast<std::size_t>(graph.n), 0);
    reached.assign(1, start);
    seen[start] = 1;
    within.clear();
    for (std::size_t begin = 0; begin < reached.size();) {
      const std::size_t end = reached.size();
      within.push_back(static_cast<index_t>(end));
      for (; begin < end; ++begin)
        for (offset_t edge = graph.start[reached[begin]]; edge < graph.start[reached[begin] + 1]; ++edge)
          if (const index_t other = graph.neighbour[edge]; !seen[other]) {
            seen[other] = 1;
            reached.push_back(other);
          }
    }
  }
  return within;
}

}  // namespace

double growth_dimension(const Graph& graph) {
  if (graph.n == 0) return 0;
  const std::vector<index_t> within = vertices_within(graph);
  const std::size_t depth = within.size() - 1, near = depth / 6, far = depth / 3;
  if (near == 0 || within.back() < graph.n / 2) return 0;
  return std::log(double(within[far]) / within[near]) / std::log((static_cast<double>(far) + 0.5) / (static_cast<double>(near) + 0.5));
}

namespace {

/// Where AMD is likely to lose, another thread does not wait for it. A wrong guess costs some time and changes nothing.
bool dissection_is_likely(const Graph& merged) {
  return nested_dissection_may_pay(std::numeric_limits<double>::infinity(), merged) && growth_dimension(merged) >= least_dimension;
}

/// The choice under way: AMD's order, and nested dissection's that may be made beside it.
class AutomaticChoice {
 public:
  AutomaticChoice(const Graph& graph, int threads) : graph_(graph), merged_(merge(graph)), threads_(threads) {}

  FillOrder choose() {
    bool early = false;
    if (threads_ > 1 && small().n >= fewest_to_begin_early && small().n <= most_to_begin_early)
      ThreadTeam(2).run([&](int member) {
        if (member == 1) return order_by_degree();
        early = dissection_is_likely(small());
        if (early) dissect_with(OrderingMethod::nd);
      });
    else order_by_degree();
    if (!pays_) return std::move(chosen_);
    for (const OrderingMethod method : {OrderingMethod::nd, OrderingMethod::metis}) {
      if (method == OrderingMethod::metis && !wants_second_opinion()) break;
      if (!early || method != OrderingMethod::nd) dissect_with(method);
      if (dissected_flops_ >= flops_) continue;
      flops_ = dissected_flops_;
      chosen_ = {method, std::move(dissected_)};
    }
    return std::move(chosen_);
  }

 private:
  const Graph& small() const { return merged_.graph_of(graph_); }
  bool wants_second_opinion() const {
    return has_metis() && flops_ >= flops_for_second_opinion * static_cast<double>(small().n + small().start.back());
  }
  void order_by_degree() {
    AmdOrder amd = amd_order(graph_);
    chosen_ = {OrderingMethod::amd, std::move(amd.order)};
    // AMD's own bound takes every vertex for one unknown.
    flops_ = graph_.weight.empty() ? amd.flops_bound : fill_count(graph_, chosen_.order).flops;
    pays_ = nested_dissection_may_pay(flops_, small());
    if (!pays_) stop_.store(true, std::memory_order_relaxed);
    else if (graph_.weight.empty()) flops_ = fill_count(graph_, chosen_.order).flops;  // exact, as what it is compared with
  }
  void dissect_with(OrderingMethod method) {
    dissected_ = merged_.expand(dissect(small(), method, threads_, &stop_));
    if (!stop_.load(std::memory_order_relaxed)) dissected_flops_ = fill_count(graph_, dissected_).flops;
  }

  const Graph& graph_;
  const MergedGraph merged_;
  const int threads_;
  std::atomic<bool> stop_{false};  // AMD's order is good enough
  bool pays_ = false;
  FillOrder chosen_;
  double flops_ = 0;
  std::vector<index_t> dissected_;
  double dissected_flops_ = 0;
};

/// AMD; then, where it may pay, nested dissection, where a second opinion may pay METIS's too; the fewest flops win.
FillOrder order_automatically(const Graph& graph, int threads) { return AutomaticChoice(graph, threads).choose(); }

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
