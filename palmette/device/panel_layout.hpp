// Where the entries of a supernode's panel lie in device memory. Used by the host, which packs panels, and by
// the kernels that read them.
#pragma once

#include "palmette/device/annotations.hpp"

namespace palmette::device {

/// Rows of one column that a lane loads at once: 16 bytes.
template <class T>
constexpr int rows_per_load = static_cast<int>(16 / sizeof(T));

/// A panel M = [B⁻¹; C·B⁻¹] of `width` columns, or [B; C] if B is too close to singular to be inverted; B is
/// lower triangular. It lies in chunks of `height` rows, within a chunk column after column, so 32 lanes that
/// load 16 bytes each load bytes that lie together, whatever the height is. A chunk of rows of B ends with
/// the last column in which one of them can be nonzero. The last chunk has only as many rows as there are,
/// rounded up to those of a load.
struct PanelLayout {
  int width = 0;
  int rows = 0;      ///< of the diagonal block and of the rows below
  int height = 0;    ///< a power of two, at least the rows of a sector, 32 bytes
  int rows_of_load = 1;

  PALMETTE_HOST_DEVICE int num_chunks() const { return (rows + height - 1) / height; }
  /// Number of columns of a chunk.
  PALMETTE_HOST_DEVICE int columns(int chunk) const {
    const int end = (chunk + 1) * height;
    return end > width ? width : end;
  }
  /// Number of rows of a chunk as stored, the padding of the last one included.
  PALMETTE_HOST_DEVICE int stored_rows(int chunk) const {
    const int left = rows - chunk * height;
    return left >= height ? height : (left + rows_of_load - 1) / rows_of_load * rows_of_load;
  }
  /// The first entry of a chunk, counted from the panel's first.
  PALMETTE_HOST_DEVICE long long begin(int chunk) const {
    const long long area = static_cast<long long>(height) * width;
    const long long short_chunks = width / height < chunk ? width / height : chunk;
    return short_chunks * (short_chunks + 1) / 2 * height * height + (chunk - short_chunks) * area;
  }
  /// Number of entries as stored.
  PALMETTE_HOST_DEVICE long long entries() const {
    if (rows == 0) return 0;
    const int last = num_chunks() - 1;
    return begin(last) + static_cast<long long>(stored_rows(last)) * columns(last);
  }
  /// The first chunk that has no rows of the diagonal block.
  PALMETTE_HOST_DEVICE int first_below() const { return (width + height - 1) / height; }
  /// The place of an entry; it must be stored.
  PALMETTE_HOST_DEVICE long long place(int row, int column) const {
    const int chunk = row / height;
    return begin(chunk) + static_cast<long long>(column) * stored_rows(chunk) + (row - chunk * height);
  }
};

/// Of `rows` rows that lie below a diagonal block of which nothing is stored: the chunks from first_below()
/// on.
PALMETTE_HOST_DEVICE PanelLayout layout_below(int width, int rows, int height, int rows_of_load) {
  PanelLayout layout{width, 0, height, rows_of_load};
  layout.rows = layout.first_below() * height + rows;
  return layout;
}

/// The height of chunks for a panel: at least so large that the columns of a narrow supernode occupy all
/// lanes, and larger while the warps of a task still find a chunk each, because a sum over the lanes of a row
/// costs shuffles.
/// @param rows  of the panel, or of a task's part of it
inline int chunk_height(int width, int rows, int rows_of_load, int warps) {
  constexpr int lanes = 32, most = 64;
  int height = 2 * rows_of_load;  // a sector, so whole chunks begin and end with one
  while (height < most && lanes * rows_of_load / height > width) height *= 2;
  while (height < most && height < lanes * rows_of_load && rows >= 2 * height * warps) height *= 2;
  return height < lanes * rows_of_load ? height : lanes * rows_of_load;
}

/// Warps of a block, of those with as many threads as are usual.
inline constexpr int warps_of_block = 8;

/// @param parts  tasks that share the panel
/// @param warps  that work on a task together
template <class T>
PanelLayout panel_layout(int width, int rows, int parts = 1, int warps = warps_of_block) {
  constexpr int loaded = rows_per_load<T>;
  return {width, rows, chunk_height(width, (rows + parts - 1) / parts, loaded, warps), loaded};
}

/// Entries that panels of this scalar begin at multiples of: a sector.
template <class T>
constexpr long long panel_alignment = 32 / sizeof(T);

/// to ← the panel in this layout from a chunk on, padded with zeros. @param entry  (row, column) → value
template <class T, class Entry>
void pack_panel(const PanelLayout& layout, Entry&& entry, T* to, int first_chunk = 0) {
  for (int chunk = first_chunk; chunk < layout.num_chunks(); ++chunk) {
    const int first = chunk * layout.height, stored = layout.stored_rows(chunk);
    for (int column = 0; column < layout.columns(chunk); ++column)
      for (int row = first; row < first + stored; ++row)
        *to++ = row < layout.rows ? entry(row, column) : T(0);
  }
}

}  // namespace palmette::device
