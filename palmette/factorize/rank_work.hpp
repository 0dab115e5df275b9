// Inside `factorize`: what the tasks of one rank read and write, and where blocks of other ranks are kept
// while they are needed.
#pragma once

#include "palmette/factorize/finish.hpp"
#include "palmette/factorize/rank_factorization.hpp"

namespace palmette::factorize_detail {

/// A finished block as an update reads it, wherever it lies.
template <class T>
struct FinishedBlock {
  DenseView<const T> lower;
  DenseView<const T> upper;    ///< LU only
  PairDiagonal<T> pairs;       ///< LDLᵀ only: D of its columns
};

/// Scratch memory of one thread.
template <class T>
struct RankScratch {
  explicit RankScratch(const SymbolicFactor& symbolic, FactorKind kind);
  std::vector<index_t> local_row;  // length n: row in the current panel, −1 if it has none
  std::vector<index_t> target_row;     // length slab_rows
  std::vector<index_t> target_column;  // length tallest block
  std::vector<T> product;          // slab_rows × tallest block
  std::vector<T> scaled;           // tallest block × widest: rows of L·D
};

/// One rank's factor while it is computed.
template <class T>
struct RankWork {
  const SparseMatrix<T>& matrix;
  const SymbolicFactor& symbolic;
  const FanOut& fan;
  RankFactor<T>& factor;
  real_t<T> tiny = 0;

  index_t supernode(index_t p) const { return fan.owned.panel[p]; }
  index_t panel_rows(index_t p) const { return fan.owned.panel_rows[p]; }
  bool owns_diagonal(index_t p) const { return fan.owned.owns_diagonal[p] != 0; }
  /// Rows below the diagonal block.
  RowRange below(index_t p) const {
    return {owns_diagonal(p) ? symbolic.width(supernode(p)) : 0, panel_rows(p)};
  }
  /// The rows of panel p that are stored together with those of `row_supernode`: its diagonal block or a
  /// block below; in a whole subtree, all rows.
  RowRange part_of(index_t p, index_t row_supernode) const;
  /// Rows of a block, in the numbering of the permuted matrix.
  std::span<const index_t> rows_of_block(index_t source, offset_t block) const {
    const Block& one = symbolic.blocks[block];
    return symbolic.rows_below(source).subspan(one.first,
                                               one.count);
  }
  DenseView<T> rows_of(PanelArray<T>& panels, index_t p, RowRange part) const {
    return factor.rows_of(panels, p, part.first, part.end - part.first);
  }
  /// Null if the rank owns no such block.
  const OwnBlock* own_block(index_t p, index_t row_supernode) const;
  PairDiagonal<T> pairs(index_t s) const {
    if (factor.kind != FactorKind::ldlt) return {};
    const auto begin = static_cast<std::size_t>(symbolic.supernode_begin[s]),
               width = static_cast<std::size_t>(symbolic.width(s));
    return {factor.hermitian, std::span<const T>(factor.d).subspan(begin, width),
            std::span<const T>(factor.d_below).subspan(begin, width)};
  }
  /// The parts of panel p needed to finish it; `block` is its diagonal block.
  PanelParts<T> parts(index_t p, DenseView<T> block) const;

  /// local_row ← rows of panel p, and back to −1.
  void map_rows(index_t p, RankScratch<T>& scratch) const;
  void forget_rows(index_t p, RankScratch<T>& scratch) const;
  /// Panel p ← the matrix's entries and zeros; its rows are mapped.
  void assemble_lower(index_t p, const RankScratch<T>& scratch) const;
  /// All of `upper` ← the matrix's entries above the diagonal blocks, and zeros.
  void assemble_upper() const;
  /// The rank's rows [first, first + count) of panel p, as factor.rows_of.
  FinishedBlock<T> finished_rows(index_t p, index_t first, index_t count) const;
  /// Rows of an own panel that has all rows of its supernode. @param rows  places in the list of rows below,
  ///   of one block if the panel is stored by parts
  FinishedBlock<T> own_rows(index_t p, RowRange rows) const {
    return finished_rows(p, symbolic.width(supernode(p)) + rows.first, rows.end - rows.first);
  }
  /// Panel p ← panel p − `left` times `right`; its rows are mapped.
  struct Update {
    index_t panel;
    index_t source;
    RowRange rows;       ///< places of those of `left` in the source's list of rows; of one part of panel p
    Block right_block;   ///< of the source; rows.first is its first row or lies beyond it
  };
  void subtract(const Update& update, const FinishedBlock<T>& left, const FinishedBlock<T>& right,
                RankScratch<T>& scratch) const;
};

}  // namespace palmette::factorize_detail
