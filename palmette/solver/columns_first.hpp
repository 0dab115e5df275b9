// Factorization by columns: when it is used, and its interface to the solver.
#pragma once

#include <memory>

#include "palmette/columns/columns.hpp"
#include "palmette/solver/inverse.hpp"

namespace palmette {

/// Whether the factor of this matrix may be so thin that columns are faster than supernodes. True for small
/// matrices. Among larger ones, true for triangular matrices, for those with no more entries than a tree, and
/// for those whose rows differ in length, as in circuits, power grids and other networks, but not in meshes.
bool may_be_thin(const SparsityPattern& pattern);

/// The order of a matrix for the factorization by columns: the natural order, as a dense matrix, if it is
/// tiny, otherwise that of order_blocks; nothing if order_blocks finds none.
std::optional<BlockOrdering> order_by_columns(const SparsityPattern& pattern, bool symmetric);

/// Decides by counts: with few flops, in total or per entry of the factor, supernodes gain nothing.
bool is_thin(const BlockOrdering& order);

/// The factor as an Inverse; its factor() is null.
template <class T>
std::shared_ptr<const Inverse<T>> inverse_by_columns(std::shared_ptr<const ColumnFactor<T>> factor,
                                                     double seconds);

}  // namespace palmette
