// Part of the door of `tasks`: a factorization over ranks, from the view of one rank. A finished block is
// sent to every rank that uses it (fan-out); a rank applies the updates of each of its panels in ascending
// order of their source, so that the bits do not depend on the ranks.
#pragma once

#include <span>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/place/place.hpp"

namespace palmette {

/// Blocks by number: block b < num_blocks is symbolic.blocks[b]; the diagonal block of supernode s is
/// num_blocks + s.
struct BlockNumbers {
  offset_t num_blocks = 0;
  index_t num_supernodes = 0;

  explicit BlockNumbers(const SymbolicFactor& symbolic)
      : num_blocks(static_cast<offset_t>(symbolic.blocks.size())),
        num_supernodes(symbolic.num_supernodes()) {}
  offset_t diagonal(index_t supernode) const { return num_blocks + supernode; }
  bool is_diagonal(offset_t block) const { return block >= num_blocks; }
  offset_t count() const { return num_blocks + num_supernodes; }
};

/// One update: subtract (rows of `source` below) · (rows of `right`)ᵀ from the rank's rows of panel `target`.
struct UpdateStep {
  index_t source = 0;      ///< supernode
  index_t own_panel = -1;  ///< the rank's panel of `source`, if it has all of that
  offset_t right = 0;      ///< block of rows `target` in the columns of `source`
};

/// What a rank owns, computes and sends. Constant after construction.
struct FanOut {
  OwnedBlocks owned;
  index_t num_ranks = 1;
  index_t num_eliminated = 0;  ///< supernodes; the later ones only take updates
  std::vector<index_t> panel_of;  ///< length supernodes: place in owned.panel, −1 for none; as panel_number

  // Updates of own panels.
  std::vector<offset_t> step_ptr = {0};          // length panels + 1
  std::vector<UpdateStep> steps;                 // source ascending within a panel
  std::vector<offset_t> need_ptr = {0};          // length steps + 1
  // blocks that a step reads, each once; of an own panel `right` alone, since it is there with all others
  std::vector<offset_t> needs;
  std::vector<offset_t> need_place;              // their places in used_block

  // Blocks by the steps that read them.
  std::vector<offset_t> used_block;              // ascending: blocks that some step of this rank reads
  std::vector<offset_t> use_ptr = {0};           // length used_block + 1
  std::vector<offset_t> use;                     // steps
  // length used_block: place in owned.own, −1 for another rank's block
  std::vector<offset_t> used_own;
  // length own: place in used_block, −1 if no step of this rank reads it
  std::vector<offset_t> own_used;

  // Destinations of finished blocks, other than this rank.
  std::vector<offset_t> goes_ptr = {0};          // length own + 1
  std::vector<index_t> goes_to;                  // ranks, ascending
  std::vector<offset_t> diagonal_goes_ptr = {0}; // length panels + 1
  std::vector<index_t> diagonal_goes_to;         // ranks, ascending

  // length panels: cost of the path from this panel, or from its whole subtree, to the root
  std::vector<double> priority;

  /// Place of a block in used_block; −1 if no step of this rank reads it.
  offset_t used_place(offset_t block) const;
  /// Messages that this rank sends.
  std::int64_t messages() const {
    return static_cast<std::int64_t>(goes_to.size() + diagonal_goes_to.size());
  }
  offset_t memory_bytes() const;
};

/// Supernodes before the structure's last `columns_last` columns, which are in supernodes of their own.
index_t supernodes_before(const SymbolicFactor& symbolic, index_t columns_last);

/// @param columns_last  as FactorizeOptions: their panels take updates, but are neither finished nor sent
/// @throws UsageError if there is no such rank
/// @cost  Σ over the rank's supernodes of the square of their number of blocks, of which blocks in the own
///   whole subtree do not count; every rank reads the whole structure
/// @source [Jacquelin et al. 2016]
FanOut fan_out(const SymbolicFactor& symbolic, const Placement& placement, index_t rank,
               index_t columns_last = 0);

/// Scalars of a message with this block: rows of L (and of Uᵀ), for LDLᵀ D as well.
offset_t message_scalars(const SymbolicFactor& symbolic, FactorKind kind, offset_t block);
/// Bytes of a message; the diagonal block of LDLᵀ and LU includes its pivoting order.
offset_t message_bytes(const SymbolicFactor& symbolic, FactorKind kind, offset_t block,
                       offset_t scalar_bytes);
/// All messages of a factorization, from structure alone. @param columns_last  as fan_out
Traffic predicted_fan_out_traffic(const SymbolicFactor& symbolic, const Placement& placement, FactorKind kind,
                                  offset_t scalar_bytes, index_t columns_last = 0);
/// What is offered if blocks are pulled.
struct OfferedBlocks {
  FactorKind kind = FactorKind::llt;
  offset_t scalar_bytes = 8;
  offset_t line = 64;        ///< the bytes of a block are rounded up to whole lines of so many
  index_t columns_last = 0;  ///< as fan_out
};
/// Bytes that each rank offers, each block once; length num_ranks.
std::vector<std::int64_t> predicted_offered_bytes(const SymbolicFactor& symbolic, const Placement& placement,
                                                  const OfferedBlocks& offered);

}  // namespace palmette
