// Part of the door of `solver`: the rows of a matrix that one rank provides.
#pragma once

#include <span>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Consecutive rows of an n × n matrix in compressed rows; refers to the caller's arrays. The blocks of all
/// ranks together hold every row once, in any assignment to ranks; a block may be empty.
template <class T>
struct RowBlock {
  index_t size = 0;                   ///< n
  index_t first_row = 0;
  std::span<const offset_t> row_ptr;  ///< length rows + 1, from 0; empty: no rows
  std::span<const index_t> column;    ///< length row_ptr[rows]: of the whole matrix, any order within a row
  std::span<const T> values;          ///< the same length; duplicates are summed in the order given

  index_t num_rows() const { return row_ptr.empty() ? 0 : static_cast<index_t>(row_ptr.size() - 1); }
};

}  // namespace palmette
