// The arithmetic of one rank's tasks: the same kernels in the same order for each block as without ranks.
#include "palmette/factorize/rank_work.hpp"

#include <algorithm>

#include "palmette/factorize/assemble.hpp"

namespace palmette::factorize_detail {

template <class T>
RankScratch<T>::RankScratch(const SymbolicFactor& symbolic, FactorKind kind)
    : local_row(symbolic.n, -1), target_row(slab_rows) {
  const ScratchSizes sizes = scratch_sizes(symbolic);
  target_column.resize(sizes.tallest_block);
  product.resize(sizes.product_entries());
  scaled.resize(sizes.scaled_entries(kind));
}

template <class T>
PanelParts<T> RankWork<T>::parts(index_t p, DenseView<T> block) const {
  const index_t s = supernode(p);
  PanelParts<T> panel{factor.kind,
                      factor.hermitian,
                      tiny,
                      s,
                      symbolic.supernode_begin[s],
                      symbolic.num_rows_below(s) > 0,
                      block,
                      {},
                      {},
                      {},
                      {}};
  const auto begin = static_cast<std::size_t>(symbolic.supernode_begin[s]),
             width = static_cast<std::size_t>(symbolic.width(s));
  if (factor.kind == FactorKind::ldlt) {
    panel.d = std::span<T>(factor.d).subspan(begin, width);
    panel.d_below = std::span<T>(factor.d_below).subspan(begin, width);
  }
  if (factor.kind != FactorKind::llt) panel.place = std::span<index_t>(factor.place).subspan(begin, width);
  return panel;
}

template <class T>
void RankWork<T>::map_rows(index_t p, RankScratch<T>& scratch) const {
  const index_t s = supernode(p), begin = symbolic.supernode_begin[s];
  if (owns_diagonal(p))
    for (index_t column = 0; column < symbolic.width(s); ++column) scratch.local_row[begin + column] = column;
  for (const OwnBlock& own : fan.owned.blocks_of_panel(p)) {
    index_t place = own.first_row;
    for (const index_t row : rows_of_block(s, own.block)) scratch.local_row[row] = place++;
  }
}

template <class T>
void RankWork<T>::forget_rows(index_t p, RankScratch<T>& scratch) const {
  const index_t s = supernode(p), begin = symbolic.supernode_begin[s];
  if (owns_diagonal(p)) std::fill_n(scratch.local_row.begin() + begin, symbolic.width(s), -1);
  for (const OwnBlock& own : fan.owned.blocks_of_panel(p))
    for (const index_t row : rows_of_block(s, own.block)) scratch.local_row[row] = -1;
}

template <class T>
const OwnBlock* RankWork<T>::own_block(index_t p, index_t row_supernode) const {
  const std::span<const OwnBlock> blocks = fan.owned.blocks_of_panel(p);
  const auto row_of = [&](const OwnBlock& one) {
    return symbolic.blocks[one.block].row_supernode;
  };
  const auto found =
      std::lower_bound(blocks.begin(), blocks.end(), row_supernode,
                       [&](const OwnBlock& one, index_t wanted) { return row_of(one) < wanted; });
  return found == blocks.end() || row_of(*found) != row_supernode ? nullptr : &*found;
}

template <class T>
RowRange RankWork<T>::part_of(index_t p, index_t row_supernode) const {
  if (fan.owned.by_parts[p] == 0) return {0, panel_rows(p)};
  if (row_supernode == supernode(p)) return {0, symbolic.width(row_supernode)};
  const OwnBlock* const own = own_block(p, row_supernode);
  return {own->first_row, own->first_row + symbolic.blocks[own->block].count};
}

template <class T>
void RankWork<T>::assemble_lower(index_t p, const RankScratch<T>& scratch) const {
  const index_t s = supernode(p), begin = symbolic.supernode_begin[s];
  std::fill(factor.lower.data() + fan.owned.panel_offset[p],
            factor.lower.data() + fan.owned.panel_offset[p + 1], T(0));
  const bool by_parts = fan.owned.by_parts[p] != 0;
  const DenseView<T> whole = by_parts ? DenseView<T>{} : rows_of(factor.lower, p, {0, panel_rows(p)});
  for (index_t column = 0; column < symbolic.width(s); ++column) {
    const index_t first_row = factor.kind == FactorKind::lu ? begin : begin + column;
    fetch_ahead(matrix, symbolic, begin + column);
    visit_column(ScaledMatrix<T>{matrix, symbolic, factor.row_scale, factor.column_scale}, begin + column,
                 [&](index_t row, const T& value) {
                   if (row < first_row || scratch.local_row[row] < 0) return;
                   if (!by_parts) {
                     whole(scratch.local_row[row], column) = value;
                     return;
                   }
                   const RowRange part = part_of(p, symbolic.supernode_of[row]);
                   rows_of(factor.lower, p, part)(scratch.local_row[row] - part.first, column) = value;
                 });
  }
}

template <class T>
void RankWork<T>::assemble_upper() const {
  std::fill_n(factor.upper.data(), factor.upper.size(), T(0));
  const ScaledMatrix<T> scaled{matrix, symbolic, factor.row_scale, factor.column_scale};
  for (index_t column = 0; column < symbolic.n; ++column) {
    const index_t block_row = symbolic.supernode_of[column];
    fetch_ahead(matrix, symbolic, column);
    visit_column(scaled, column, [&](index_t row, const T& value) {
      const index_t s = symbolic.supernode_of[row];
      if (s >= block_row) return;
      const index_t p = fan.panel_of[s];
      if (p == -1) return;
      const OwnBlock* const own = own_block(p, block_row);
      if (own == nullptr) return;
      const std::span<const index_t> rows = rows_of_block(s, own->block);
      const auto place =
          static_cast<index_t>(std::lower_bound(rows.begin(), rows.end(), column) - rows.begin());
      factor.rows_of(factor.upper, p, own->first_row, static_cast<index_t>(rows.size()))(
          place, row - symbolic.supernode_begin[s]) = value;
    });
  }
}

namespace {

template <class T>
DenseView<const T> some_rows(DenseView<const T> view, index_t first, index_t rows) {
  return {view.data + first, rows, view.cols, view.ld};
}

}  // namespace

template <class T>
FinishedBlock<T> RankWork<T>::finished_rows(index_t p, index_t first, index_t count) const {
  FinishedBlock<T> found;
  found.lower = factor.rows_of(factor.lower, p, first, count);
  if (factor.kind == FactorKind::lu) found.upper = factor.rows_of(factor.upper, p, first, count);
  found.pairs = pairs(supernode(p));
  return found;
}

template <class T>
void RankWork<T>::subtract(const Update& update, const FinishedBlock<T>& left, const FinishedBlock<T>& right,
                           RankScratch<T>& scratch) const {
  const Block& factors = update.right_block;
  const std::span<const index_t> below = symbolic.rows_below(update.source),
                                 rows = below.subspan(update.rows.first),
                                 columns = below.subspan(factors.first, factors.count);
  const index_t begin = symbolic.supernode_begin[supernode(update.panel)];
  for (std::size_t column = 0; column < columns.size(); ++column)
    scratch.target_column[column] = columns[column] - begin;
  const RowRange part = part_of(update.panel, symbolic.supernode_of[rows[0]]);
  const bool symmetric = factor.kind != FactorKind::lu && update.rows.first == factors.first;
  // From row `skipped` of a on.
  const auto one_side = [&](index_t skipped, DenseView<const T> a, DenseView<const T> b,
                            PanelArray<T>& panels) {
    const DenseView<T> target = rows_of(panels, update.panel, part);
    for (index_t first = skipped; first < a.rows; first += slab_rows) {
      const index_t count = std::min(slab_rows, a.rows - first);
      for (index_t row = 0; row < count; ++row)
        scratch.target_row[row] = scratch.local_row[rows[first + row]] - part.first;
      const ProductPlaces places{scratch.target_row.data(), scratch.target_column.data()};
      const index_t shift = symmetric ? first : PlacedProduct<T>::all_rows;
      const DenseView<const T> slab = some_rows(a, first, count);
      subtract_placed<T>({factor.hermitian, slab, b, places, {}, scratch.product.data(), shift}, target);
    }
  };
  if (factor.kind == FactorKind::lu) {
    one_side(0, left.lower, right.upper, factor.lower);
    const index_t diagonal_rows = std::max(factors.first + factors.count - update.rows.first, 0);
    one_side(diagonal_rows, left.upper, right.lower, factor.upper);
  } else if (factor.kind == FactorKind::ldlt) {
    const DenseView<T> scaled{scratch.scaled.data(), right.lower.rows, right.lower.cols, right.lower.rows};
    multiply_by_pairs<T>(right.pairs, right.lower, scaled);
    one_side(0, left.lower, scaled, factor.lower);
  } else {
    one_side(0, left.lower, right.lower, factor.lower);
  }
}

#define PALMETTE_INSTANTIATE(T)       \
  template struct RankScratch<T>;     \
  template struct RankWork<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
