// The structural rank: the number of columns that can be matched, whatever the values.
#pragma once

#include "palmette/order/edge_list.hpp"

namespace palmette::order_detail {

/// A matching of rows and columns; −1 where unmatched.
struct RowsAndColumns {
  std::vector<index_t> row_of_column;  // length cols
  std::vector<index_t> column_of_row;  // length rows
};

/// Extend a matching to one of maximum cardinality, along shortest augmenting paths, many at a time.
/// @returns the number of matched columns
/// @cost O(nnz·√n); a few passes in practice
/// @source [Hopcroft and Karp 1973]
index_t extend_to_largest_cardinality(const EdgeList& edges, RowsAndColumns& matching);

}  // namespace palmette::order_detail
