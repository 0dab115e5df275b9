// The part of a factor that one rank holds: its own blocks and nothing else.
#pragma once

#include <memory>
#include <vector>

#include "palmette/blocks/factor.hpp"

namespace palmette {

/// As Factor, block by block, for the blocks of `owned`, which says how they lie. Constant once factorized.
template <class T>
struct RankFactor {
  FactorKind kind = FactorKind::llt;
  bool hermitian = false;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;
  OwnedBlocks owned;
  PanelArray<T> lower;  // owned.entries()
  PanelArray<T> upper;  // LU only: the same layout, diagonal blocks unused
  // For the columns of own panels, which all ranks of a grid column receive with the diagonal block; length
  // n, zero elsewhere.
  std::vector<T> d;            // LDLᵀ only
  std::vector<T> d_below;      // LDLᵀ only
  std::vector<index_t> place;  // LDLᵀ and LU
  std::vector<double> row_scale;     // length n by original row, or empty
  std::vector<double> column_scale;  // length n by original column, or empty

  /// The rank's rows [first, first + rows) of panel p: one of its parts (a block), or any rows of a panel in
  /// a whole subtree.
  DenseView<T> rows_of(PanelArray<T>& panels, index_t p, index_t first, index_t rows) {
    return view_of<T>(panels.data(), p, first, rows);
  }
  DenseView<const T> rows_of(const PanelArray<T>& panels, index_t p, index_t first, index_t rows) const {
    return view_of<const T>(panels.data(), p, first, rows);
  }
  offset_t memory_bytes() const {
    const offset_t arrays =
        static_cast<offset_t>((d.size() + d_below.size()) * sizeof(T) + place.size() * sizeof(index_t) +
                              (row_scale.size() + column_scale.size()) * sizeof(double));
    return owned.memory_bytes() + lower.bytes() + upper.bytes() + arrays;
  }

 private:
  template <class Entry>
  DenseView<Entry> view_of(Entry* panels, index_t p, index_t first, index_t rows) const {
    const auto at = static_cast<std::size_t>(p);
    const index_t width = symbolic->width(owned.panel[at]);
    if (owned.by_parts[at] != 0)
      return {panels + owned.panel_offset[at] + offset_t{first} * width, rows, width, rows};
    return {panels + owned.panel_offset[at] + first, rows, width, owned.panel_rows[at]};
  }
};

}  // namespace palmette
