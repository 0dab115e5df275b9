// Bounds, model and schedule of one case.
#include "palmette/predict/predict.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// Bytes of the blocks that each rank holds.
std::vector<double> factor_bytes(const SymbolicFactor& symbolic, const Placement& placement,
                                 double entry_bytes) {
  std::vector<double> bytes(placement.num_ranks());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s);
    bytes[placement.owner(s, s)] += width * width * entry_bytes;
    for (const Block& block : symbolic.blocks_of(s))
      bytes[placement.owner(block.row_supernode, s)] +=
          width * block.count * entry_bytes;
  }
  return bytes;
}

double entry_bytes(FactorKind kind, int scalar_bytes) {
  return (kind == FactorKind::lu ? 2.0 : 1.0) * scalar_bytes;
}

/// What passes the gates of groups of ranks, by level and group.
struct GateBytes {
  std::vector<double> out, in;
};

/// The work of each rank and the traffic of each group.
struct Totals {
  std::vector<double> rank_bytes, overhead_seconds;  // by rank
  std::vector<GateBytes> gates;                      // by level of links
};

Totals totals(const SolveGraph& tasks, const RankRates& rates) {
  const auto ranks = static_cast<std::size_t>(tasks.num_ranks);
  const Cluster& cluster = rates.cluster;
  const std::vector<double> zeros(ranks);
  Totals all{zeros, zeros, std::vector<GateBytes>(cluster.links.size(), {zeros, zeros})};
  for (const SolveTask& task : tasks.tasks)
    all.rank_bytes[task.rank] += rates.work(task).bytes;
  for (const SolveEdge& edge : tasks.edges) {
    const index_t from = tasks.tasks[edge.from].rank,
                  to = tasks.tasks[edge.to].rank;
    if (from == to) continue;
    const Link& link = cluster.link(from, to);
    all.overhead_seconds[from] += link.send_overhead_us * 1e-6;
    all.overhead_seconds[to] += link.receive_overhead_us * 1e-6;
    const auto bytes = static_cast<double>(rates.message_bytes(edge));
    for (std::size_t level = 0; level < cluster.level_of(from, to); ++level) {
      all.gates[level].out[from / cluster.links[level].ranks] += bytes;
      all.gates[level].in[to / cluster.links[level].ranks] += bytes;
    }
  }
  return all;
}

/// Longest path without any interference: each rank has the memory to itself, tasks have no overheads.
double path_seconds(const SolveGraph& tasks, const RankRates& rates, const std::vector<double>& alone_gbs) {
  std::vector<double> begin(tasks.tasks.size());
  double longest = 0;
  for (index_t task = 0; task < tasks.num_tasks(); ++task) {
    const SolveTask& one = tasks.tasks[task];
    const double end = begin[task] +
                       rates.work(one).bytes / (alone_gbs[one.rank] * 1e9);
    longest = std::max(longest, end);
    for (const SolveEdge& edge : tasks.out(task)) {
      const index_t to = tasks.tasks[edge.to].rank;
      double hop = 0;
      if (to != one.rank) {
        const Link& link = rates.cluster.link(one.rank, to);
        hop = link.seconds(rates.message_bytes(edge)) +
              (link.send_overhead_us + link.receive_overhead_us) * 1e-6;
      }
      double& there = begin[edge.to];
      there = std::max(there, end + hop);
    }
  }
  return longest;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{values.empty() ? 0 : values[0], 0, 0};
  for (const double one : values) {
    spread.least = std::min(spread.least, one);
    spread.most = std::max(spread.most, one);
    spread.mean += one / static_cast<double>(values.size());
  }
  return spread;
}

double SolveBound::seconds() const {
  return std::max({read_seconds, rank_seconds, path_seconds, link_seconds});
}

namespace {

/// The time of the busiest gate.
double gate_seconds(const Totals& all, const Cluster& cluster) {
  double seconds = 0;
  for (std::size_t level = 0; level < cluster.links.size(); ++level) {
    const double gbs = cluster.links[level].injection_gbs;
    if (gbs <= 0) continue;
    for (const std::vector<double>* const bytes : {&all.gates[level].out, &all.gates[level].in})
      seconds = std::max(seconds, *std::max_element(bytes->begin(), bytes->end()) / (gbs * 1e9));
  }
  return seconds;
}

}  // namespace

