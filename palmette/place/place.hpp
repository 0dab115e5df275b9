// The door of `place`: SymbolicFactor + process grid → Placement: which rank owns which block.
#pragma once

#include "palmette/analyze/analyze.hpp"

namespace palmette {

struct ProcessGrid {
  index_t rows = 1;
  index_t cols = 1;
  index_t num_ranks() const { return rows * cols; }
};

/// Owners of blocks on a grid: block-cyclic by supernode number. Constant once made.
struct Placement {
  ProcessGrid grid;
  index_t num_supernodes = 0;

  /// Rank that owns the block of rows `row_supernode` in the columns of `column_supernode`.
  index_t owner(index_t row_supernode, index_t column_supernode) const {
    return (row_supernode % grid.rows) * grid.cols + column_supernode % grid.cols;
  }
};

/// @throws UsageError if the grid has no ranks
Placement place(const SymbolicFactor& symbolic, ProcessGrid grid = {});

}  // namespace palmette
