// Inside `factorize`: puts the entries of the permuted and scaled matrix where they belong in the panels.
#pragma once

#include <cmath>

#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

inline double scale_of(const std::vector<double>& scales, index_t place) {
  return scales.empty() ? 1.0 : scales[place];
}

/// The matrix that is factored, entry by entry.
template <class T>
struct ScaledMatrix {
  const SparseMatrix<T>& matrix;
  const SymbolicFactor& symbolic;
  const std::vector<double>& row_scale;     // length n by original row, or empty
  const std::vector<double>& column_scale;  // length n by original column, or empty
};

/// Calls visit(new row, scaled value) for each entry of the column that is permuted to place `column`.
template <class T, class Visit>
void visit_column(const ScaledMatrix<T>& scaled, index_t column, Visit&& visit) {
  const SparsityPattern& pattern = scaled.matrix.pattern;
  const index_t original = scaled.symbolic.column.new_to_old()[column];
  const std::vector<index_t>& new_row = scaled.symbolic.row.old_to_new();
  const double column_scale = scale_of(scaled.column_scale, original);
  for (offset_t entry = pattern.column_ptr[original]; entry < pattern.column_ptr[original + 1]; ++entry) {
    const index_t row = pattern.row_index[entry];
    const double scale = column_scale * scale_of(scaled.row_scale, row);
    visit(new_row[row], scaled.matrix.values[entry] * static_cast<real_t<T>>(scale));
  }
}

/// In memory the matrix's columns are in their original order, so the columns of the next places are
/// prefetched.
template <class T>
PALMETTE_INLINE inline void fetch_ahead(const SparseMatrix<T>& matrix, const SymbolicFactor& symbolic,
                                        index_t column) {
  constexpr index_t distance = 8;  // columns: some hundreds of nanoseconds of work
  const SparsityPattern& pattern = matrix.pattern;
  const std::vector<index_t>& original = symbolic.column.new_to_old();
  if (column + 2 * distance >= symbolic.n) return;
  __builtin_prefetch(&pattern.column_ptr[original[column + 2 * distance]]);
  const offset_t entry = pattern.column_ptr[original[column + distance]];
  __builtin_prefetch(pattern.row_index.data() + entry);
  __builtin_prefetch(matrix.values.data() + entry);
}

/// Set target.lower, rows of the panel of s, to the matrix's entries and zeros. scratch.mapped == s.
template <class T>
void assemble_lower(const Work<T>& work, const Scratch<T>& scratch, index_t s, const Target<T>& target);

/// Set the whole upper panel array to the entries above the diagonal blocks and zeros (LU).
///
/// An entry of column j goes to the panel of its row's supernode, found there by bisection: no transposed
/// copy of the matrix is needed. @cost O(panel_entries + nnz·log(rows)), shared by the team
template <class T>
void assemble_upper(const Work<T>& work, ThreadTeam& team);

/// Unit roundoff to the power 2/3: see FactorizeOptions.
inline double default_tiny_pivot(double roundoff) { return std::cbrt(roundoff * roundoff); }

/// Largest modulus of an entry of the scaled matrix; entries that are NaN do not count.
/// @param symbolic  if not null, entries between its last `columns_last` unknowns do not count either: these
///   are not eliminated
template <class T>
double largest_scaled_entry(const SparseMatrix<T>& matrix, const Ordering& ordering,
                            const SymbolicFactor* symbolic = nullptr, index_t columns_last = 0);

}  // namespace palmette::factorize_detail