SolveBound solve_bound(const SolveGraph& tasks, const RankRates& rates) {
  const Cluster& cluster = rates.cluster;
  const Totals all = totals(tasks, rates);
  SolveBound bound;
  std::vector<double> alone_gbs;
  std::vector<double> memory_bytes(all.rank_bytes.size()), cached_bytes(all.rank_bytes.size());
  for (std::size_t rank = 0; rank < all.rank_bytes.size(); ++rank) {
    const double bytes = all.rank_bytes[rank];
    // Caches may hold more than solves usually find there: up to twice as much.
    alone_gbs.push_back(cluster.rank_read_gbs(1, bytes / 4));
    bound.rank_seconds =
        std::max(bound.rank_seconds, bytes / (alone_gbs.back() * 1e9) + all.overhead_seconds[rank]);
    const std::size_t memory = rank / static_cast<std::size_t>(cluster.ranks_per_memory);
    memory_bytes[memory] += bytes;
    cached_bytes[memory] += cluster.cache_gbs > 0 ? std::min(bytes, 4 * cluster.rank_cache(1)) : 0;
  }
  const double memory_gbs = rate_at(cluster.memory_gbs, cluster.ranks_per_memory);
  for (std::size_t memory = 0; memory < memory_bytes.size(); ++memory)
    bound.read_seconds =
        std::max(bound.read_seconds, (memory_bytes[memory] - cached_bytes[memory]) / (memory_gbs * 1e9));
  bound.link_seconds = gate_seconds(all, cluster);
  bound.path_seconds = path_seconds(tasks, rates, alone_gbs);
  return bound;
}

namespace {

/// The part of the prediction that follows from the tasks alone.
void predict_tasks(const RankRates& rates, SolvePrediction& result) {
  result.bound = solve_bound(result.tasks, rates);
  result.schedule = schedule_solve(result.tasks, rates);
  for (const SolveEdge& edge : result.tasks.edges) {
    if (edge.message_rows == 0) continue;
    ++result.messages;
    result.message_bytes += static_cast<std::int64_t>(rates.message_bytes(edge));
  }
}

void check_sides(index_t num_rhs) {
  if (num_rhs < 1)
    throw UsageError("a prediction for " + std::to_string(num_rhs) +
                     " right-hand sides; there must be at least 1");
}

}  // namespace

SolvePrediction predict_solve(const SolveCase& given, const Cluster& cluster) {
  check(cluster);
  check_sides(given.num_rhs);
  SolvePrediction result;
  result.num_ranks = given.placement.num_ranks();
  result.grid = given.placement.grid;
  result.map = given.placement.map;
  result.trees = given.trees;
  result.model = path_model({given.symbolic, given.placement, given.scalar_bytes, given.num_rhs}, cluster);
  result.tasks = solve_tasks(given.symbolic, given.placement, given.trees);
  predict_tasks(rank_rates(result.tasks, cluster, given.num_rhs, given.scalar_bytes, given.kind), result);
  result.factor_bytes =
      spread_of(factor_bytes(given.symbolic, given.placement, entry_bytes(given.kind, given.scalar_bytes)));
  return result;
}

SolvePrediction predict_layered_solve(const LayeredSolveCase& given, const Cluster& cluster) {
  check(cluster);
  check_sides(given.num_rhs);
  const auto cut =
      std::make_shared<const Layering>(cut_into_layers(given.symbolic, given.placement.ranks.layers));
  const std::vector<LayerSystem> systems = layer_systems(given.symbolic, cut, given.method, given.placement);
  SolvePrediction result;
  result.num_ranks = given.placement.ranks.num_ranks();
  result.grid = given.placement.ranks.grid;
  result.layers = given.placement.ranks.layers;
  result.method = given.method;
  result.map = given.placement.map;
  result.trees = given.trees;
  result.tasks = layered_solve_tasks(systems, given.trees);
  predict_tasks(rank_rates(result.tasks, cluster, given.num_rhs, given.scalar_bytes, given.kind), result);
  std::vector<double> bytes;
  for (const LayerSystem& system : systems) {
    const std::vector<double> of_layer =
        factor_bytes(*system.symbolic, *system.placement, entry_bytes(given.kind, given.scalar_bytes));
    bytes.insert(bytes.end(), of_layer.begin(), of_layer.end());
  }
  result.factor_bytes = spread_of(bytes);
  return result;
}

}  // namespace palmette
