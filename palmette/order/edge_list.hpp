// The nonzero entries of a matrix with the logarithms of their moduli: all that matching and scaling need.
#pragma once

#include "palmette/order/exponents.hpp"
#include "palmette/order/order.hpp"

namespace palmette::order_detail {

/// Compressed columns; stored zeros are left out, because a zero can be neither a pivot nor a scale factor.
struct EdgeList {
  index_t rows = 0;
  index_t cols = 0;
  std::vector<offset_t> start = {0};  // length cols + 1
  std::vector<index_t> row;           // length start[cols]
  std::vector<exponent_t> log;        // length start[cols]: log₂|a|
};

template <class T>
EdgeList edge_list(const SparseMatrix<T>& matrix) {
  EdgeList edges;
  edges.rows = matrix.rows();
  edges.cols = matrix.cols();
  edges.start.reserve(edges.cols + 1);
  edges.row.reserve(matrix.values.size());
  edges.log.reserve(matrix.values.size());
  for (index_t column = 0; column < edges.cols; ++column) {
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      if (matrix.values[entry] == T{}) continue;
      edges.row.push_back(matrix.pattern.row_index[entry]);
      edges.log.push_back(log2_modulus(matrix.values[entry]));
    }
    edges.start.push_back(static_cast<offset_t>(edges.row.size()));
  }
  return edges;
}

/// The same from the sizes of the entries: see order_by_sizes.
EdgeList edge_list(const SparsityPattern& pattern, std::span<const entry_size_t> sizes);

/// Scaling exponents of rows and columns.
struct ScalingExponents {
  std::vector<exponent_t> row;     // length rows
  std::vector<exponent_t> column;  // length cols
};

/// Exponents that bring the largest entry of each row and column near one; 0 for rows and columns without
/// entries.
/// @cost at most 20 passes over the entries; their number grows with the logarithm of the values' range
ScalingExponents equilibrating_exponents(const EdgeList& edges);

}  // namespace palmette::order_detail
