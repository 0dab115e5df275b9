// Products whose left factor is transposed: its columns are turned into the rows of a tile, which the first
// cache then holds for all columns of C.
#include <algorithm>

#include "palmette/blocks/product_tile.hpp"
#include "palmette/blocks/register_block.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

using tiles::longest_inner;
using tiles::part;
using tiles::Right;
using tiles::tile_rows;

/// Rows of op(A) for one tile.
template <class T>
class TurnedRows {
 public:
  static constexpr int full = lanes::full_width<T>;

  /// @param a  inner × rows, at most longest_inner × tile_rows
  /// @returns op(A), its rows padded with zeros to whole registers
  DenseView<const T> take(bool adjoint, DenseView<const T> a) {
    const index_t padded = (a.cols + full - 1) / full * full;
    T* const entries = reinterpret_cast<T*>(reals_);
    for (index_t row = 0; row < a.cols; row += full)
      for (index_t k = 0; k < a.rows; k += full) {
        const index_t terms = std::min<index_t>(full, a.rows - k);
        lanes::RegisterBlock<T> block;
        block.load_columns(part(a, k, row, terms, std::min<index_t>(full, a.cols - row)));
        block.turn();
        for (index_t term = 0; term < terms; ++term)
          L::store(adjoint ? L::conjugated(block.line[term]) : block.line[term],
                   entries + (k + term) * padded + row);
      }
    return {entries, padded, a.rows, padded};
  }

 private:
  using L = lanes::Lanes<T, full>;
  static constexpr std::size_t capacity = tile_rows<T> * longest_inner;
  // Not T, since complex numbers would be set to zero for each product.
  alignas(64) real_t<T> reals_[capacity * sizeof(T) / sizeof(real_t<T>)];
};

/// C ← C − A·B for rows of one tile; A may have more rows than C.
template <class T, int Registers>
void subtract_tile(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  constexpr int full = lanes::full_width<T>;
  using L = lanes::Lanes<T, full>;
  const int last = c.rows - (Registers - 1) * full;
  tiles::over_strips<T>(c.cols, [&]<int NumRhs>(index_t column) {
    const T* const factors = b.column(column);
    const auto sums = tiles::product_tile<T, full, Registers, NumRhs, Right::plain>(a, factors, b.ld);
    lanes::unrolled<NumRhs>([&](auto rhs) PALMETTE_INLINE {
      T* const place = c.column(column + rhs);
      lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE {
        T* const at = place + r * full;
        if (r + 1 < Registers || last == full) L::store(L::load(at) - sums.value[rhs][r], at);
        else L::store_first(L::load_first(at, last) - sums.value[rhs][r], last, at);
      });
    });
  });
}

}  // namespace

template <class T>
void subtract_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  if (a.rows == 0 || c.rows == 0 || c.cols == 0) return;  // the views may have no memory
  if (!tiles::own_loops<T>(c.rows, c.cols, std::min(a.rows, longest_inner)))
    return blas::gemm<T>(adjoint ? blas::Transpose::adjoint : blas::Transpose::transpose,
                         blas::Transpose::no, T(-1), a, b, T(1), c);
  constexpr index_t tile = tile_rows<T>;
  constexpr int full = lanes::full_width<T>;
  TurnedRows<T> turned;
  for (index_t k = 0; k < a.rows; k += longest_inner) {
    const index_t inner = std::min(longest_inner, a.rows - k);
    const DenseView<const T> factors = part(b, k, 0, inner, b.cols);
    for (index_t row = 0; row < c.rows; row += tile) {
      const index_t count = std::min(tile, c.rows - row);
      const DenseView<const T> rows = turned.take(is_complex_v<T> && adjoint, part(a, k, row, inner, count));
      const DenseView<T> sums = part(c, row, 0, count, c.cols);
      if (rows.rows == tile) subtract_tile<T, tiles::tile_registers>(rows, factors, sums);
      else if (rows.rows == full) subtract_tile<T, 1>(rows, factors, sums);
      else if constexpr (tiles::tile_registers > 2) subtract_tile<T, 2>(rows, factors, sums);
    }
  }
}

#define PALMETTE_INSTANTIATE(T) \
  template void subtract_transposed<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
