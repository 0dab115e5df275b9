// The groups of supernodes of a generated matrix of doubles.
#pragma once

#include <memory>

#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"
#include "palmette/solve/sweep_structure.hpp"

namespace palmette::testing {

/// @param group_bytes  as in SweepGroups
inline solve_detail::SweepGroups generated_groups(const char* problem, index_t n, double group_bytes = 0) {
  const SparseMatrix<double> matrix = generate({problem, n});
  const Ordering ordering = order(matrix, {}).value();
  return {std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering)), 8, group_bytes};
}

}  // namespace palmette::testing
