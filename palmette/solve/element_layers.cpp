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
    if (world.levels != nullptr) {
      offset_t row = 0;
      for (const index_t s : step.supernodes) {
        meeting.first_row.push_back(row);
        row += world.symbolic.width(s);
      }
    }
    result.push_back(std::move(meeting));
  }
  return result;
}

/// Rows and signals for what arrives.
void make_room(ElementWorld& world, index_t rank) {
  std::vector<LayerMeeting>& meetings = world.meetings[rank];
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    // at levels, x comes to where it is used
    const bool receives = world.levels == nullptr || meetings[k].receives_up;
    meetings[k].here = {world.store[rank].new_shared(receives ? meetings[k].rows : 0),
                        world.signal_of_meeting(rank, k)};
    world.most_depth = std::max(world.most_depth, meetings[k].depth);
  }
  world.shared_rows = std::max(world.shared_rows, world.store[rank].shared());
}

/// Two elements meet at most once.
const LayerMeeting& meeting_with(const std::vector<LayerMeeting>& meetings, index_t partner) {
  return *std::find_if(meetings.begin(), meetings.end(),
                       [&](const LayerMeeting& one) { return one.partner == partner; });
}

/// Where an element waits for x of the supernodes of a meeting.
std::vector<MeetingPlace> places_of_values(const ElementWorld& world, index_t rank,
                                           const LayerMeeting& meeting) {
  std::vector<MeetingPlace> places;
  for (const index_t top : meeting.tops)
    places.push_back({world.store[rank].value(world.exchange[rank].tops[top], false),
                      world.signal_of_value(rank, top, false)});
  return places;
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
        const index_t there = meeting.partner % per_layer;
        const LayerMeeting& same = meeting_with(other.meetings[there], world.first_element + rank);
        meeting.there = same.here;
        if (world.levels != nullptr) meeting.values_there = places_of_values(other, there, same);
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

/// Elements that do not lead a supernode wait for its x.
void find_arrivals_of_values(ElementWorld& world) {
  for (index_t rank = 0; rank < static_cast<index_t>(world.exchange.size()); ++rank)
    for (index_t top = 0; top < static_cast<index_t>(world.exchange[rank].tops.size()); ++top)
      if (world.is_elsewhere(rank, top)) world.arrives[1][rank][top] = 1;
}

}  // namespace

std::vector<TopMeeting> ElementWorld::meetings_of_top(index_t rank, index_t top) const {
  std::vector<TopMeeting> result;
  if (levels == nullptr) return result;
  for (const LayerMeeting& one : meetings[rank]) {
    const auto found = std::lower_bound(one.tops.begin(), one.tops.end(), top);
    if (found == one.tops.end() || *found != top) continue;
    const auto k = static_cast<int>(found - one.tops.begin());
    result.push_back({&one,
                      {one.here.at + one.first_row[k], one.here.signal + k},
                      {one.there.at + one.first_row[k], one.there.signal + k},
                      one.values_there[k]});
  }
  return result;
}

int ElementWorld::level_of(index_t supernode) const {
  return depth_of(*levels->layering, levels->layering->node_of[levels->supernode[supernode]]);
}

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
    if (system.method == LayeredMethod::baseline_3d) world.levels = &system;
    find_arrivals_of_values(world);
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
  return layered_element_programs(layer_systems(symbolic, std::move(cut), options.layered_method,
                                                {{options.grid, options.layers}, map, options.subtrees}),
                                  options.trees, entry_bytes);
}

}  // namespace palmette::solve_detail
