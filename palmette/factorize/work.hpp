// Inside `factorize`: what every step of a factorization reads and writes, and the scratch memory of one
// thread.
#pragma once

#include <span>
#include <vector>

#include "palmette/factorize/factorize.hpp"

namespace palmette::factorize_detail {

/// Number of source rows per product: the product then stays in the second-level cache.
inline constexpr index_t slab_rows = 256;

/// Local rows [first, end) of a panel, the diagonal block included.
struct RowRange {
  index_t first = 0;
  index_t end = 0;
};

/// Where the rows `range` of a panel are summed: the panel itself, or a thread's own copy of those rows.
template <class T>
struct Target {
  RowRange range;
  DenseView<T> lower;  ///< range.end − range.first rows, the panel's columns
  DenseView<T> upper;  ///< LU only
};

class ListedEntries;

/// One factorization. `factor` is being written; everything else is constant.
template <class T>
struct Work {
  const SparseMatrix<T>& matrix;
  const SymbolicFactor& symbolic;
  Factor<T>& factor;
  real_t<T> tiny = 0;  ///< pivots below this are replaced
  index_t columns_last = 0;  ///< that are not eliminated
  const ListedEntries* listed = nullptr;  ///< of the matrix's pattern; null: not known yet

  bool is_eliminated(index_t s) const {
    return columns_last == 0 || first_column(s) < symbolic.n - columns_last;
  }
  FactorKind kind() const { return factor.kind; }
  /// Products use the conjugate transpose.
  bool adjoint() const { return factor.hermitian; }

  index_t first_column(index_t s) const { return symbolic.supernode_begin[s]; }
  index_t panel_rows(index_t s) const { return static_cast<index_t>(symbolic.leading_dimension(s)); }
  /// Rows [range.first, range.end) of the panel of s in `panels`, which is factor.lower or factor.upper.
  DenseView<T> rows_of(PanelArray<T>& panels, index_t s, RowRange range) const {
    return {panels.data() + symbolic.panel_offset[s] + range.first, range.end - range.first,
            symbolic.width(s), symbolic.leading_dimension(s)};
  }
  DenseView<T> diagonal_block(index_t s) const { return rows_of(factor.lower, s, {0, symbolic.width(s)}); }
  /// D of supernode s.
  PairDiagonal<T> pairs(index_t s) const {
    const auto begin = static_cast<std::size_t>(first_column(s)),
               width = static_cast<std::size_t>(symbolic.width(s));
    return {factor.hermitian, std::span<const T>(factor.d).subspan(begin, width),
            std::span<const T>(factor.d_below).subspan(begin, width)};
  }
  std::span<index_t> place(index_t s) const {
    return std::span<index_t>(factor.place)
        .subspan(first_column(s), symbolic.width(s));
  }
};

/// Sizes of a thread's scratch, known from the structure.
struct ScratchSizes {
  index_t n = 0;
  index_t widest = 0;       ///< supernode
  index_t tallest_block = 0;
  index_t chunk_rows = RowChunks().chunk_rows;
  /// Rows of a chunk, padded so that its columns do not evict each other from the caches.
  index_t staged_rows() const { return chunk_rows + 8; }
  offset_t staged_entries(FactorKind kind) const {
    return static_cast<offset_t>(staged_rows()) * widest * (kind == FactorKind::lu ? 2 : 1);
  }
  offset_t product_entries() const {
    return static_cast<offset_t>(slab_rows) * std::max<index_t>(tallest_block, 1);
  }
  offset_t scaled_entries(FactorKind kind) const {
    return kind == FactorKind::ldlt ? static_cast<offset_t>(tallest_block) * widest : 0;
  }
  offset_t column_entries(FactorKind kind) const {
    return kind == FactorKind::ldlt ? static_cast<offset_t>(widest) * (widest + 1) : 0;
  }
  offset_t bytes(FactorKind kind, offset_t scalar_bytes) const;
};
ScratchSizes scratch_sizes(const SymbolicFactor& symbolic);

template <class T>
struct alignas(128) Scratch {
  std::vector<index_t> local_row;   // length n: place in the panel of `mapped` of each row that occurs there
  index_t mapped = -1;              // supernode whose rows local_row holds
  std::vector<index_t> target_row;  // length slab_rows
  std::vector<index_t> target_column;  // length tallest block
  std::vector<T> product;           // slab_rows × tallest block
  std::vector<T> scaled;            // tallest block × widest: rows of L·D
  /// Two threads that sum neighbouring chunks of one panel would compete for the cache lines between them, so
  /// each sums into a copy.
  std::vector<T> staged;            // staged_rows × widest, twice for LU
  std::vector<T> columns;           // LDLᵀ: see PairStorage
  index_t staged_rows;
  OffloadCounts counts;             // with a device: what this thread did itself

  Scratch(const ScratchSizes& sizes, FactorKind kind)
      : local_row(sizes.n), target_row(slab_rows),
        target_column(sizes.tallest_block),
        product(sizes.product_entries()),
        scaled(sizes.scaled_entries(kind)),
        staged(sizes.staged_entries(kind)),
        columns(sizes.column_entries(kind)), staged_rows(sizes.staged_rows()) {}

  /// Set local_row to the rows of supernode s.
  void map(const SymbolicFactor& symbolic, index_t s) {
    if (mapped == s) return;
    const index_t begin = symbolic.supernode_begin[s], width = symbolic.width(s);
    for (index_t column = 0; column < width; ++column) local_row[begin + column] = column;
    index_t place = width;
    for (const index_t row : symbolic.rows_below(s)) local_row[row] = place++;
    mapped = s;
  }
};

}  // namespace palmette::factorize_detail
