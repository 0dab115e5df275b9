// Inside `solve`: the programs of the kernels that solve on several devices: one element's tasks, messages
// and sums, flattened from its exchange. Elements are numbered as the ranks of a placement.
#pragma once

#include <memory>
#include <vector>

#include "palmette/device/device.hpp"
#include "palmette/solve/rank_parts.hpp"

namespace palmette::solve_detail {

/// A block that an element multiplies by: rows [first, first + count) below the diagonal block of a
/// supernode.
struct BlockOfElement {
  index_t supernode = 0;
  index_t first = 0;
  index_t count = 0;
  index_t panel = 0;      ///< in OwnedBlocks::panel
  index_t panel_row = 0;  ///< its first row in that panel
};

/// One sweep of one element, before it is copied to its memory.
struct HostProgram {
  std::vector<device::ElementTask> task;
  std::vector<int> wait, signal;
  std::vector<device::ElementSum> sum;
  std::vector<device::ElementPart> part;
  std::vector<int> place;
  std::vector<device::ElementReduction> reduction;
  std::vector<device::ElementSend> send;
  std::vector<device::ElementValue> value;
  std::vector<device::RowCopy> copy;
  std::vector<device::ElementBlock> block;
  std::vector<device::ElementMeeting> meeting;
  std::vector<int> order;
  /// The same tasks for two kernels: those that pass values on, and all others.
  std::vector<int> order_of_waits, order_of_solves;
};

/// What does not change from solve to solve; lengths in rows.
struct HostElement {
  std::unique_ptr<const OwnedBlocks> owned;
  std::unique_ptr<const RankGroups> structure;
  std::vector<index_t> supernode;  ///< by local supernode: its number
  std::vector<index_t> row;        ///< by local row: row of the permuted matrix
  /// By local row: this layer brings its right-hand side and gives its solution. Empty: all rows.
  std::vector<char> is_led;
  std::vector<BlockOfElement> blocks;
  HostProgram forward, backward;
  offset_t local_rows = 0;  ///< of the store, behind the shared ones
  offset_t update_at = 0;   ///< first row in which its subtrees keep their updates
  int num_signals = 0;
};

/// What all elements send in one solve with one right-hand side.
struct ElementTraffic {
  offset_t messages = 0;
  offset_t rows = 0;
  /// of those, between layers
  offset_t meeting_messages = 0;
  offset_t meeting_rows = 0;
};

struct HostElements {
  std::vector<HostElement> element;
  offset_t shared_rows = 0;  ///< of the largest element: symmetric memory
  int num_signals = 0;       ///< likewise
  ElementTraffic traffic;
};

/// @throws UsageError if the grid has no elements
/// @cost   as solve_exchange for every element
HostElements element_programs(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                              int entry_bytes);

/// The same for layers of grids: element e of layer z is z · elements of a layer + e. Each layer sweeps its
/// system. By one_sync_3d, layers add up the rows of y that they share behind the forward sweep, up and down
/// a binary tree of layers, in one message for each of its edges and directions. By baseline_3d only the
/// first of its layers sweeps a shared supernode: the others send it what their columns add to its rows, and
/// get x, along the same edges, in a message for each supernode.
/// @param systems  of all layers, by one method; must outlive the call
/// @throws UsageError if there are none
HostElements layered_element_programs(const std::vector<LayerSystem>& systems, TreeShape trees,
                                      int entry_bytes);

/// Of the elements of a world, in one layer or in several.
HostElements programs_of_world(const SymbolicFactor& symbolic, const WorldOptions& options, int entry_bytes);

}  // namespace palmette::solve_detail
