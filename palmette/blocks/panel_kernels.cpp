// A panel times one vector is bound by memory: each entry is read once, eight columns at a time, along the
// columns. Several vectors go four at a time.
#include "palmette/blocks/panel_kernels.hpp"

#include "palmette/blocks/column_kernels.hpp"

namespace palmette {
namespace {

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
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    const auto coefficient = [&](index_t column, int side) { return x(column, first + side); };
    kernels::multiply_columns<T, Sides>(false, a, coefficient, out.column(first), out.ld);
  });
}

template <class T>
void panel_multiply_transposed_subtract(bool adjoint, DenseView<const T> a, DenseView<const T> x,
                                        DenseView<T> out) {
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    kernels::multiply_transposed_columns<T, Sides>(
        adjoint, a, x.columns(first, Sides),
        [&](index_t column, int side, const T& value) { out(column, first + side) -= value; });
  });
}

template <class T>
void panel_multiply_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  over_sides(x.cols, [&]<int Sides>(index_t first) {
    kernels::multiply_transposed_columns<T, Sides>(
        adjoint, a, x.columns(first, Sides),
        [&](index_t column, int side, const T& value) { out(column, first + side) = value; });
  });
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template void panel_multiply<T>(DenseView<const T>, DenseView<const T>, DenseView<T>);            \
  template void panel_multiply_transposed_subtract<T>(bool, DenseView<const T>, DenseView<const T>, \
                                                      DenseView<T>);                                \
  template void panel_multiply_transposed<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
