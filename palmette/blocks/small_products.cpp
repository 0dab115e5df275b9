// Products of panels: a tile of C stays in vector registers during the whole loop over k. Division by a
// triangle, in halves, down to narrow triangles whose rows stay in registers too.
#include "palmette/blocks/small_products.hpp"

#include <algorithm>

#include "palmette/blocks/column_kernels.hpp"
#include "palmette/blocks/product_tile.hpp"

namespace palmette {
namespace {

using tiles::longest_inner;
using tiles::own_loops;
using tiles::Right;
using tiles::tile_registers;
using tiles::wide_registers;

/// Triangles up to this width are divided by in loops of our own.
constexpr index_t narrow_triangle = 12;

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

/// Column j of X·A⁻¹ needs the columns before it (A upper, or the transpose of a lower triangle): going
/// forward, each column of X is updated by its predecessors, then divided.
template <class T>
void divide_forward(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  const bool plain = how.op == blas::Transpose::no;
  const auto entry = [&](index_t k, index_t j) {
    if (plain) return a(k, j);
    return how.op == blas::Transpose::adjoint ? conjugate(a(j, k)) : a(j, k);
  };
  T share[narrow_triangle][narrow_triangle];
  for (index_t j = 0; j < x.cols; ++j) {
    for (index_t k = 0; k < j; ++k) share[j][k] = -entry(k, j);
    share[j][j] = how.diagonal == blas::Diagonal::unit ? T(1) : T(1) / entry(j, j);
  }
  lanes::over_rows<T>(0, x.rows, [&]<int Width>(index_t row) {
    using L = lanes::Lanes<T, Width>;
    typename L::Vector done[narrow_triangle];
    for (index_t j = 0; j < x.cols; ++j) {
      typename L::Sum sum;
      for (index_t k = 0; k < j; ++k) sum.add(done[k], share[j][k]);
      typename L::Sum quotient;
      quotient.add(L::load(x.column(j) + row) + sum.value(), share[j][j]);
      done[j] = quotient.value();
      L::store(done[j], x.column(j) + row);
    }
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

template <class T>
DenseView<T> part(DenseView<T> view, index_t row, index_t column, index_t rows, index_t cols) {
  return {view.data + row + column * view.ld, rows, cols, view.ld};
}

/// The left half of X, its update of the right half, then the right half.
template <class T>
void divide_halves(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  if (x.cols <= narrow_triangle) return divide_forward(how, a, x);
  const index_t half = (x.cols / 2 + 3) / 4 * 4, rest = x.cols - half;
  const DenseView<T> left = x.columns(0, half), right = x.columns(half, rest);
  divide_halves(how, part(a, 0, 0, half, half), left);
  if (how.op == blas::Transpose::no)
    choose_product<T, true>(Right::plain, left, part(a, 0, half, half, rest), right);
  else subtract_rows<T>(how.op == blas::Transpose::adjoint, left, part(a, half, 0, rest, half), right);
  divide_halves(how, part(a, half, half, rest, rest), right);
}

}  // namespace

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

template <class T>
void solve_panel_rows(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  const bool forward = (how.triangle == blas::Triangle::upper) == (how.op == blas::Transpose::no);
  if (forward && (wide_registers || x.cols <= narrow_triangle)) return divide_halves(how, a, x);
  blas::trsm<T>({blas::Side::right, how.triangle, how.op, how.diagonal}, a, x);
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template void multiply_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void subtract_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void multiply_plain<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);              \
  template void subtract_plain<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);              \
  template void subtract_lower<T>(bool, DenseView<const T>, DenseView<T>);                            \
  template void solve_panel_rows<T>(const PanelDivision&, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
