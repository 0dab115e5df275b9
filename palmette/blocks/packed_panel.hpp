// Panels as solves read them: a supernode's inverted diagonal block and what its rows below become with it,
// packed in the order in which one pass reads them; and the loops that multiply such a panel, or one that
// lies in a factor.
#pragma once

#include <algorithm>

#include "palmette/base/base.hpp"

namespace palmette {

/// Where the rows below a supernode lie in a vector: one after another from `start` on, or as listed.
struct RowPlaces {
  index_t start = 0;              ///< of the first, where `list` is null
  const index_t* list = nullptr;  ///< length count
  index_t count = 0;
  index_t operator[](index_t k) const { return list != nullptr ? list[k] : start + k; }
};

/// M = [B⁻¹; C·B⁻¹] of a supernode with diagonal block B (w × w) and rows below C (r × w): forward, y = B⁻¹·t
/// and what the rows below lose, C·y, are one product M·t; backward, B⁻ᵀ·(z − Cᵀ·x) is one product Mᵀ·[z;
/// −x]. Layout: chunks of packed_rows() rows, first of B⁻¹, then of C·B⁻¹, within a chunk column after
/// column. Chunk q of a B⁻¹ that is lower triangular ends with the last column that its rows can have.
/// @source [Alvarado et al. 1993]
template <class T>
struct PackedPanel {
  const T* values = nullptr;  ///< packed_slack scalars behind the last panel can be read
  index_t width = 0;
  index_t rows_below = 0;
  bool square = false;  ///< B⁻¹ is not triangular: pivoting permuted its columns
  /// from what is read to what is asked for meanwhile: the panels of a sweep follow each other
  offset_t ahead = 0;
};

/// Rows of a chunk for scalars of so many bytes: a vector register.
index_t packed_rows(int scalar_bytes);
/// Scalars behind the last panel that loads of whole registers may touch.
inline constexpr offset_t packed_slack = 16;
/// Scalars that a packed panel holds.
offset_t packed_entries(int scalar_bytes, index_t width, index_t rows_below, bool square);

/// Packs `inverse` (w × w; above the diagonal not read unless `square`) and `below` (r × w, already C·B⁻¹)
/// into `to`.
template <class T>
void pack_panel(bool square, DenseView<const T> inverse, DenseView<const T> below, T* to);

/// own ← B⁻¹·own, local(places) −= C·B⁻¹·own, for one right-hand side.
template <class T>
void packed_forward(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local);
/// own ← B⁻ᵀ·(own − Cᵀ·local(places)), or with adjoints, for one right-hand side.
template <class T>
void packed_backward(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places, T* own,
                     const T* local);

/// Right-hand sides side by side: those of row k lie together at data + k·stride. A stride is a
/// padded_rhs().
template <class T>
struct RhsRows {
  T* data = nullptr;
  index_t stride = 0;

  T* row(index_t k) const { return data + offset_t{k} * stride; }
  RhsRows from(index_t k) const { return {row(k), stride}; }
  operator RhsRows<const T>() const { return {data, stride}; }
};
template <class T>
void copy_rows(RhsRows<const T> from, index_t rows, RhsRows<T> to) {
  std::copy_n(from.data, offset_t{rows} * from.stride, to.data);
}

/// `count` right-hand sides rounded up to what the loops take at once: 1, 2, 4 … or a multiple of a register.
index_t padded_rhs(int scalar_bytes, index_t count);

/// A matrix of rows × cols, column-major, or in chunks as PackedPanel has them.
template <class T>
struct RhsPanel {
  const T* values = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  offset_t ld = 0;          ///< 0: packed in chunks
  bool conjugated = false;  ///< a transposed product takes conjugated entries
};

enum class IntoRows { overwrite, add, subtract };

/// out(places[k], :) ← (or +=, −=) Σ A(k, c)·x(c, :). @param x  overlaps no row of out
template <class T>
void multiply_rhs(const RhsPanel<T>& a, RhsRows<const T> x, IntoRows into, const RowPlaces& places,
                    RhsRows<T> out);
/// out(c, :) ← (or +=, −=) Σ A(k, c)·x(places[k], :)
template <class T>
void multiply_rhs_transposed(const RhsPanel<T>& a, const RowPlaces& places, RhsRows<const T> x,
                               IntoRows into, RhsRows<T> out);

/// What the products with a packed panel work on.
template <class T>
struct SupernodeRhs {
  RhsRows<T> own;    ///< w rows
  RhsRows<T> local;  ///< where RowPlaces point to
  RhsRows<T> spare;  ///< w rows
};
/// The products of packed_forward and packed_backward for rows of right-hand sides.
template <class T>
void packed_forward_rhs(const PackedPanel<T>& panel, const RowPlaces& places, const SupernodeRhs<T>& at);
template <class T>
void packed_backward_rhs(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places,
                           const SupernodeRhs<T>& at);

}  // namespace palmette
