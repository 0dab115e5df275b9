// The main product of a factorization: computed tile by tile, and each tile subtracted at once where its
// entries belong.
#pragma once

#include <limits>

#include "palmette/base/base.hpp"

namespace palmette {

/// Where the entries of an m × n product belong: (i, j) at (row[i], column[j]) of a panel.
struct ProductPlaces {
  const index_t* row = nullptr;     // length m, ascending, without repetition
  const index_t* column = nullptr;  // length n, without repetition
};

/// The operands of the next product, so that they can be prefetched.
template <class T>
struct NextOperands {
  DenseView<const T> a;  ///< 0 × 0: nothing comes next
  DenseView<const T> b;
};

/// A·Bᵀ, or A·Bᴴ if `adjoint`, and where it goes; A is m × k, B is n × k, of any size.
template <class T>
struct PlacedProduct {
  static constexpr index_t all_rows = std::numeric_limits<index_t>::max() / 2;

  bool adjoint = false;
  DenseView<const T> a;
  DenseView<const T> b;
  ProductPlaces places;
  NextOperands<T> next = {};
  T* spare = nullptr;  ///< m·n scalars of workspace, used only if BLAS computes the product
  /// Entries (i, j) with i + shift < j are not needed, and may be left out: those above the diagonal of a
  /// symmetric update whose first row of A is row `shift` of B.
  index_t shift = all_rows;
};

/// panel(row[i], column[j]) −= product(i, j).
///
/// While one tile is computed, the next tile's operands are fetched ahead: A and B may lie anywhere in a
/// factor.
/// @cost  2·m·n·k flops; without most of the entries that are not needed
template <class T>
void subtract_placed(const PlacedProduct<T>& product, DenseView<T> panel);

/// C ← A·Bᵀ, or A·Bᴴ if `adjoint`, with the bits that subtract_placed would subtract: for those who compute
/// the product first and subtract it later. A is m × k, B is n × k, C is m × n and overwritten.
/// @cost  memory for m·n scalars
template <class T>
void multiply_placed(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c);

}  // namespace palmette
