// Inside `columns`: a matrix with few zeros, factored as a dense matrix.
#pragma once

#include "palmette/columns/columns.hpp"

namespace palmette {

/// LU with partial pivoting, or LLᵀ, of the whole matrix in its own order. Null if a pivot is doubtful or not
/// positive.
/// @cost 2n³/3 flops (half of it for LLᵀ), n² scalars
template <class T>
class DenseColumns {
 public:
  static std::shared_ptr<const ColumnFactor<T>> run(const SparseMatrix<T>& matrix,
                                                    std::shared_ptr<const BlockOrdering> order,
                                                    FactorKind kind);
};

}  // namespace palmette
