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

/// The right factor: Bᵀ or Bᴴ (B is n × k), or B itself (k × n).
enum class Right { transposed, adjoint, plain };

/// to ← the rows of a tile that lie at `from`: registers, not a call of the function that moves memory.
template <class T>
PALMETTE_INLINE inline void copy_tile_rows(const T* from, T* to) {
  using L = lanes::Lanes<T, lanes::full_width<T>>;
  lanes::unrolled<tile_registers>([&](auto r) PALMETTE_INLINE {
    L::store(L::load(from + r * lanes::full_width<T>), to + r * lanes::full_width<T>);
  });
}

/// A·op(B) for `Registers` · `Width` rows of A and `NumRhs` columns of op(B): store(rhs, register, value) is
/// called once for each register of the result. Every entry is summed in the order of k, whatever the tile's
/// shape.
template <class T, int Width, int Registers, int NumRhs, Right right, class Store>
inline void product_tile(DenseView<const T> a, const T* b, offset_t ld_b, Store&& store) {
  using L = lanes::Lanes<T, Width>;
  typename L::Sum sum[NumRhs][Registers];
  for (index_t k = 0; k < a.cols; ++k) {
    typename L::Vector entries[Registers];
    for (int r = 0; r < Registers; ++r) entries[r] = L::load(a.column(k) + r * Width);
    for (int rhs = 0; rhs < NumRhs; ++rhs) {
      const T entry = right == Right::plain ? b[k + rhs * ld_b] : b[rhs + k * ld_b];
      const T factor = right == Right::adjoint ? conjugate(entry) : entry;
      for (int r = 0; r < Registers; ++r) sum[rhs][r].add(entries[r], factor);
    }
  }
  for (int rhs = 0; rhs < NumRhs; ++rhs)
    for (int r = 0; r < Registers; ++r) store(rhs, r, sum[rhs][r].value());
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
