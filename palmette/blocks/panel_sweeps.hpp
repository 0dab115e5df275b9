// Substitution with a whole panel of a factor and one right-hand side. Memory is the limit: a few columns at
// a time are read side by side, from their diagonals to their ends, or one after the other (ReadingOrder).
#pragma once

#include "palmette/base/base.hpp"
#include "palmette/blocks/reading_order.hpp"

namespace palmette {

/// [B; C], as it lies in a factor: what stands above the diagonal of B is not used.
template <class T>
struct WholePanel {
  DenseView<const T> entries;  ///< (w + r) × w
  bool unit_diagonal = false;  ///< of B, whatever is stored there
  ReadingOrder order = reading_order_of_processor();  ///< changes no bit of a result
};

/// Number of scalars behind a vector that these functions may read and overwrite.
inline constexpr offset_t sweep_slack = 16;
/// Fewer entries of a panel than this are read faster than threads can meet.
inline constexpr offset_t least_shared_entries = 1 << 16;

/// v ← [B⁻¹·v₁; v₂ − C·B⁻¹·v₁] for v = [v₁; v₂] of w and r rows. @param offers  threads that wait may help;
/// the bits are the same @cost 2·w·(w/2 + r) flops
template <class T>
void panel_forward(const WholePanel<T>& panel, T* v, const OffersOfThread& offers = {});
/// v₁ ← B⁻ᵀ·(v₁ − Cᵀ·v₂), or with adjoints. @cost the same
template <class T>
void panel_backward(bool adjoint, const WholePanel<T>& panel, T* v, const OffersOfThread& offers = {});

/// Some columns of a panel.
struct ColumnRange {
  index_t begin, end;
};
/// own ← own − op(C)·v₂ for these columns of a panel of which only C is used.
/// @param v  v₂ from place w on @param own  w scalars @cost 2·r flops for each column
template <class T>
void rows_below_backward(bool adjoint, const WholePanel<T>& panel, const ColumnRange& columns, T* v, T* own);

}  // namespace palmette
