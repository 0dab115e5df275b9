// Panels as solves read them: a supernode's inverted diagonal block and the rows below multiplied by it,
// packed in the order in which one pass reads them; and the loops that multiply by such a panel, or by one
// that lies in a factor.
#pragma once

#include <algorithm>
#include <limits>

#include "palmette/base/base.hpp"

namespace palmette {

/// Where the rows below a supernode lie in a vector: contiguous from `start`, or at the places of a list.
struct RowPlaces {
  index_t start = 0;              ///< of the first row, if `list` is null
  const index_t* list = nullptr;  ///< length count
  index_t count = 0;
  index_t operator[](index_t k) const { return list != nullptr ? list[k] : start + k; }
};

/// M = [B⁻¹; C·B⁻¹] of a supernode with diagonal block B (w × w) and rows below C (r × w): forward, y = B⁻¹·t
/// and the update C·y of the rows below are one product M·t; backward, B⁻ᵀ·(z − Cᵀ·x) is one product Mᵀ·[z;
/// −x]. Layout: chunks of packed_rows() rows, within a chunk column after column: first the whole chunks of
/// B⁻¹, then C·B⁻¹, then the last rows of B⁻¹ if they do not fill a chunk. So all but the last chunks are
/// registers that cross no cache line of their size, if the panel begins on one. If B⁻¹ is lower triangular,
/// chunk q ends with the last column in which its rows can be nonzero.
/// @source [Alvarado et al. 1993]
template <class T>
struct PackedPanel {
  const T* values = nullptr;  ///< packed_slack scalars behind the last panel are readable
  index_t width = 0;
  index_t rows_below = 0;
  bool square = false;  ///< B⁻¹ is not triangular: pivoting permuted its columns
  /// distance to prefetch ahead: the panels of a sweep follow each other in memory; 0: no other place
  offset_t ahead = 0;
};

/// Rows of a chunk for scalars of this many bytes: one vector register.
index_t packed_rows(int scalar_bytes);
/// Number of scalars behind the last panel that loads of whole registers may touch.
inline constexpr offset_t packed_slack = 16;
/// Number of scalars of the whole chunks, of `rows` rows each, of B⁻¹, w × w.
constexpr offset_t packed_whole_entries(offset_t rows, offset_t width, bool square) {
  const offset_t whole = width / rows;
  return square ? whole * rows * width : rows * rows * whole * (whole + 1) / 2;
}
/// Number of scalars of all chunks of B⁻¹.
constexpr offset_t packed_block_entries(offset_t rows, offset_t width, bool square) {
  return packed_whole_entries(rows, width, square) + width % rows * width;
}
/// Where C·B⁻¹ begins.
template <class T>
const T* packed_below(const PackedPanel<T>& panel, offset_t rows) {
  return panel.values + packed_whole_entries(rows, panel.width, panel.square);
}
/// Where the chunk of B⁻¹ begins whose first row is `first`.
template <class T>
const T* packed_block_chunk(const PackedPanel<T>& panel, offset_t rows, offset_t first) {
  const offset_t before = panel.square ? first * panel.width : packed_whole_entries(rows, first, false);
  return panel.values + before + (first + rows > panel.width ? offset_t{panel.width} * panel.rows_below : 0);
}
/// Number of scalars that a packed panel holds.
offset_t packed_entries(int scalar_bytes, index_t width, index_t rows_below, bool square);

/// Widest panel that may be packed.
inline constexpr index_t widest_packed = 64;

/// What a packed panel is made of.
template <class T>
struct PanelToPack {
  bool square = false;             ///< as in PackedPanel
  DenseView<const T> inverse{};    ///< B⁻¹, w × w, w ≤ widest_packed, with zeros above the diagonal
  DenseView<const T> below{};      ///< C, r × w
  const index_t* place = nullptr;  ///< if square: column k of the panel becomes column place[k]; null: k
};
/// to ← [B⁻¹; C·B⁻¹], packed. @cost w²·r flops; C is read once
template <class T>
void pack_panel(const PanelToPack<T>& panel, T* to);

/// own ← B⁻¹·own, local(places) −= C·B⁻¹·own, for one right-hand side. Whole registers of rows are read, and
/// written as they were: packed_slack places of rows follow in a list, packed_slack scalars behind contiguous
/// rows.
template <class T>
void packed_forward(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local);
/// own ← B⁻ᵀ·(own − Cᵀ·local(places)), or with adjoints, for one right-hand side.
template <class T>
void packed_backward(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places, T* own,
                     const T* local);

/// Right-hand sides side by side: the values of row k lie together at data + k·stride. A stride is a value of
/// padded_rhs().
template <class T>
struct RhsRows {
  T* data = nullptr;
  index_t stride = 0;

