// Properties of a matrix that need no solve: for palmette info.
#pragma once

#include "palmette/matrix/matrix.hpp"

namespace palmette::cli {

struct MatrixFigures {
  Symmetry detected = Symmetry::general;  ///< of the values, exactly
  bool has_symmetric_pattern = false;
  index_t missing_diagonal = 0;  ///< diagonal entries that are not stored (of the leading square)
  index_t zero_diagonal = 0;     ///< stored, but zero
  index_t positive_diagonal = 0; ///< with positive real part
  offset_t explicit_zeros = 0;
  double smallest_modulus = 0;   ///< of the nonzero entries
  double largest_modulus = 0;
  index_t lower_bandwidth = 0;   ///< largest row − column of an entry
  index_t upper_bandwidth = 0;
  index_t empty_rows = 0;
  index_t empty_columns = 0;
  index_t most_in_a_row = 0;
  index_t most_in_a_column = 0;
  index_t dominant_rows = 0;     ///< |diagonal| ≥ sum of the moduli of the other entries
  double norm_one = 0;
  double norm_infinity = 0;
};

/// @cost a few passes over the entries
template <class T>
MatrixFigures matrix_figures(const SparseMatrix<T>& matrix);

}  // namespace palmette::cli
