// Narrow panels side by side, one in each lane of a register. Most supernodes in two dimensions have a few
// columns and a few rows, so that a pass over one of them takes its time for branches, and for sums that wait
// for each other, and little of it for arithmetic. Eight such passes at once have the branches of one.
#pragma once

#include "palmette/blocks/packed_panel.hpp"

namespace palmette {

/// Number of panels in a bundle, for every processor, so that bundles depend on the structure alone.
inline constexpr index_t bundle_lanes = 8;
/// The widest panel that may be in a bundle.
inline constexpr index_t widest_bundled = 4;

/// Up to bundle_lanes panels M = [B⁻¹; C·B⁻¹] of one width, as in PackedPanel. Layout: row by row of M, those
/// of a triangular B⁻¹ up to the diagonal; for each entry one scalar of each lane. Panels with fewer rows
/// below than others, and lanes without a panel, hold zeros.
template <class T>
struct PanelBundle {
  const T* values = nullptr;
  index_t width = 0;       ///< 1 … widest_bundled
  index_t rows_below = 0;  ///< of the panel that has most
  bool square = false;     ///< as in PackedPanel
  /// Where rows lie in a vector, one place for each lane: of the first row of its own, which the others
  /// follow, then of each row below. Two lanes have no place in common, except where they hold zeros: there
  /// the vector has `width` finite scalars that nobody else reads, and that may be overwritten.
  const index_t* places = nullptr;
  offset_t ahead = 0;  ///< distance to prefetch ahead
};
/// Number of scalars that a bundle holds.
constexpr offset_t bundle_entries(index_t width, index_t rows_below, bool square) {
  const offset_t block = square ? offset_t{width} * width : offset_t{width} * (width + 1) / 2;
  return bundle_lanes * (block + offset_t{width} * rows_below);
}

/// Copies a packed panel into one lane of a bundle. @param to  the lane's first scalar
template <class T>
void put_in_lane(const PackedPanel<T>& panel, T* to);

/// As packed_forward and packed_backward for each panel. @param local  holds own rows too
template <class T>
void bundle_forward(const PanelBundle<T>& bundle, T* local);
template <class T>
void bundle_backward(bool adjoint, const PanelBundle<T>& bundle, T* local);

/// The same for one panel, packed for itself: x gets the same bits as in a bundle, at the speed of single
/// numbers. @param panel  at most widest_bundled wide
template <class T>
void bundled_forward_alone(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local);
template <class T>
void bundled_backward_alone(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places, T* own,
                            const T* local);

}  // namespace palmette