  T* row(index_t k) const { return data + offset_t{k} * stride; }
  RhsRows from(index_t k) const { return {row(k), stride}; }
  operator RhsRows<const T>() const { return {data, stride}; }
};
/// Rows of right-hand sides that lie in two places: the first `split`, and the others.
template <class T>
struct SplitRows {
  T* first = nullptr;
  T* second = nullptr;  ///< row `split`
  index_t split = 0;
  index_t stride = 0;

  SplitRows(T* begin, T* rest, index_t split_row, index_t row_stride)
      : first(begin), second(rest), split(split_row), stride(row_stride) {}
  SplitRows(RhsRows<T> rows)
      : SplitRows(rows.data, rows.data, std::numeric_limits<index_t>::max(), rows.stride) {}
  T* row(index_t k) const {
    return k < split ? first + offset_t{k} * stride : second + offset_t{k - split} * stride;
  }
  operator SplitRows<const T>() const { return {first, second, split, stride}; }
};
template <class T>
void copy_rows(RhsRows<const T> from, index_t rows, RhsRows<T> to) {
  std::copy_n(from.data, offset_t{rows} * from.stride, to.data);
}

/// `count` rounded up to a number of right-hand sides that the loops handle: 1, 2, 4 … or a multiple of a
/// register.
index_t padded_rhs(int scalar_bytes, index_t count);

/// A rows × cols matrix, column-major, or in chunks as in PackedPanel.
template <class T>
struct RhsPanel {
  const T* values = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  offset_t ld = 0;          ///< 0: packed in chunks
  bool conjugated = false;  ///< a transposed product conjugates the entries
  offset_t ahead = 0;       ///< packed: as in PackedPanel
  offset_t rows_ahead = 0;  ///< from a row of the result to one that is prefetched, in scalars; 0: none
};

enum class IntoRows { overwrite, add, subtract };

/// out(places[k], :) ← (or +=, −=) Σ A(k, c)·x(c, :). @param x  overlaps no row of out
template <class T>
void multiply_rhs(const RhsPanel<T>& a, RhsRows<const T> x, IntoRows into, const RowPlaces& places,
                    const SplitRows<T>& out);
/// out(c, :) ← (or +=, −=) Σ A(k, c)·x(places[k], :)
template <class T>
void multiply_rhs_transposed(const RhsPanel<T>& a, const RowPlaces& places, RhsRows<const T> x,
                               IntoRows into, RhsRows<T> out);

/// The operands of products with a packed panel.
template <class T>
struct SupernodeRhs {
  RhsRows<T> own;           ///< w rows
  SplitRows<T> local;       ///< addressed by RowPlaces
  RhsRows<T> spare;         ///< w rows; used if the panel is square
  offset_t rows_ahead = 0;  ///< from a row of `own` to one that is prefetched, in scalars; 0: none
};
/// The products of packed_forward and packed_backward for several right-hand sides.
template <class T>
void packed_forward_rhs(const PackedPanel<T>& panel, const RowPlaces& places, const SupernodeRhs<T>& at);
template <class T>
void packed_backward_rhs(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places,
                           const SupernodeRhs<T>& at);

}  // namespace palmette
