// Inside `solve`: where the panels of a SupernodalTriangle lie in its array.
#pragma once

#include <vector>

#include "palmette/solve/sweep_structure.hpp"

namespace palmette::solve_detail {

/// Up to this width a supernode is packed. In a factor its columns are short, so that the lines at their ends
/// and the diagonal blocks between them are a large part of what is read.
inline constexpr index_t packed_width = 32;

/// Raised when the layout below changes, or the choice of groups or bundles: files keep arrays in it.
inline constexpr index_t panel_layout_version = 2;

/// First the packed panels, and the inverses of wide blocks, of supernodes that are in no bundle; then the
/// packed panels of those that are, for several right-hand sides; then the bundles. So each kind of sweep
/// reads memory without gaps. The layout depends on the groups and the kind of factor alone.
struct PanelLayout {
  std::vector<offset_t> offset;  ///< length num_supernodes; empty: not known yet
  offset_t panels_end = 0;       ///< of the packed panels and inverses
  offset_t bundles = 0;          ///< where the first one begins
  offset_t end = 0;              ///< of the array
};

/// @param permuted  diagonal blocks may be: they are packed as squares
PanelLayout panel_layout(const SweepGroups& structure, int scalar_bytes, bool permuted);

/// Scalars of supernode s: its packed panel, or the inverse of its block, and if it is in no bundle a gap, so
/// that what follows begins on a register.
offset_t entries_held(const SweepGroups& structure, index_t s, int scalar_bytes, bool permuted);

}  // namespace palmette::solve_detail
