// Inside `solve`: how the vectors of a solve with one factor are numbered and scaled, so that the factor is
// that of the permuted matrix, pivoting included and scalings undone.
#pragma once

#include <mutex>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solve/core.hpp"

namespace palmette::solve_detail {

/// The maps on both sides of a solve with one factor.
struct PartSides {
  IndexMap in;
  IndexMap out;
};

/// Built at the first use: most plans never need them. The factor holds P·R·A·C·Qᵀ = L·U (C = R for LLᵀ and
/// LDLᵀ). With r and c, the diagonals of R and C in the order of the pivoted rows and the columns, the
/// factors of P·A·Qᵀ are r⁻¹·L·r (LLᵀ: r⁻¹·L), r⁻¹·D·r⁻¹ and r⁻¹·U·c⁻¹.
template <class T>
class PartMaps {
 public:
  /// @param factor  outlives this
  explicit PartMaps(const Factor<T>& factor) : factor_(factor) {}
  PartSides sides(FactorPart part, Operation operation) const;

 private:
  void make() const;

  const Factor<T>& factor_;
  mutable std::once_flag made_;
  // length n: pivoted row of each row of the structure; empty: the same
  mutable std::vector<index_t> place_;
  mutable std::vector<double> row_, row_inverse_, column_;   // length n, or empty: r, r⁻¹ and c
};

}  // namespace palmette::solve_detail
