// The way by columns: whether a matrix takes it, and what the hall needs of it.
#pragma once

#include <memory>

#include "palmette/columns/columns.hpp"
#include "palmette/solver/inverse.hpp"

namespace palmette {

/// Can the factor of this matrix be so thin that columns beat supernodes? Small matrices may; among larger
/// ones triangular ones, those with no more entries than a tree, and those whose rows differ in length, as
/// those of circuits, power grids and other networks do and those of meshes do not.
bool may_be_thin(const SparsityPattern& pattern);

/// The order of a matrix that is to be factored by columns: its own as a dense matrix where it is tiny, that
/// of order_blocks otherwise; nothing where that finds none.
std::optional<BlockOrdering> order_by_columns(const SparsityPattern& pattern, bool symmetric);

/// Decided by the counts: few flops, in all or for each entry of the factor, leave supernodes nothing to
/// gain.
bool is_thin(const BlockOrdering& order);

/// The factor as the hall sees it; factor() is null.
template <class T>
std::shared_ptr<const Inverse<T>> inverse_by_columns(std::shared_ptr<const ColumnFactor<T>> factor,
                                                     double seconds);

}  // namespace palmette
