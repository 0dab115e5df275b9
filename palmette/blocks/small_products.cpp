// Products of narrow panels: four columns of C at a time in registers, all of k innermost; and row-wise division by a
// narrow triangle.
#include "palmette/blocks/small_products.hpp"

#include "palmette/blocks/column_kernels.hpp"

namespace palmette {
namespace {

/// A call of BLAS, its packing included, costs about as much as this many multiplications in the own loops.
template <class T>
constexpr double blas_pays_from = is_complex_v<T> ? 4096 : 12288;

/// Narrow triangles are divided by in own loops.
constexpr index_t narrow_triangle = 12;

template <class T>
bool own_loops(index_t m, index_t n, index_t k) {
  if (n <= 2 || k <= 4) return true;
  return static_cast<double>(m) * n * k < blas_pays_from<T>;
}

/// `Sides` columns of C ← (or −=) A·Bᵀ: rows of C stay in registers while k runs.
template <class T, int Sides, bool subtract>
void product_columns(bool adjoint, DenseView<const T> a, const T* b, offset_t ld_b, T* c, offset_t ld_c) {
  lanes::over_rows<T>(0, a.rows, [&]<int Width>(index_t row) {
    using L = lanes::Lanes<T, Width>;
    typename L::Sum sum[Sides];
    for (index_t k = 0; k < a.cols; ++k) {
      const auto entries = L::load(a.data + row + k * a.ld);
      const T* const factors = b + k * ld_b;
      for (int side = 0; side < Sides; ++side) sum[side].add(entries, adjoint ? conjugate(factors[side]) : factors[side]);
    }
    for (int side = 0; side < Sides; ++side) {
      T* const place = c + row + side * ld_c;
      if constexpr (subtract) L::store(L::load(place) - sum[side].value(), place);
      else L::store(sum[side].value(), place);
    }
  });
}

template <class T, bool subtract>
void product(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  index_t column = 0;
  const auto group = [&]<int Sides>() {
    product_columns<T, Sides, subtract>(adjoint, a, b.data + column, b.ld, c.column(column), c.ld);
    column += Sides;
  };
  while (column + 4 <= c.cols) group.template operator()<4>();
  if (column + 2 <= c.cols) group.template operator()<2>();
  if (column + 1 <= c.cols) group.template operator()<1>();
}

/// Column j of X·A⁻¹ needs the columns before it (A upper, or the transpose of a lower triangle): forward, each column
/// of X loses its predecessors' shares, then is divided.
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

}  // namespace

template <class T>
void multiply_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  if (own_loops<T>(c.rows, c.cols, a.cols)) return product<T, false>(adjoint, a, b, c);
  blas::gemm<T>(blas::Transpose::no, adjoint ? blas::Transpose::adjoint : blas::Transpose::transpose, T(1), a, b, T(0), c);
}

template <class T>
void subtract_rows(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  if (own_loops<T>(c.rows, c.cols, a.cols)) return product<T, true>(adjoint, a, b, c);
  blas::gemm<T>(blas::Transpose::no, adjoint ? blas::Transpose::adjoint : blas::Transpose::transpose, T(-1), a, b, T(1), c);
}

template <class T>
void solve_panel_rows(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  const bool forward = (how.triangle == blas::Triangle::upper) == (how.op == blas::Transpose::no);
  if (forward && x.cols <= narrow_triangle) return divide_forward(how, a, x);
  blas::trsm<T>({blas::Side::right, how.triangle, how.op, how.diagonal}, a, x);
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template void multiply_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void subtract_rows<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);         \
  template void solve_panel_rows<T>(const PanelDivision&, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
