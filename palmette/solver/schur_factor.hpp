// Inside `solver`: the factorization that stops before a boundary, and what becomes of its last panels.
#pragma once

#include <span>
#include <vector>

#include "palmette/factorize/factorize.hpp"

namespace palmette {

/// diag(A_II, 1): A with the rows and columns of the boundary replaced by those of the identity.
/// @param on_boundary  length n
template <class T>
SparseMatrix<T> interior_of(const SparseMatrix<T>& matrix, const std::vector<char>& on_boundary);

/// A_IB as n × m with empty rows on the boundary, by columns of the boundary.
template <class T>
SparseMatrix<T> coupling_of(const SparseMatrix<T>& matrix, std::span<const index_t> boundary,
                            const std::vector<char>& on_boundary);

/// The pattern with all entries between unknowns of the boundary.
SparsityPattern with_full_boundary(const SparsityPattern& pattern, std::span<const index_t> boundary);

/// The ordering of interior_of with the boundary moved to its end, and scales of the boundary that make its
/// coupling with the interior at most one.
template <class T>
Ordering boundary_last(Ordering interior, const SparseMatrix<T>& matrix, std::span<const index_t> boundary,
                       const std::vector<char>& on_boundary);

/// Multiplications and additions for the columns that are eliminated.
double flops_before_boundary(const SymbolicFactor& symbolic, FactorKind kind, index_t columns_last);

/// Take S out of the last panels, scalings undone, and leave the factor of the identity there.
/// @param factor  of factorize with columns_last = m @returns m × m
template <class T>
DenseMatrix<T> take_complement(Factor<T>& factor, index_t columns_last);

}  // namespace palmette
