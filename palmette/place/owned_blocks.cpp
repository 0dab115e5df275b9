// One pass over the structure, which keeps the rank's blocks.
#include "palmette/place/owned_blocks.hpp"

namespace palmette {
namespace {

void add_panel(const SymbolicFactor& symbolic, const Placement& placement, index_t s, OwnedBlocks& owned) {
  if (!placement.grid_of_column(s).contains(owned.rank)) return;
  const std::span<const Block> blocks = symbolic.blocks_of(s);
  const bool diagonal = placement.owner(s, s) == owned.rank;
  index_t rows = diagonal ? symbolic.width(s) : 0;
  const std::size_t before = owned.own.size();
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (placement.owner(blocks[at].row_supernode, s) != owned.rank) continue;
    owned.own.push_back({symbolic.block_ptr[s] + static_cast<offset_t>(at), rows});
    rows += blocks[at].count;
  }
  if (!diagonal && owned.own.size() == before) return;
  owned.panel.push_back(s);
  owned.owns_diagonal.push_back(diagonal ? 1 : 0);
  owned.by_parts.push_back(placement.lies_whole(s) ? 0 : 1);
  owned.panel_rows.push_back(rows);
  owned.panel_offset.push_back(owned.panel_offset.back() + offset_t{rows} * symbolic.width(s));
  owned.own_ptr.push_back(static_cast<offset_t>(owned.own.size()));
}

}  // namespace

offset_t OwnedBlocks::memory_bytes() const {
  return bytes_of(panel) + bytes_of(owns_diagonal) + bytes_of(by_parts) + bytes_of(panel_rows) +
         bytes_of(panel_offset) + bytes_of(own_ptr) + bytes_of(own);
}

OwnedBlocks owned_blocks(const SymbolicFactor& symbolic, const Placement& placement, index_t rank) {
  if (rank < 0 || rank >= placement.num_ranks())
    throw UsageError("rank " + std::to_string(rank) + " does not exist: the placement has " +
                     std::to_string(placement.num_ranks()) + " ranks, from 0");
  if (placement.num_supernodes != symbolic.num_supernodes())
    throw DimensionError("a placement of " + std::to_string(placement.num_supernodes) +
                         " supernodes for a structure of " + std::to_string(symbolic.num_supernodes()));
  OwnedBlocks owned;
  owned.rank = rank;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) add_panel(symbolic, placement, s, owned);
  return owned;
}

}  // namespace palmette
