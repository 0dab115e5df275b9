// Inside `blocks`: the innermost loop of every product. A tile of C stays in vector registers during the
// whole loop over k.
#pragma once

#include "palmette/blocks/lanes.hpp"

namespace palmette::tiles {

/// With registers of 32 bytes or more these loops keep up with BLAS at every size that occurs, so BLAS
/// computes only products with inner sizes beyond `longest_inner`. With 16 bytes (a build for any x86-64),
/// BLAS, which chooses its kernels at run time, is faster from this many multiplications on.
inline constexpr bool wide_registers = lanes::register_bytes >= 32;
template <class T>
inline constexpr double blas_pays_from = is_complex_v<T> ? 4096 : 12288;
inline constexpr index_t longest_inner = 192;

template <class T>
bool own_loops(index_t m, index_t n, index_t k) {
  if (wide_registers) return k <= longest_inner;
  return n <= 2 || k <= 4 || static_cast<double>(m) * n * k < blas_pays_from<T>;
}

/// Number of vector registers that a tile of C may fill, and its shape: rows lie in registers, columns in
/// different registers. A complex scalar needs two registers.
inline constexpr int tile_registers = lanes::register_bytes >= 32 ? 3 : 2;
template <class T>
inline constexpr int tile_columns = (lanes::register_bytes == 64 ? 8 : 4) / (is_complex_v<T> ? 2 : 1);
template <class T>
inline constexpr int tile_rows = lanes::full_width<T> * tile_registers;

/// From this many columns of C on it pays to copy a tile's rows of A: with a leading dimension near a power
/// of two its columns would push each other out of the first cache, and rows that begin anywhere lie in one
/// line more than they fill.
inline constexpr index_t copy_pays_from = 16;

/// Rows from `row` on and columns from `column` on.
template <class T>
DenseView<T> part(DenseView<T> view, index_t row, index_t column, index_t rows, index_t cols) {
  return {view.data + row + column * view.ld, rows, cols, view.ld};
}

/// The right factor: Bᵀ or Bᴴ (B is n × k), or B itself (k × n).
enum class Right { transposed, adjoint, plain };

/// The sums of a tile. They are in registers, where the function that makes them is inlined.
template <class T, int Width, int Registers, int NumRhs>
struct TileSums {
  typename lanes::Lanes<T, Width>::Vector value[NumRhs][Registers];
};

/// For product_tile: the rows of A are not kept.
struct NotKept {
  template <class Vector>
  PALMETTE_INLINE void operator()(index_t, int, Vector) const {}
};

/// For product_tile: the rows of A are copied while they are read, one column behind the other.
template <class T, int Width, int Registers>
struct CopiedTo {
  T* to;
  template <class Vector>
  PALMETTE_INLINE void operator()(index_t k, int r, Vector entries) const {
    lanes::Lanes<T, Width>::store(entries, to + (k * Registers + r) * Width);
  }
};

/// A·op(B) for `Registers` · `Width` rows of A and `NumRhs` columns of op(B). Every entry is summed in the
/// order of k, whatever the tile's shape.
/// @param keep  keep(k, register, entries) is called for what is read of A
template <class T, int Width, int Registers, int NumRhs, Right right, class Keep = NotKept>
PALMETTE_INLINE inline auto product_tile(DenseView<const T> a, const T* b, offset_t ld_b, Keep&& keep = {}) {
  using L = lanes::Lanes<T, Width>;
  typename L::Sum sum[NumRhs][Registers];
  const T* left = a.data;
  for (index_t k = 0; k < a.cols; ++k) {
    typename L::Vector entries[Registers];
    lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE {
      entries[r] = L::load(left + r * Width);
      keep(k, r, entries[r]);
    });
    lanes::unrolled<NumRhs>([&](auto rhs) PALMETTE_INLINE {
      const T entry = right == Right::plain ? b[rhs * ld_b] : b[rhs];
      const T factor = right == Right::adjoint ? conjugate(entry) : entry;
      lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE { sum[rhs][r].add(entries[r], factor); });
    });
    left += a.ld;
    b += right == Right::plain ? 1 : ld_b;
  }
  TileSums<T, Width, Registers, NumRhs> sums;
  lanes::unrolled<NumRhs>([&](auto rhs) PALMETTE_INLINE {
    lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE { sums.value[rhs][r] = sum[rhs][r].value(); });
  });
  return sums;
}

/// Calls step.template operator()<NumRhs>(column) over columns [0, cols) in strips of the widest tile, then
/// of half of it …
template <class T, class Step>
inline void over_strips(index_t cols, Step&& step) {
  constexpr int widest = tile_columns<T>;
  index_t column = 0;
  for (; column + widest <= cols; column += widest) step.template operator()<widest>(column);
  if constexpr (widest > 4)
    if (column + 4 <= cols) step.template operator()<4>(column), column += 4;
  if constexpr (widest > 2)
    if (column + 2 <= cols) step.template operator()<2>(column), column += 2;
  for (; column < cols; ++column) step.template operator()<1>(column);
}

}  // namespace palmette::tiles
