// Maximum-product bipartite matching: which entries to bring to the diagonal, and the scaling that makes them
// one and all others at most one.
#pragma once

#include <vector>

#include "palmette/order/edge_list.hpp"

namespace palmette::order_detail {

/// A matching of maximum cardinality and, if it is perfect, of maximum product.
struct Matching {
  index_t size = 0;                    ///< matched columns: the structural rank
  std::vector<index_t> row_of_column;  // length n; −1 where unmatched
  std::vector<index_t> column_of_row;  // length n; −1 where unmatched
  /// Valid if size == n: log₂|a_ij| + row[i] + column[j] ≤ 0 for every entry, = 0 for the matched ones.
  ScalingExponents scaling;
};

/// Match the rows and columns of a square matrix so that the product of the moduli of the matched entries is
/// largest.
///
/// First the maximum cardinality. If that is n, shortest augmenting paths on the costs log(column's largest
/// modulus) − log|a_ij|, with dual variables that keep all reduced costs nonnegative; the final dual
/// variables are the scaling. If the search trees grow large, an auction with scaled increments first brings
/// the dual variables close to their final values; the result is just as exact, since the paths come last.
/// @param edges  rows == cols
/// @cost O(n·nnz·log n) worst case, near-linear in practice
/// @source [Duff and Koster 2001], §3-4 (MC64, job 5)
Matching maximum_product_matching(const EdgeList& edges);

/// Shift rows against columns, in each connected component of the matrix, so that the largest exponents
/// become as small as possible; scaled entries stay the same. Does nothing if all exponents are within ±
/// limit.
void balance(const EdgeList& edges, const Matching& matching, int limit, ScalingExponents& scaling);

}  // namespace palmette::order_detail
