// Inside `factorize`: the entries of the permuted and scaled matrix, put where they belong in the panels.
#pragma once

#include "palmette/factorize/work.hpp"

namespace palmette::factorizing {

/// Set target.lower, rows of the panel of s, to the matrix's entries and zeros. scratch.mapped == s.
template <class T>
void assemble_lower(const Work<T>& work, const Scratch<T>& scratch, index_t s, const Target<T>& target);

/// Set the whole upper panel array to the entries above the diagonal blocks and zeros (LU).
///
/// An entry of column j goes to the panel of its row's supernode, found there by bisection: no transposed copy of the
/// matrix is needed. @cost O(panel_entries + nnz·log(rows)), shared by the team
template <class T>
void assemble_upper(const Work<T>& work, ThreadTeam& team);

/// Largest modulus of an entry of the scaled matrix; entries that are NaN do not count.
template <class T>
double largest_scaled_entry(const SparseMatrix<T>& matrix, const Ordering& ordering);

}  // namespace palmette::factorizing
