// A given triangle whose solution decays until it is subnormal.
#pragma once

#include "palmette/matrix/matrix.hpp"

namespace palmette::testing {

inline constexpr index_t decaying_size = 24;

/// L = 64·I − S, S having ones below the diagonal. For the first unit vector x(k) = 64^−(k + 1), and the last
/// three entries are subnormal.
inline SparseMatrix<float> decaying_triangle() {
  Triplets<float> entries{decaying_size, decaying_size, {}, {}, {}};
  for (index_t k = 0; k < decaying_size; ++k) {
    entries.row.push_back(k), entries.column.push_back(k), entries.value.push_back(64);
    if (k > 0) entries.row.push_back(k), entries.column.push_back(k - 1), entries.value.push_back(-1);
  }
  return from_triplets(entries);
}

}  // namespace palmette::testing
