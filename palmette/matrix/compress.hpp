// Inside `matrix`: turns columns with unsorted rows and duplicates into well-formed compressed columns.
#pragma once

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {

/// Sort each column by row and sum its duplicates in their original order, in place.
///
/// Columns that are already in order cost one comparison per entry. The others are sorted with the position
/// as second key, so that the sum of duplicates does not depend on the sorting algorithm.
/// @param matrix  pattern.column_ptr complete, row_index and values bucketed by column; explicit zeros are
///   kept
/// @return true if there were duplicates
/// @cost O(nnz) for sorted columns, a logarithm of the column's length more for others; memory for the
///   longest such column
template <class T>
bool sort_and_sum_columns(SparseMatrix<T>& matrix);

}  // namespace palmette
