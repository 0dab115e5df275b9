// Inside `solve`: products with one wide triangular block, in strips, and rows of right-hand sides that
// change places within a supernode.
#pragma once

#include <algorithm>

#include "palmette/base/base.hpp"
#include "palmette/blocks/blocks.hpp"

namespace palmette::solve_detail {

/// Number of rows of a triangular block that are multiplied together: entries beyond the diagonal of a strip
/// are not read.
inline constexpr index_t strip_rows = 32;

/// use(begin, end) for strips of about strip_rows of `count` rows or columns; the last one may be longer.
template <class Use>
void over_strips(const OffersOfThread& offers, index_t count, const Use& use) {
  const index_t strips = std::max<index_t>(1, (count + strip_rows / 2) / strip_rows);
  share_parts(offers, strips, [&](int strip) {
    use(strip * strip_rows, strip + 1 == strips ? count : (strip + 1) * strip_rows);
  });
}

/// out ← M·x or Mᵀ·x for lower triangular M, in strips.
template <class T>
void multiply_lower(DenseView<const T> m, DenseView<const T> x, DenseView<T> out) {
  over_strips({}, m.rows, [&](index_t row, index_t end) {
    panel_multiply<T>({m.data + row, end - row, end, m.ld}, {x.data, end, x.cols, x.ld},
                      {out.data + row, end - row, out.cols, out.ld});
  });
}
template <class T>
void multiply_lower_transposed(const OffersOfThread& offers, bool adjoint, DenseView<const T> m,
                               DenseView<const T> x, DenseView<T> out) {
  over_strips(offers, m.cols, [&](index_t column, index_t end) {
    panel_multiply_transposed<T>(adjoint,
                                 {m.data + column + column * m.ld, m.rows - column, end - column, m.ld},
                                 {x.data + column, x.rows - column, x.cols, x.ld},
                                 {out.data + column, end - column, out.cols, out.ld});
  });
}

/// to.row(k) ← from.row(place[k])
template <class T>
void gather_rows(const index_t* place, index_t count, RhsRows<const T> from, RhsRows<T> to) {
  if (place == nullptr) return copy_rows<T>(from, count, to);
  for (index_t k = 0; k < count; ++k) std::copy_n(from.row(place[k]), from.stride, to.row(k));
}

/// to.row(place[k]) ← from.row(k)
template <class T>
void scatter_rows(const index_t* place, index_t count, RhsRows<const T> from, RhsRows<T> to) {
  if (place == nullptr) return copy_rows<T>(from, count, to);
  for (index_t k = 0; k < count; ++k) std::copy_n(from.row(k), from.stride, to.row(place[k]));
}

/// to −= factor·from, row by row of right-hand sides.
template <class T>
void subtract_row(const T& factor, const T* from, index_t num_rhs, T* to) {
  for (index_t rhs = 0; rhs < num_rhs; ++rhs) to[rhs] -= factor * from[rhs];
}

template <class T>
DenseView<T> one_column(T* data, index_t rows) {
  return {data, rows, 1, rows};
}

}  // namespace palmette::solve_detail
