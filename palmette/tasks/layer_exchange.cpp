// Partners along the way from a layer's leaf to the root of the cut.
#include "palmette/tasks/layer_exchange.hpp"

#include "palmette/tasks/solve_exchange.hpp"

namespace palmette {
namespace {

LayerStep step_at(const LayerSystem& system, index_t node, index_t rank) {
  const LayerNode& where = system.layering->nodes[static_cast<std::size_t>(node)];
  LayerStep step;
  step.node = node;
  step.receives_up = system.layer == where.first;
  step.partner = system.ranks.first_rank(step.receives_up ? where.middle : where.first) + rank;
  for (index_t s = 0; s < system.symbolic->num_supernodes(); ++s) {
    const index_t of = system.layering->node_of[static_cast<std::size_t>(system.supernode[static_cast<std::size_t>(s)])];
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
  for (index_t below = layering.leaf[static_cast<std::size_t>(system.layer)]; below != -1;) {
    const index_t node = layering.nodes[static_cast<std::size_t>(below)].parent;
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

LayeredTraffic predicted_layered_traffic(const std::vector<LayerSystem>& systems, TreeShape trees, offset_t row_bytes) {
  std::vector<TrafficEntry> within, between;
  if (systems.empty()) throw UsageError("the traffic of no layers; there must be at least 1");
  const LayeredGrid& ranks = systems[0].ranks;
  for (const LayerSystem& system : systems) {
    const index_t first = ranks.first_rank(system.layer);
    for (TrafficEntry entry : predicted_solve_traffic(*system.symbolic, *system.placement, trees, row_bytes).entries) {
      entry.source += first;
      entry.destination += first;
      within.push_back(entry);
    }
    for (index_t rank = 0; rank < ranks.grid.num_ranks(); ++rank)
      for (const LayerStep& step : layer_steps(system, rank)) between.push_back({first + rank, step.partner, 1, step.rows * row_bytes});
  }
  return {make_traffic(ranks.num_ranks(), std::move(within)), make_traffic(ranks.num_ranks(), std::move(between))};
}

}  // namespace palmette
