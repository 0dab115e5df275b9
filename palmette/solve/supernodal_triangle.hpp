// Inside `solve`: one triangular half of a supernodal factor, ready to be solved with: its diagonal blocks inverted
// (where the inverse is tame), its panels read where they lie.
#pragma once

#include <vector>

#include "palmette/solve/sweep_structure.hpp"

namespace palmette::sweep {

/// Where a triangle's values lie, in the layout of SymbolicFactor. Seen as a lower triangle: its diagonal block s is
/// B_s·P_s, with B_s the lower triangle of the stored block, or the transpose of its upper triangle.
template <class T>
struct TriangleSource {
  const T* diagonal = nullptr;     ///< panels whose diagonal blocks are meant
  const T* below = nullptr;        ///< panels whose rows below are meant
  bool diagonal_is_upper = false;  ///< U: the block's upper triangle, transposed
  bool unit_diagonal = false;
  const index_t* place = nullptr;  ///< length n: row k of P·t is row place[k] of t, within each supernode; null: identity
};

/// Not copyable: holds the inverses. The structure and the panels must outlive it.
template <class T>
class SupernodalTriangle {
 public:
  SupernodalTriangle(const SweepStructure& structure, const TriangleSource<T>& source, const PlanOptions& options);

  /// out ← B⁻¹·P·t; t is overwritten. `spare`: w × k. @cost w² flops for each right-hand side
  void solve_diagonal(index_t s, DenseView<T> t, DenseView<T> spare) const;
  /// t ← Pᵀ·B⁻ᵀ·t, or with the adjoint of B.
  void solve_diagonal_transposed(bool adjoint, index_t s, DenseView<T> t, DenseView<T> spare) const;
  /// The r × w rows below the diagonal block of supernode s.
  DenseView<const T> below(index_t s) const {
    const SymbolicFactor& symbolic = structure_.symbolic();
    return {source_.below + symbolic.panel_offset[s] + symbolic.width(s), symbolic.num_rows_below(s), symbolic.width(s),
            symbolic.leading_dimension(s)};
  }

  /// The inverse of B where out ← B⁻¹·t is all there is to solve_diagonal; null where blocks are guarded or permuted.
  const T* bare_inverse(index_t s) const {
    return inverted_[s] && !has_places_[s] ? inverse_.data() + structure_.block_offset(s) : nullptr;
  }
  const SweepStructure& structure() const { return structure_; }
  index_t guarded_blocks() const { return guarded_count_; }
  /// Bring the panel and the inverse of supernode s nearer; they are read soon.
  void prefetch_supernode(index_t s) const;
  offset_t memory_bytes() const;
  static offset_t predicted_bytes(const SweepStructure& structure, offset_t scalar_bytes);

 private:
  DenseView<const T> inverse(index_t s) const {
    const index_t width = structure_.symbolic().width(s);
    return {inverse_.data() + structure_.block_offset(s), width, width, width};
  }
  DenseView<const T> stored_block(index_t s) const;
  bool invert(index_t s, double growth_limit);
  void triangular_solve(bool transposed, bool adjoint, index_t s, DenseView<T> x) const;
  const index_t* places(index_t s) const {
    return has_places_[s] ? source_.place + structure_.symbolic().supernode_begin[s] : nullptr;
  }

  const SweepStructure& structure_;
  TriangleSource<T> source_;
  PanelArray<T> inverse_;         // diagonal blocks one after another, each w × w, lower triangular
  std::vector<char> inverted_;    // length num_supernodes
  std::vector<char> has_places_;  // length num_supernodes
  index_t guarded_count_ = 0;
};

/// D of LDLᵀ, inverted: blocks of one and two rows.
template <class T>
class BlockDiagonal {
 public:
  BlockDiagonal() = default;
  /// @param d, d_below  as in Factor
  BlockDiagonal(bool hermitian, std::span<const T> d, std::span<const T> d_below);
  /// values ← D⁻¹·values for rows first … of D; no 2 × 2 block may straddle the ends.
  void solve(index_t first, DenseView<T> values) const;
  offset_t memory_bytes() const;

 private:
  bool hermitian_ = false;
  std::vector<T> diagonal_;  // length n
  std::vector<T> below_;     // length n; nonzero where a 2 × 2 block begins
};

}  // namespace palmette::sweep
