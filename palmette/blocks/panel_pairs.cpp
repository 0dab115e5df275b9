// Products of a panel with the block diagonal D of an LDLᵀ and with its inverse.
#include <cmath>

#include "palmette/blocks/lanes.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

/// Columns (first, second) ← (first, second)·[[a, c], [b, d]]. The sums are explicit: a compiler that chooses
/// which of two products to fuse with the addition may choose differently for the last rows, and the bits
/// would depend on where a row lies.
template <class T>
struct PairProduct {
  T a, b, c, d;
  void apply(index_t rows, const T* first, const T* second, T* out_first, T* out_second) const {
    lanes::over_rows<T>(0, rows, [&]<int Width>(index_t row) {
      using L = lanes::Lanes<T, Width>;
      const auto x = L::load(first + row), y = L::load(second + row);
      typename L::Sum sum_first, sum_second;
      sum_first.add(x, a);
      sum_first.add(y, b);
      sum_second.add(x, c);
      sum_second.add(y, d);
      L::store(sum_first.value(), out_first + row);
      L::store(sum_second.value(), out_second + row);
    });
  }
};

template <class T>
PairProduct<T> pair_block(const PairDiagonal<T>& pairs, index_t k) {
  const T below = pairs.d_below[k];
  return {pairs.d[k], below, pairs.hermitian ? conjugate(below) : below, pairs.d[k + 1]};
}

/// The inverse. Everything is divided by the subdiagonal's modulus first, so that nothing overflows; nothing
/// cancels either, since the determinant of a 2 × 2 pivot is at least (1 − α²)·|subdiagonal|².
template <class T>
PairProduct<T> inverse_of(const PairProduct<T>& block) {
  const real_t<T> unit = std::abs(block.b);
  const T a = block.a / unit, b = block.b / unit, c = block.c / unit, d = block.d / unit;
  const T scale = T(1) / ((a * d - b * c) * unit);
  return {d * scale, -b * scale, -c * scale, a * scale};
}

}  // namespace

template <class T>
void multiply_by_pairs(const PairDiagonal<T>& pairs, DenseView<const T> a, DenseView<T> out) {
  for (index_t k = 0; k < a.cols; ++k) {
    if (pairs.d_below[k] != T(0)) {
      pair_block(pairs, k).apply(a.rows, a.column(k), a.column(k + 1), out.column(k), out.column(k + 1));
      ++k;
      continue;
    }
    const T pivot = pairs.d[k];
    for (index_t row = 0; row < a.rows; ++row) out(row, k) = a(row, k) * pivot;
  }
}

template <class T>
void divide_by_pairs(const PairDiagonal<T>& pairs, DenseView<T> a) {
  for (index_t k = 0; k < a.cols; ++k) {
    if (pairs.d_below[k] != T(0)) {
      const auto inverse = inverse_of(pair_block(pairs, k));
      inverse.apply(a.rows, a.column(k), a.column(k + 1), a.column(k), a.column(k + 1));
      ++k;
      continue;
    }
    const T inverse = T(1) / pairs.d[k];
    for (index_t row = 0; row < a.rows; ++row) a(row, k) *= inverse;
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                  \
  template void multiply_by_pairs<T>(const PairDiagonal<T>&, DenseView<const T>, DenseView<T>);  \
  template void divide_by_pairs<T>(const PairDiagonal<T>&, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
