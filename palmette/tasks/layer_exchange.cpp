// Partners on the way from a layer's leaf to the root of the cut: the sparse all-reduce of [Liu et al. 2023],
// Algorithm 2, whose text exchanges senders and receivers in both phases. Their program sends each supernode
// separately; here each process sends one message per level.
#include "palmette/tasks/layer_exchange.hpp"

#include <algorithm>

#include "palmette/tasks/solve_exchange.hpp"

namespace palmette {
namespace {

LayerStep step_at(const LayerSystem& system, index_t node, index_t rank) {
  const LayerNode& where = system.layering->nodes[node];
  LayerStep step;
  step.node = node;
  step.receives_up = system.layer == where.first;
  step.partner = system.ranks.first_rank(step.receives_up ? where.middle : where.first) + rank;
  for (index_t s = 0; s < system.symbolic->num_supernodes(); ++s) {
    const index_t of =
        system.layering->node_of[system.supernode[s]];
    if (!system.layering->is_above(of, node) || system.placement->owner(s, s) != rank) continue;
    step.supernodes.push_back(s);
    step.rows += system.symbolic->width(s);
  }
  return step;
}

}  // namespace

std::vector<LayerStep> layer_steps(const LayerSystem& system, index_t rank) {
  const Layering& layering = *system.layering;
  std::vector<LayerStep> steps;
  for (index_t below = layering.leaf[system.layer]; below != -1;) {
    const index_t node = layering.nodes[below].parent;
    if (node == -1) break;
    LayerStep step = step_at(system, node, rank);
    const bool goes_on = step.receives_up;
    if (step.rows > 0) steps.push_back(std::move(step));
    below = goes_on ? node : -1;
  }
  return steps;
}

index_t layer_synchronizations(const Layering& layering, LayeredMethod method) {
  if (layering.num_layers == 1) return 0;
  return method == LayeredMethod::one_sync_3d ? 1 : 2 * layering.depth;
}

Traffic LayeredTraffic::all() const {
  std::vector<TrafficEntry> entries = within.entries;
  entries.insert(entries.end(), between.entries.begin(), between.entries.end());
  return make_traffic(within.num_ranks, std::move(entries));
}

LayeredTraffic predicted_layered_traffic(const std::vector<LayerSystem>& systems, TreeShape trees,
                                         offset_t row_bytes) {
  std::vector<TrafficEntry> within, between;
  if (systems.empty()) throw UsageError("the traffic of no layers; there must be at least 1");
  const LayeredGrid& ranks = systems[0].ranks;
  for (const LayerSystem& system : systems) {
    const index_t first = ranks.first_rank(system.layer);
    for (TrafficEntry entry :
         predicted_solve_traffic(*system.symbolic, *system.placement, trees, row_bytes).entries) {
      entry.source += first;
      entry.destination += first;
      within.push_back(entry);
    }
    for (index_t rank = 0; rank < ranks.grid.num_ranks(); ++rank)
      for (const LayerStep& step : layer_steps(system, rank))
        between.push_back({first + rank, step.partner, 1, step.rows * row_bytes});
  }
  return {make_traffic(ranks.num_ranks(), std::move(within)),
          make_traffic(ranks.num_ranks(), std::move(between))};
}

std::vector<index_t> layer_holders(const LayerSystem& system, index_t row_supernode,
                                   index_t column_supernode) {
  const LayerNode& node = system.layering->holders(column_supernode);
  const bool all = system.method == LayeredMethod::one_sync_3d || row_supernode == column_supernode;
  std::vector<index_t> ranks;
  for (index_t layer = node.first; layer < (all ? node.end : node.first + 1); ++layer)
    ranks.push_back(
        RankGrid{system.ranks.first_rank(layer), system.ranks.grid}.owner(row_supernode, column_supernode));
  return ranks;
}

offset_t handed_bytes(const SymbolicFactor& symbolic, FactorKind kind, offset_t block,
                      offset_t scalar_bytes) {
  if (BlockNumbers(symbolic).is_diagonal(block)) return message_bytes(symbolic, kind, block, scalar_bytes);
  const auto after = std::upper_bound(symbolic.block_ptr.begin(), symbolic.block_ptr.end(), block);
  const auto s = static_cast<index_t>(after - symbolic.block_ptr.begin()) - 1;
  return offset_t{symbolic.blocks[block].count} * symbolic.width(s) * scalar_bytes *
         (kind == FactorKind::lu ? 2 : 1);
}

Traffic predicted_handing_traffic(const SymbolicFactor& symbolic, const Placement& placement,
                                  const LayerSystem& system, FactorKind kind, offset_t scalar_bytes) {
  const BlockNumbers numbers(symbolic);
  std::vector<TrafficEntry> entries;
  const auto hand = [&](index_t row, index_t column, offset_t block) {
    const index_t owner = placement.owner(row, column);
    for (const index_t rank : layer_holders(system, row, column))
      if (rank != owner)
        entries.push_back({owner, rank, 1, handed_bytes(symbolic, kind, block, scalar_bytes)});
  };
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (!system.layering->is_replicated(s)) continue;
    hand(s, s, numbers.diagonal(s));
    offset_t block = symbolic.block_ptr[s];
    for (const Block& one : symbolic.blocks_of(s)) hand(one.row_supernode, s, block++);
  }
  Traffic traffic = make_traffic(placement.num_ranks(), std::move(entries));
  for (TrafficEntry& entry : traffic.entries) entry.messages = 1;  // packed
  return traffic;
}

}  // namespace palmette
