// Inside `solve`: a given triangle taken apart and checked: the strict lower part by columns, and the
// diagonal. An upper triangle is taken as its transpose, so that everything after sees lower ones only.
#pragma once

#include <string>
#include <vector>

#include "palmette/solve/core.hpp"

namespace palmette::sweep {

template <class T>
struct LowerTriangle {
  SparseMatrix<T> strict;   // n × n, rows below the diagonal only
  std::vector<T> diagonal;  // length n; empty: ones

  index_t size() const { return strict.rows(); }
};

enum class WrongSide { ignored, refused };

struct TriangleReading {
  bool lower = true;          ///< which triangle is meant
  bool unit_diagonal = false;
  WrongSide wrong_side = WrongSide::ignored;  ///< entries in the other triangle; zeros are never refused
  std::string name;           ///< of the triangle in messages: "the triangle", "the lower factor"
};

/// @returns the triangle (an upper one transposed), or numerically_singular naming the first row without a
///   nonzero diagonal
/// @throws DimensionError if not square; UsageError naming an entry that is not finite or on the wrong side
template <class T>
Outcome<LowerTriangle<T>> read_triangle(const SparseMatrix<T>& matrix, const TriangleReading& reading);

/// A core that solves with the triangle, and the order in which the core wants the rows: empty, or row k of
/// the core is row order.new_to_old[k] of the triangle.
template <class T>
struct TriangleCore {
  std::shared_ptr<const SweepCore<T>> core;
  Permutation order;
};

/// What a triangle's core is made for.
enum class TriangleUse {
  plain,       ///< L⁻¹ first of all (its transpose is prepared when first needed)
  transposed,  ///< L⁻ᵀ first of all
  symmetric,   ///< (L·Lᵀ)⁻¹: needs a core with both sweeps, or both sweeps of a plain one
  hermitian,   ///< (L·Lᴴ)⁻¹
};

/// By supernodes where the pattern is closed under elimination and its supernodes are wide enough to pay,
/// otherwise row by row.
template <class T>
TriangleCore<T> make_triangle_core(LowerTriangle<T> triangle, TriangleUse use, const PlanOptions& options);

}  // namespace palmette::sweep
