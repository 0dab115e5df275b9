// The products of a factorization at every size, and division by a triangle: loops of our own that need no
// packing, or BLAS-3 where it is faster. The choice depends on the shapes alone.
#pragma once

#include <span>

#include "palmette/base/base.hpp"
#include "palmette/blocks/level3.hpp"

namespace palmette {

/// Whether an entry of the products below has the same bits whatever the shape of the others, for inner sizes
/// (of subtract_transposed any, of divisions their triangles') up to `inner`: if no BLAS computes them.
bool have_one_order(index_t inner);

/// C ← A·Bᵀ, or A·Bᴴ if `adjoint`; A is m × k, B is n × k, C is m × n and overwritten.
template <class T>
void multiply_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c);

/// C ← C − A·Bᵀ, or A·Bᴴ if `adjoint`.
template <class T>
void subtract_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c);

/// C ← A·B and C ← C − A·B; A is m × k, B is k × n.
template <class T>
void multiply_plain(DenseView<const T> a, DenseView<const T> b, DenseView<T> c);
template <class T>
void subtract_plain(DenseView<const T> a, DenseView<const T> b, DenseView<T> c);

/// C ← C − Aᵀ·B, or C − Aᴴ·B if `adjoint`; A is k × m, B is k × n.
template <class T>
void subtract_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c);

/// The lower triangle (trapezoid) of C ← C − A·A₁ᵀ, or A·A₁ᴴ if `adjoint`: C is m × n with m ≥ n, A is m ×
/// k, and A₁ its first n rows. Parts of the strict upper triangle may be written.
template <class T>
void subtract_lower(bool adjoint, DenseView<const T> a, DenseView<T> c);

/// The triangle by which X is divided.
struct PanelDivision {
  blas::Triangle triangle = blas::Triangle::lower;
  blas::Transpose op = blas::Transpose::no;
  blas::Diagonal diagonal = blas::Diagonal::stored;
};
/// X ← X·op(A)⁻¹ for the rows X (m × w) of a panel whose diagonal block holds the triangle A (w × w).
template <class T>
void solve_panel_rows(const PanelDivision& how, DenseView<const T> a, DenseView<T> x);
/// X ← op(A)⁻¹·X for the triangle A (w × w) and X w × n.
template <class T>
void solve_panel_columns(const PanelDivision& how, DenseView<const T> a, DenseView<T> x);

/// The block diagonal D of an LDLᵀ, as factor_ldlt leaves it: 1 × 1 and 2 × 2 blocks, symmetric or Hermitian.
template <class T>
struct PairDiagonal {
  bool hermitian = false;
  std::span<const T> d;        // length w: the diagonal
  std::span<const T> d_below;  // length w: the subdiagonal, nonzero where a 2 × 2 block begins
};
/// out ← A·D; both m × w, out overwritten.
template <class T>
void multiply_by_pairs(const PairDiagonal<T>& pairs, DenseView<const T> a, DenseView<T> out);
/// A ← A·D⁻¹, m × w.
template <class T>
void divide_by_pairs(const PairDiagonal<T>& pairs, DenseView<T> a);

}  // namespace palmette
