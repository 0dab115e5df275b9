// A panel times one vector is limited by memory: each entry is read once, along the columns, eight columns at
// a time. Several vectors are processed four at a time.
#include "palmette/blocks/panel_kernels.hpp"

#include "palmette/blocks/column_kernels.hpp"

namespace palmette {
namespace {

/// Calls group.template operator()<NumRhs>(first) for groups of four, two and one right-hand sides.
template <class Group>
void over_rhs(index_t num_rhs, Group&& group) {
  index_t first = 0;
  for (; first + 4 <= num_rhs; first += 4) group.template operator()<4>(first);
  if (first + 2 <= num_rhs) group.template operator()<2>(first), first += 2;
  if (first < num_rhs) group.template operator()<1>(first);
}

}  // namespace

template <class T>
void panel_multiply(DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  over_rhs(x.cols, [&]<int NumRhs>(index_t first) {
    const auto coefficient = [&](index_t column, int rhs) { return x(column, first + rhs); };
    kernels::multiply_columns<T, NumRhs>(false, a, coefficient, out.column(first), out.ld);
  });
}

template <class T>
void panel_multiply_transposed_subtract(bool adjoint, DenseView<const T> a, DenseView<const T> x,
                                        DenseView<T> out) {
  over_rhs(x.cols, [&]<int NumRhs>(index_t first) {
    kernels::multiply_transposed_columns<T, NumRhs>(
        adjoint, a, x.columns(first, NumRhs),
        [&](index_t column, int rhs, const T& value) { out(column, first + rhs) -= value; });
  });
}

template <class T>
void panel_multiply_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> x, DenseView<T> out) {
  over_rhs(x.cols, [&]<int NumRhs>(index_t first) {
    kernels::multiply_transposed_columns<T, NumRhs>(
        adjoint, a, x.columns(first, NumRhs),
        [&](index_t column, int rhs, const T& value) { out(column, first + rhs) = value; });
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
