// The choice between loops for few right-hand sides and products of tiles for many. A panel times one vector is bound by
// memory: those loops read each entry once, eight columns at a time, along the columns.
#include "palmette/blocks/panel_kernels.hpp"

#include "palmette/blocks/column_kernels.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

/// Up to this many right-hand sides the panel is read along its columns, beyond it goes tile by tile.
constexpr index_t few_sides = 5;

/// Calls group.template operator()<Sides>(first) for groups of four, two and one right-hand sides.
template <class Group>
void over_sides(index_t sides, Group&& group) {
  index_t first = 0;
  for (; first + 4 <= sides; first += 4) group.template operator()<4>(first);
  if (first + 2 <= sides) group.template operator()<2>(first), first += 2;
  if (first < sides) group.template operator()<1>(first);
}

}  // namespace

template <class T>
void panel_multiply(DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  if (x.cols > few_sides) return multiply_plain(a, x, out);
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    const auto coefficient = [&](index_t column, int side) { return x(column, first + side); };
    kernels::multiply_columns<T, Sides>(false, a, coefficient, out.column(first), out.ld);
  });
}

template <class T>
void panel_multiply_transposed_subtract(bool adjoint, DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  if (x.cols > few_sides) return subtract_transposed(adjoint, a, x, out);
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    kernels::multiply_transposed_columns<T, Sides>(
        adjoint, a, x.columns(first, Sides),
        [&](index_t column, int side, const T& value) { out(column, first + side) -= value; });
  });
}

template <class T>
void panel_multiply_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  if (x.cols > few_sides) return multiply_transposed(adjoint, a, x, out);
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    kernels::multiply_transposed_columns<T, Sides>(
        adjoint, a, x.columns(first, Sides),
        [&](index_t column, int side, const T& value) { out(column, first + side) = value; });
  });
}

#define PALMETTE_INSTANTIATE(T)                                                                                    \
  template void panel_multiply<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);                           \
  template void panel_multiply_transposed_subtract<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>); \
  template void panel_multiply_transposed<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
