// Products of panels: a tile of C stays in vector registers during the whole loop over k.
#include "palmette/blocks/small_products.hpp"

#include <algorithm>

#include "palmette/blocks/product_tile.hpp"

namespace palmette {
namespace {

using tiles::longest_inner;
using tiles::own_loops;
using tiles::part;
using tiles::Right;
using tiles::tile_registers;

/// What happens to C.
enum class Into { overwrite, subtract };

/// The rows of one tile, for every column of C.
/// @param copy  null, or Registers · Width · a.cols scalars: the rows are copied there while the first strip
///        of columns reads them
template <class T, int Width, int Registers, Into into, Right right>
inline void product_rows(DenseView<const T> a, DenseView<const T> b, DenseView<T> c, T* copy = nullptr) {
  using L = lanes::Lanes<T, Width>;
  tiles::over_strips<T>(c.cols, [&]<int NumRhs>(index_t column) {
    const T* const factors = right == Right::plain ? b.column(column) : b.data + column;
    const auto store = [&](const tiles::TileSums<T, Width, Registers, NumRhs>& sums) PALMETTE_INLINE {
      lanes::unrolled<NumRhs>([&](auto rhs) PALMETTE_INLINE {
        lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE {
          T* const place = c.column(column + rhs) + r * Width;
          if constexpr (into == Into::overwrite) L::store(sums.value[rhs][r], place);
          else L::store(L::load(place) - sums.value[rhs][r], place);
        });
      });
    };
    if constexpr (NumRhs == tiles::tile_columns<T>)
      if (column == 0 && copy != nullptr) {
        const tiles::CopiedTo<T, Width, Registers> copied{copy};
        store(tiles::product_tile<T, Width, Registers, NumRhs, right>(a, factors, b.ld, copied));
        a = {copy, a.rows, a.cols, a.rows};
        return;
      }
    store(tiles::product_tile<T, Width, Registers, NumRhs, right>(a, factors, b.ld));
  });
}

/// A sum of no terms.
template <class T, Into into>
void without_terms(DenseView<T> c) {
  if constexpr (into == Into::overwrite)
    for (index_t column = 0; column < c.cols; ++column) std::fill_n(c.column(column), c.rows, T(0));
}

template <class T, Into into, Right right>
void product(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  constexpr int full = lanes::full_width<T>, tile = full * tile_registers;
  // Views without columns may have no memory.
  if (a.cols == 0 || c.cols == 0) return without_terms<T, into>(c);
  alignas(64) T copy[tile * longest_inner];
  index_t row = 0;
  const bool copied = c.cols >= tiles::copy_pays_from && a.cols <= longest_inner;
  for (; row + tile <= c.rows; row += tile)
    product_rows<T, full, tile_registers, into, right>({a.data + row, tile, a.cols, a.ld}, b,
                                                       {c.data + row, tile, c.cols, c.ld},
                                                       copied ? copy : nullptr);
  lanes::over_rows<T>(row, c.rows, [&]<int Width>(index_t at) {
    product_rows<T, Width, 1, into, right>({a.data + at, Width, a.cols, a.ld}, b,
                                           {c.data + at, Width, c.cols, c.ld});
  });
}

/// C ← A·op(B), or C ← C − A·op(B), by our own loops or BLAS.
template <class T, bool subtract>
void choose_product(Right right, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  constexpr Into into = subtract ? Into::subtract : Into::overwrite;
  if (own_loops<T>(c.rows, c.cols, a.cols)) {
    if (right == Right::plain) return product<T, into, Right::plain>(a, b, c);
    if (is_complex_v<T> && right == Right::adjoint) return product<T, into, Right::adjoint>(a, b, c);
    return product<T, into, Right::transposed>(a, b, c);
  }
  const blas::Transpose op_b = right == Right::plain     ? blas::Transpose::no
                               : right == Right::adjoint ? blas::Transpose::adjoint
                                                         : blas::Transpose::transpose;
  blas::gemm<T>(blas::Transpose::no, op_b, T(subtract ? -1 : 1), a, b, T(subtract ? 1 : 0), c);
}

}  // namespace

bool have_one_order(index_t inner) { return tiles::wide_registers && inner <= longest_inner; }

template <class T>
void multiply_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  choose_product<T, false>(adjoint ? Right::adjoint : Right::transposed, a, b, c);
}

template <class T>
void subtract_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  choose_product<T, true>(adjoint ? Right::adjoint : Right::transposed, a, b, c);
}

template <class T>
void multiply_plain(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  choose_product<T, false>(Right::plain, a, b, c);
}

template <class T>
void subtract_plain(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  choose_product<T, true>(Right::plain, a, b, c);
}

template <class T>
void subtract_lower(bool adjoint, DenseView<const T> a, DenseView<T> c) {
  constexpr index_t strip = 32;
  for (index_t first = 0; first < c.cols; first += strip) {
    const index_t cols = std::min(strip, c.cols - first), rows = c.rows - first;
    subtract_rows<T>(adjoint, part(a, first, 0, rows, a.cols), part(a, first, 0, cols, a.cols),
                     part(c, first, first, rows, cols));
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template void multiply_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void subtract_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void multiply_plain<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);              \
  template void subtract_plain<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);              \
  template void subtract_lower<T>(bool, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
