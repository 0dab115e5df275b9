// Inside `solve`: a given triangle taken apart and checked: the strict lower part by columns, and the
// diagonal. An upper triangle is transposed, so that later code handles only lower ones.
#pragma once

#include <string>
#include <vector>

#include "palmette/solve/core.hpp"

namespace palmette::solve_detail {

template <class T>
struct LowerTriangle {
  SparseMatrix<T> strict;   // n × n, rows below the diagonal only
  std::vector<T> diagonal;  // length n; empty: ones

  index_t size() const { return strict.rows(); }
};

/// Of a solve on devices that reads each entry once, from its own column or row.
template <class T>
CoreCost cost_of_entries(const LowerTriangle<T>& triangle) {
  const double entries = static_cast<double>(triangle.strict.nnz());
  const double rows = static_cast<double>(triangle.size());
  CoreCost cost;
  cost.flops = (is_complex_v<T> ? 8 : 2) * entries;
  cost.bytes = entries * (sizeof(T) + sizeof(int)) + rows * (sizeof(T) + sizeof(long long));
  return cost;
}

enum class WrongSide { ignored, refused };

struct TriangleReading {
  bool lower = true;          ///< which triangle is used
  bool unit_diagonal = false;
  WrongSide wrong_side = WrongSide::ignored;  ///< entries in the other triangle; zeros are never rejected
  std::string name;           ///< name of the triangle in messages: "the triangle", "the lower factor"
};

/// @returns the triangle (an upper one transposed), or numerically_singular naming the first row without a
///   nonzero diagonal
/// @throws DimensionError if not square; UsageError naming an entry that is not finite or on the wrong side
template <class T>
Outcome<LowerTriangle<T>> read_triangle(const SparseMatrix<T>& matrix, const TriangleReading& reading);

/// A core that solves with the triangle, and the order of the core's rows: empty, or row k of
/// the core is row order.new_to_old[k] of the triangle.
template <class T>
struct TriangleCore {
  std::shared_ptr<const SweepCore<T>> core;
  Permutation order;
};

/// The purpose of a triangle's core.
enum class TriangleUse {
  plain,       ///< mainly L⁻¹ (its transpose is prepared when first needed)
  transposed,  ///< mainly L⁻ᵀ
  symmetric,   ///< (L·Lᵀ)⁻¹: needs a core with both sweeps, or both sweeps of a plain one
  hermitian,   ///< (L·Lᴴ)⁻¹
};

/// By supernodes if the pattern is closed under elimination and its supernodes are wide enough to pay,
/// otherwise row by row.
template <class T>
TriangleCore<T> make_triangle_core(LowerTriangle<T> triangle, TriangleUse use, const PlanOptions& options);

}  // namespace palmette::solve_detail
