// The part of one layer: a structure of its own, placed on the ranks of the layer.
#include <algorithm>

#include "palmette/place/layering.hpp"
#include "palmette/place/place_apart.hpp"

namespace palmette {
namespace {

/// Numbers of the supernodes and rows that a layer holds.
struct Renumbering {
  std::vector<index_t> supernode;  // −1: not held
  std::vector<index_t> row;
};

Renumbering number_held(const SymbolicFactor& whole, const Layering& layering, LayerSystem& system,
                        SymbolicFactor& part) {
  Renumbering numbers;
  numbers.supernode.assign(whole.num_supernodes(), -1);
  numbers.row.assign(whole.n, -1);
  for (index_t s = 0; s < whole.num_supernodes(); ++s) {
    if (!layering.holds(system.layer, s)) continue;
    numbers.supernode[s] = static_cast<index_t>(system.supernode.size());
    for (index_t row = whole.supernode_begin[s]; row < whole.supernode_begin[s + 1]; ++row) {
      numbers.row[row] = static_cast<index_t>(system.row.size());
      part.supernode_of.push_back(static_cast<index_t>(system.supernode.size()));
      system.row.push_back(row);
    }
    system.supernode.push_back(s);
    part.supernode_begin.push_back(static_cast<index_t>(system.row.size()));
  }
  part.n = static_cast<index_t>(system.row.size());
  return numbers;
}

void add_columns(const SymbolicFactor& whole, const Renumbering& numbers, const LayerSystem& system,
                 SymbolicFactor& part) {
  for (const index_t row : system.row) {
    const index_t above = whole.column_parent[row];
    part.column_parent.push_back(above == -1 ? -1 : numbers.row[above]);
    part.column_count.push_back(whole.column_count[row]);
    part.nnz_factor += whole.column_count[row];
    part.flops_llt += double(part.column_count.back()) * part.column_count.back();
  }
  part.row = part.column = Permutation::identity(part.n);
}

void add_supernode(const SymbolicFactor& whole, const Renumbering& numbers, const LayerSystem& system,
                   index_t s, SymbolicFactor& part) {
  const index_t old = system.supernode[s], above = whole.parent[old];
  part.parent.push_back(above == -1 ? -1 : numbers.supernode[above]);
  if (system.method == LayeredMethod::one_sync_3d || system.leads(s)) {
    for (const index_t row : whole.rows_below(old))
      part.row_index.push_back(numbers.row[row]);
    for (Block block : whole.blocks_of(old)) {
      block.row_supernode = numbers.supernode[block.row_supernode];
      part.blocks.push_back(block);
    }
  }
  part.row_ptr.push_back(static_cast<offset_t>(part.row_index.size()));
  part.block_ptr.push_back(static_cast<offset_t>(part.blocks.size()));
  part.panel_offset.push_back(part.panel_offset.back() + offset_t{part.width(s)} * part.leading_dimension(s));
}

void add_descendants_and_updaters(SymbolicFactor& part) {
  const index_t count = part.num_supernodes();
  part.first_descendant.resize(count);
  for (index_t s = 0; s < count; ++s) part.first_descendant[s] = s;
  std::vector<offset_t> next(count + 1);
  for (index_t s = 0; s < count; ++s) {
    if (part.parent[s] != -1)
      part.first_descendant[part.parent[s]] =
          std::min(part.first_descendant[part.parent[s]], part.first_descendant[s]);
    for (const Block& block : part.blocks_of(s)) ++next[block.row_supernode + 1];
  }
  for (index_t s = 0; s < count; ++s) next[s + 1] += next[s];
  part.updater_ptr = next;
  part.updaters.resize(part.blocks.size());
  for (index_t s = 0; s < count; ++s)
    for (offset_t block = part.block_ptr[s]; block < part.block_ptr[s + 1]; ++block)
      part.updaters[
          next[part.blocks[block].row_supernode]++] = {s, block};
}

void check(const SymbolicFactor& symbolic, const Layering& layering, const LayerPlacement& options) {
  if (options.ranks.layers != layering.num_layers)
    throw UsageError("a grid of " + std::to_string(options.ranks.layers) + " layers for a cut into " +
                     std::to_string(layering.num_layers));
  if (static_cast<index_t>(layering.node_of.size()) != symbolic.num_supernodes())
    throw DimensionError("a cut of " + std::to_string(layering.node_of.size()) +
                         " supernodes for a structure of " + std::to_string(symbolic.num_supernodes()));
}

}  // namespace

offset_t LayerSystem::memory_bytes() const {
  return bytes_of(supernode) + bytes_of(row) + symbolic->memory_bytes();
}

LayerSystem layer_system(const SymbolicFactor& symbolic, std::shared_ptr<const Layering> layering,
                         LayeredMethod method, const LayerPlacement& options, index_t layer) {
  check(symbolic, *layering, options);
  LayerSystem system;
  system.method = method;
  system.layer = layer;
  system.ranks = options.ranks;
  system.num_supernodes_of_all = symbolic.num_supernodes();
  system.layering = std::move(layering);
  auto part = std::make_shared<SymbolicFactor>();
  const Renumbering numbers = number_held(symbolic, *system.layering, system, *part);
  add_columns(symbolic, numbers, system, *part);
  for (index_t s = 0; s < static_cast<index_t>(system.supernode.size()); ++s)
    add_supernode(symbolic, numbers, system, s, *part);
  add_descendants_and_updaters(*part);
  std::vector<char> apart(system.supernode.size());
  for (std::size_t s = 0; s < apart.size(); ++s)
    apart[s] = system.is_replicated(static_cast<index_t>(s)) ? 1 : 0;
  system.placement = std::make_shared<const Placement>(place_apart(
      *part, options.ranks.grid, options.map, options.whole, {std::move(apart), system.supernode}));
  system.symbolic = std::move(part);
  return system;
}

std::vector<LayerSystem> layer_systems(const SymbolicFactor& symbolic,
                                       std::shared_ptr<const Layering> layering, LayeredMethod method,
                                       const LayerPlacement& options) {
  std::vector<LayerSystem> systems;
  for (index_t layer = 0; layer < options.ranks.layers; ++layer)
    systems.push_back(layer_system(symbolic, layering, method, options, layer));
  return systems;
}

Placement layered_placement(const SymbolicFactor& symbolic, const std::vector<LayerSystem>& systems) {
  if (systems.empty()) throw UsageError("a placement of no layers; there must be at least 1");
  const LayeredGrid& ranks = systems[0].ranks;
  const Layering& layering = *systems[0].layering;
  Placement placement;
  placement.grid = {ranks.grid.rows * ranks.layers, ranks.grid.cols};
  placement.num_supernodes = symbolic.num_supernodes();
  placement.units = partition_tree(symbolic, sweep_entries(symbolic), 0);
  placement.is_whole.assign(placement.units.num_groups(), 0);
  placement.grid_of.resize(symbolic.num_supernodes());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const LayerNode& node = layering.holders(s);
    if (!node.is_leaf())
      placement.grid_of[s] = number_of_grid(
          placement,
          {ranks.first_rank(node.first), {(node.end - node.first) * ranks.grid.rows, ranks.grid.cols}});
  }
  for (const LayerSystem& system : systems)
    for (std::size_t s = 0; s < system.supernode.size(); ++s) {
      if (system.is_replicated(static_cast<index_t>(s))) continue;
      RankGrid grid = system.placement->grid_of_column(static_cast<index_t>(s));
      grid.first += ranks.first_rank(system.layer);
      placement.grid_of[system.supernode[s]] = number_of_grid(placement, grid);
    }
  return placement;
}

offset_t Replication::extra_entries() const {
  offset_t sum = -factor_entries;
  for (const offset_t one : entries) sum += one;
  return sum;
}

Replication replication_of(const SymbolicFactor& symbolic, const Layering& layering, LayeredMethod method) {
  const auto layers = static_cast<std::size_t>(layering.num_layers);
  Replication result{std::vector<offset_t>(layers), std::vector<offset_t>(layers), symbolic.panel_entries(),
                     std::vector<double>(layers)};
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const LayerNode& node = layering.holders(s);
    const double width = symbolic.width(s), triangle = width * (width + 1) / 2;
    for (index_t layer = node.first; layer < node.end; ++layer) {
      const bool sweeps = method == LayeredMethod::one_sync_3d || layer == node.first;
      const offset_t rows = symbolic.width(s) + (sweeps ? symbolic.num_rows_below(s) : 0);
      result.entries[layer] += rows * symbolic.width(s);
      if (!node.is_leaf())
        result.replicated_entries[layer] += rows * symbolic.width(s);
      if (sweeps)
        result.sweep_flops[layer] +=
            2 * (triangle + width * symbolic.num_rows_below(s));
    }
  }
  return result;
}

}  // namespace palmette
