// Part of the door of `place`: the blocks of one rank, and how they lie in its panels.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "palmette/place/placement.hpp"

namespace palmette {

/// A block below the diagonal in the panel of the rank that owns it.
struct OwnBlock {
  offset_t block = 0;     ///< number in symbolic.blocks
  index_t first_row = 0;  ///< in the rank's panel
};

/// What a rank owns. A panel is the rank's rows of one supernode's columns: first the diagonal block, if the
/// rank owns it, then its blocks below. In whole subtrees a panel is column-major; elsewhere its parts are
/// stored separately, one after the other, since tasks read one part at a time and contiguous memory is read
/// fastest. Constant after construction.
struct OwnedBlocks {
  index_t rank = 0;
  std::vector<index_t> panel;                // supernodes of which the rank owns a block, ascending
  std::vector<char> owns_diagonal;           // length panels
  std::vector<char> by_parts;                // length panels
  std::vector<index_t> panel_rows;           // length panels
  std::vector<offset_t> panel_offset = {0};  // length panels + 1, in entries
  std::vector<offset_t> own_ptr = {0};       // length panels + 1
  std::vector<OwnBlock> own;                 // ascending within a panel

  /// Place of a supernode in `panel`; −1 if the rank owns nothing of it.
  index_t panel_number(index_t supernode) const {
    const auto found = std::lower_bound(panel.begin(), panel.end(), supernode);
    return found == panel.end() || *found != supernode ? -1 : static_cast<index_t>(found - panel.begin());
  }
  index_t num_panels() const { return static_cast<index_t>(panel.size()); }
  std::span<const OwnBlock> blocks_of_panel(index_t p) const {
    const auto place = static_cast<std::size_t>(p);
    return {own.data() + own_ptr[place], static_cast<std::size_t>(own_ptr[place + 1] - own_ptr[place])};
  }
  offset_t entries() const { return panel_offset.back(); }
  offset_t memory_bytes() const;
};

/// @throws UsageError if there is no such rank
OwnedBlocks owned_blocks(const SymbolicFactor& symbolic, const Placement& placement, index_t rank);

}  // namespace palmette
