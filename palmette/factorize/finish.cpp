// Dense factorization of the diagonal block; triangular solves for the rows below it.
#include "palmette/factorize/finish.hpp"

#include <algorithm>

namespace palmette::factorize_detail {
namespace {

/// Zero the strict upper triangle, which holds the unneeded halves of symmetric updates.
template <class T>
void clear_upper_triangle(DenseView<T> block) {
  for (index_t column = 1; column < block.cols; ++column) std::fill_n(block.column(column), column, T(0));
}

template <class T>
void tally_llt(DenseView<T> block, PivotTally& tally) {
  clear_upper_triangle(block);
  for (index_t k = 0; k < block.cols; ++k) tally.add_square(static_cast<double>(std::real(block(k, k))));
}

template <class T>
BadPivot finish_llt(const PanelParts<T>& panel, PivotTally& tally) {
  const DenseView<T> block = panel.block;
  const index_t failed = factor_llt(block);
  if (failed >= 0) return {panel.supernode, panel.first_column + failed, is_finite(block(failed, failed))};
  tally_llt(block, tally);
  return {};
}

/// Pivots of the permuted matrix that were replaced; LDLᵀ moves rows and columns, LU only rows.
template <class T>
void tally_replaced(const PanelParts<T>& panel, const BlockPivots& pivots, PivotTally& tally) {
  tally.add_moduli(pivots.smallest_modulus, pivots.largest_modulus);
  const bool columns_move = panel.kind == FactorKind::ldlt;
  for (std::size_t nth = 0; nth < pivots.perturbed.size(); ++nth) {
    const index_t k = pivots.perturbed[nth], row = panel.first_column + panel.place[k];
    tally.replacements.push_back({row, columns_move ? row : panel.first_column + k, pivots.change[nth]});
  }
  // Elsewhere the rows below may make the matrix regular; below a root block there are none.
  if (pivots.exactly_singular && !panel.has_rows_below) tally.singular_root = true;
  if (!pivots.perturbed.empty() && !pivots.exactly_singular) tally.inexact_replacement = true;
  if (!pivots.perturbed.empty() && panel.has_rows_below) tally.inexact_replacement = true;
}

template <class T>
BadPivot finish_ldlt(const PanelParts<T>& panel, PivotTally& tally) {
  const DenseView<T> block = panel.block;
  const std::span<T> d = panel.d, below = panel.d_below;
  const BlockPivots pivots =
      factor_ldlt<T>(panel.adjoint, panel.tiny, block, {d, below, panel.columns}, panel.place);
  clear_upper_triangle(block);
  for (index_t k = 0; k < block.cols; ++k) {
    if (!is_finite(d[k]) || !is_finite(below[k]))
      return {panel.supernode, panel.first_column + panel.place[k], false};
    block(k, k) = T(1);
  }
  tally_replaced(panel, pivots, tally);
  std::size_t next_replaced = 0;
  for (index_t k = 0; k < block.cols; ++k) {
    const bool replaced = next_replaced < pivots.perturbed.size() && pivots.perturbed[next_replaced] == k;
    if (replaced) ++next_replaced;
    if (below[k] == T(0)) {
      tally.add(std::complex<double>(d[k]), replaced);
    } else {
      const auto b = std::complex<double>(below[k]);
      const auto product = b * (panel.adjoint ? std::conj(b) : b);
      tally.add_pair(std::complex<double>(d[k]), std::complex<double>(d[k + 1]), product);
      ++k;
    }
  }
  return {};
}

template <class T>
BadPivot finish_lu(const PanelParts<T>& panel, PivotTally& tally) {
  const DenseView<T> block = panel.block;
  const BlockPivots pivots = factor_lu<T>(panel.tiny, block, panel.place);
  for (index_t k = 0; k < block.cols; ++k)
    if (!is_finite(block(k, k))) return {panel.supernode, panel.first_column + k, false};
  tally_replaced(panel, pivots, tally);
  for (index_t k = 0; k < block.cols; ++k) tally.add(std::complex<double>(block(k, k)), false);
  if (pivots.odd_permutation) tally.sign = -tally.sign;
  return {};
}

/// The lower triangle of `to` ← the transposed upper triangle of `block`, a few rows at a time, since each
/// lies in another column of `block`.
template <class T>
void transpose_upper(DenseView<const T> block, DenseView<T> to) {
  constexpr index_t strip = 16;
  for (index_t first = 0; first < to.rows; first += strip) {
    const index_t end = std::min(to.rows, first + strip);
    for (index_t column = 0; column < end; ++column)
      for (index_t row = std::max(first, column); row < end; ++row) to(row, column) = block(column, row);
  }
}

/// Permute the columns of X: new column k is old column place[k]. Works cycle by cycle, a slab of rows at a
/// time.
template <class T>
void permute_columns(std::span<const index_t> place, DenseView<T> x, std::vector<T>& spare) {
  for (index_t start = 0; start < x.cols; ++start) {
    // Each cycle is walked once, from its smallest index.
    index_t thread = place[start];
    while (thread > start) thread = place[thread];
    if (thread < start || place[start] == start) continue;
    for (index_t first = 0; first < x.rows; first += slab_rows) {
      const index_t rows = std::min(slab_rows, x.rows - first);
      std::copy_n(x.column(start) + first, rows, spare.data());
      index_t to = start;
      for (; place[to] != start; to = place[to])
        std::copy_n(x.column(place[to]) + first, rows, x.column(to) + first);
      std::copy_n(spare.data(), rows, x.column(to) + first);
    }
  }
}

template <class T>
PanelParts<T> panel_parts(const Work<T>& work, Scratch<T>& scratch, index_t s) {
  PanelParts<T> panel{work.kind(),
                      work.adjoint(),
                      work.tiny,
                      s,
                      work.first_column(s),
                      work.symbolic.num_rows_below(s) > 0,
                      work.diagonal_block(s),
                      {},
                      {},
                      {},
                      {}};
  const auto begin = static_cast<std::size_t>(work.first_column(s)),
             width = static_cast<std::size_t>(panel.block.cols);
  if (work.kind() == FactorKind::ldlt) {
    panel.d = std::span<T>(work.factor.d).subspan(begin, width);
    panel.d_below = std::span<T>(work.factor.d_below).subspan(begin, width);
    panel.columns = std::span<T>(scratch.columns).first(width * (width + 1));
  }
  if (work.kind() != FactorKind::llt) panel.place = work.place(s);
  return panel;
}

}  // namespace

template <class T>
BadPivot finish_diagonal(const PanelParts<T>& panel, PivotTally& tally) {
  if (panel.kind == FactorKind::llt) return finish_llt(panel, tally);
  return panel.kind == FactorKind::ldlt ? finish_ldlt(panel, tally) : finish_lu(panel, tally);
}

template <class T>
void finish_rows(const PanelParts<T>& panel, DenseView<T> lower, DenseView<T> upper, std::vector<T>& spare) {
  using blas::Diagonal;
  using blas::Transpose;
  using blas::Triangle;
  const DenseView<const T> block = panel.block;
  const Transpose turned = panel.adjoint ? Transpose::adjoint : Transpose::transpose;
  if (panel.kind == FactorKind::llt)
    return solve_panel_rows<T>({Triangle::lower, turned, Diagonal::stored}, block, lower);
  if (panel.kind == FactorKind::ldlt) {
    permute_columns<T>(panel.place, lower, spare);
    solve_panel_rows<T>({Triangle::lower, turned, Diagonal::unit}, block, lower);
    return divide_by_pairs<T>({panel.adjoint, panel.d, panel.d_below}, lower);
  }
  solve_panel_rows<T>({Triangle::upper, Transpose::no, Diagonal::stored}, block, lower);
  permute_columns<T>(panel.place, upper, spare);
  solve_panel_rows<T>({Triangle::lower, Transpose::transpose, Diagonal::unit}, block, upper);
}

template <class T>
void finish_factored_diagonal(const Work<T>& work, index_t s, PivotTally& tally) {
  tally_llt(work.diagonal_block(s), tally);
}

template <class T>
BadPivot finish_diagonal(const Work<T>& work, Scratch<T>& scratch, index_t s, PivotTally& tally) {
  const BadPivot bad = finish_diagonal(panel_parts(work, scratch, s), tally);
  if (bad.supernode < 0 && work.kind() == FactorKind::lu)
    transpose_upper<T>(work.diagonal_block(s),
                       work.rows_of(work.factor.upper, s, {0, work.symbolic.width(s)}));
  return bad;
}

template <class T>
void finish_rows(const Work<T>& work, Scratch<T>& scratch, index_t s, RowRange range) {
  range.first = std::max(range.first, work.symbolic.width(s));
  if (range.first >= range.end) return;
  DenseView<T> upper;
  if (work.kind() == FactorKind::lu) upper = work.rows_of(work.factor.upper, s, range);
  finish_rows(panel_parts(work, scratch, s), work.rows_of(work.factor.lower, s, range), upper,
              scratch.product);
}

NumericalFailure failure_at(const BadPivot& bad, const SymbolicFactor& symbolic) {
  NumericalFailure failure;
  failure.column = symbolic.column.new_to_old()[bad.column];
  failure.row = symbolic.row.new_to_old()[bad.column];
  failure.supernode = bad.supernode;
  const std::string column = std::to_string(failure.column + 1);
  if (bad.finite) {
    failure.kind = FailureKind::not_positive_definite;
    failure.message = "pivot of column " + column +
                      " is not positive: the matrix is not positive definite; use LDLᵀ (kind ldlt)";
  } else {
    failure.kind = FailureKind::not_finite;
    failure.message =
        "pivot of column " + column +
        " is not finite: the matrix holds NaN or Inf, or its entries overflow; check or rescale them";
  }
  return failure;
}

#define PALMETTE_INSTANTIATE(T)                                                    \
  template BadPivot finish_diagonal<T>(const PanelParts<T>&, PivotTally&);         \
  template void finish_rows<T>(const PanelParts<T>&, DenseView<T>, DenseView<T>, std::vector<T>&); \
  template void finish_factored_diagonal<T>(const Work<T>&, index_t, PivotTally&);  \
  template BadPivot finish_diagonal<T>(const Work<T>&, Scratch<T>&, index_t, PivotTally&); \
  template void finish_rows<T>(const Work<T>&, Scratch<T>&, index_t, RowRange);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
