// Layers of devices: each is a grid that sweeps its own system; who adds up what with whom between sweeps.
#include "palmette/solve/element_layers.hpp"

#include <algorithm>
#include <utility>

namespace palmette::solve_detail {
namespace {

int depth_of(const Layering& layering, index_t node) {
  int depth = 0;
  while ((node = layering.nodes[node].parent) != -1) ++depth;
  return depth;
}

std::vector<LayerMeeting> meetings_of(const LayerSystem& system, const ElementWorld& world, index_t rank) {
  std::vector<LayerMeeting> result;
  for (const LayerStep& step : layer_steps(system, rank)) {
    LayerMeeting meeting;
    meeting.partner = step.partner;
    meeting.receives_up = step.receives_up;
    meeting.depth = depth_of(*system.layering, step.node);
    for (const index_t s : step.supernodes) meeting.tops.push_back(world.exchange[rank].top_of(s));
    meeting.rows = step.rows;
    result.push_back(std::move(meeting));
  }
  return result;
}

/// Rows and signals for what arrives.
void make_room(ElementWorld& world, index_t rank) {
  std::vector<LayerMeeting>& meetings = world.meetings[rank];
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    meetings[k].here = {world.store[rank].new_shared(meetings[k].rows), world.signal_of_meeting(rank, k)};
    world.most_depth = std::max(world.most_depth, meetings[k].depth);
  }
  world.shared_rows = std::max(world.shared_rows, world.store[rank].shared());
}

/// Two elements meet at most once.
const LayerMeeting& meeting_with(const std::vector<LayerMeeting>& meetings, index_t partner) {
  return *std::find_if(meetings.begin(), meetings.end(),
                       [&](const LayerMeeting& one) { return one.partner == partner; });
}

void connect(std::vector<ElementWorld>& worlds) {
  const auto per_layer = static_cast<index_t>(worlds[0].meetings.size());
  int most_depth = 0;
  offset_t shared_rows = 0;
  for (const ElementWorld& world : worlds) {
    most_depth = std::max(most_depth, world.most_depth);
    shared_rows = std::max(shared_rows, world.shared_rows);
  }
  for (ElementWorld& world : worlds) {
    world.most_depth = most_depth;
    world.shared_rows = shared_rows;  // memory is symmetric: a row of another layer is also a row here
    for (index_t rank = 0; rank < per_layer; ++rank)
      for (LayerMeeting& meeting : world.meetings[rank]) {
        const ElementWorld& other = worlds[meeting.partner / per_layer];
        meeting.there =
            meeting_with(other.meetings[meeting.partner % per_layer], world.first_element + rank).here;
      }
  }
}

/// From the numbers of a layer's system to those of the whole structure.
void number_as_whole(const LayerSystem& system, HostElement& element) {
  for (index_t& s : element.supernode) s = system.supernode[s];
  for (BlockOfElement& block : element.blocks) block.supernode = system.supernode[block.supernode];
  const SymbolicFactor& symbolic = *system.symbolic;
  for (index_t& row : element.row) {
    element.is_led.push_back(system.leads(symbolic.supernode_of[row]) ? 1 : 0);
    row = system.row[row];
  }
}

}  // namespace

HostElements layered_element_programs(const std::vector<LayerSystem>& systems, TreeShape trees,
                                      int entry_bytes) {
  if (systems.empty()) throw UsageError("the programs of no layers; there must be at least 1");
  HostElements result;
  std::vector<ElementWorld> worlds;
  worlds.reserve(systems.size());
  for (const LayerSystem& system : systems) {
    worlds.push_back(
        make_element_world(*system.symbolic, *system.placement, trees, entry_bytes, result.element));
    ElementWorld& world = worlds.back();
    world.first_element = system.ranks.first_rank(system.layer);
    for (index_t rank = 0; rank < system.ranks.grid.num_ranks(); ++rank) {
      world.meetings[rank] = meetings_of(system, world, rank);
      make_room(world, rank);
    }
  }
  connect(worlds);
  for (ElementWorld& world : worlds) write_programs(world, result);
  for (std::size_t e = 0; e < result.element.size(); ++e)
    number_as_whole(systems[e / worlds[0].meetings.size()], result.element[e]);
  return result;
}

HostElements programs_of_world(const SymbolicFactor& symbolic, const WorldOptions& options,
                                 int entry_bytes) {
  constexpr auto map = PlacementMap::block_cyclic;
  if (options.layers == 1)
    return element_programs(symbolic, place(symbolic, options.grid, map, options.subtrees), options.trees,
                            entry_bytes);
  auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, options.layers));
  return layered_element_programs(layer_systems(symbolic, std::move(cut), LayeredMethod::one_sync_3d,
                                                {{options.grid, options.layers}, map, options.subtrees}),
                                  options.trees, entry_bytes);
}

}  // namespace palmette::solve_detail
