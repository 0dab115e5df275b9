// Scatter the matrix's entries into panels.
#include "palmette/factorize/assemble.hpp"

#include <algorithm>
#include <functional>

#include "palmette/factorize/listed_entries.hpp"

namespace palmette::factorize_detail {
namespace {

template <class T>
ScaledMatrix<T> scaled_matrix(const Work<T>& work) {
  return {work.matrix, work.symbolic, work.factor.row_scale, work.factor.column_scale};
}

template <class T>
void assemble_upper_column(const Work<T>& work, index_t column) {
  const SymbolicFactor& symbolic = work.symbolic;
  const index_t above = symbolic.supernode_begin[symbolic.supernode_of[column]];
  visit_column(scaled_matrix(work), column, [&](index_t row, const T& value) {
    if (row >= above) return;
    const index_t owner = symbolic.supernode_of[row];
    const std::span<const index_t> rows = symbolic.rows_below(owner);
    const auto place =
        static_cast<index_t>(std::lower_bound(rows.begin(), rows.end(), column) - rows.begin());
    const DenseView<T> panel = work.rows_of(work.factor.upper, owner, {0, work.panel_rows(owner)});
    panel(symbolic.width(owner) + place, row - work.first_column(owner)) = value;
  });
}

/// The entries of a panel that are listed.
template <class T>
void put_listed(const Work<T>& work, index_t s, const Target<T>& target) {
  const RowRange range = target.range;
  const T* const values = work.matrix.values.data();
  const index_t* const rows = work.matrix.pattern.row_index.data();
  const index_t begin = work.first_column(s);
  const std::vector<double>& row_scale = work.factor.row_scale;
  for (index_t column = 0; column < target.lower.cols; ++column) {
    T* const entries = target.lower.column(column);
    const double column_scale =
        scale_of(work.factor.column_scale, work.symbolic.column.new_to_old()[begin + column]);
    work.listed->fetch_ahead(values, begin + column);
    work.listed->visit(begin + column, [&](offset_t entry, index_t local) {
      if (local < range.first || local >= range.end) return;
      const double scale = row_scale.empty() ? column_scale : column_scale * row_scale[rows[entry]];
      entries[local - range.first] = values[entry] * static_cast<real_t<T>>(scale);
    });
  }
}

}  // namespace

template <class T>
void assemble_lower(const Work<T>& work, const Scratch<T>& scratch, index_t s, const Target<T>& target) {
  const DenseView<T> panel = target.lower;
  const RowRange range = target.range;
  if (panel.ld == panel.rows) std::fill_n(panel.data, panel.ld * panel.cols, T(0));
  else
    for (index_t column = 0; column < panel.cols; ++column)
      std::fill_n(panel.column(column), panel.rows, T(0));
  if (work.listed != nullptr) return put_listed(work, s, target);
  const index_t begin = work.first_column(s);
  const bool whole_diagonal = work.kind() == FactorKind::lu;
  for (index_t column = 0; column < panel.cols; ++column) {
    const index_t first_row = whole_diagonal ? begin : begin + column;
    T* const entries = panel.column(column);
    fetch_ahead(work.matrix, work.symbolic, begin + column);
    visit_column(scaled_matrix(work), begin + column, [&](index_t row, const T& value) {
      if (row < first_row) return;
      const index_t local = scratch.local_row[row];
      if (local >= range.first && local < range.end) entries[local - range.first] = value;
    });
  }
}

template <class T>
void assemble_upper(const Work<T>& work, ThreadTeam& team) {
  PanelArray<T>& upper = work.factor.upper;
  over_ranges(&team, upper.size(), [&](offset_t first, offset_t end) {
    std::fill(upper.data() + first, upper.data() + end, T(0));
  });
  over_ranges(&team, work.symbolic.n, [&](offset_t first, offset_t end) {
    for (auto column = static_cast<index_t>(first); column < static_cast<index_t>(end); ++column) {
      fetch_ahead(work.matrix, work.symbolic, column);
      assemble_upper_column(work, column);
    }
  });
}

template <class T>
double largest_scaled_entry(const SparseMatrix<T>& matrix, const Ordering& ordering,
                            const SymbolicFactor* symbolic, index_t columns_last) {
  const auto stays_last = [&](const Permutation& order, index_t unknown) {
    return order.old_to_new()[unknown] >= matrix.rows() - columns_last;
  };
  double largest = 0;
  for (index_t column = 0; column < matrix.cols(); ++column) {
    const bool stays = symbolic != nullptr && stays_last(symbolic->column, column);
    const double column_scale = scale_of(ordering.column_scale, column);
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      if (stays && stays_last(symbolic->row, row)) continue;
      const double row_scale = scale_of(ordering.row_scale, row);
      largest = std::max(largest,
                         static_cast<double>(cheap_modulus(matrix.values[entry])) * row_scale * column_scale);
    }
  }
  return largest;
}

#define PALMETTE_INSTANTIATE(T)                                                  \
  template void assemble_lower<T>(const Work<T>&, const Scratch<T>&, index_t, const Target<T>&); \
  template void assemble_upper<T>(const Work<T>&, ThreadTeam&);                  \
  template double largest_scaled_entry<T>(const SparseMatrix<T>&, const Ordering&, const SymbolicFactor*, \
                                          index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
