// The products of bundles with one right-hand side, and those of one panel of a bundle, which add the same
// products in the same order.
#include "palmette/blocks/panel_bundle.hpp"

#include <algorithm>

#include "palmette/blocks/lanes.hpp"

namespace palmette {
namespace {

using lanes::unrolled;

/// The panels of a bundle, or one panel.
template <class T>
using Bundled = lanes::Lanes<T, bundle_lanes>;
template <class T>
using Alone = lanes::Lanes<T, 1>;

template <class T>
constexpr int reals_each = is_complex_v<T> ? 2 : 1;
template <class T>
PALMETTE_INLINE inline const real_t<T>* reals_of(const T* scalars) {
  return reinterpret_cast<const real_t<T>*>(scalars);
}
template <class T>
PALMETTE_INLINE inline real_t<T>* reals_of(T* scalars) {
  return reinterpret_cast<real_t<T>*>(scalars);
}

template <class T, int... Real>
PALMETTE_INLINE inline typename Bundled<T>::Vector scalars_at(const T* from, const index_t* place,
                                                            std::integer_sequence<int, Real...>) {
  constexpr int each = reals_each<T>;
  return typename Bundled<T>::Vector{reals_of<T>(from + place[Real / each])[Real % each]...};
}
/// The scalars at one place for each lane.
template <class T>
PALMETTE_INLINE inline typename Bundled<T>::Vector scalars_at(const T* from, const index_t* place) {
  return scalars_at<T>(from, place, std::make_integer_sequence<int, Bundled<T>::reals>());
}
template <class T>
PALMETTE_INLINE inline void put_at(typename Bundled<T>::Vector values, T* to, const index_t* place) {
  constexpr int each = reals_each<T>;
  unrolled<Bundled<T>::reals>([&](auto number) PALMETTE_INLINE {
    constexpr int real = number;
    reals_of<T>(to + place[real / each])[real % each] = values[real];
  });
}

/// One entry of all panels; the core's own prefetching ends with a page, so what lies `ahead` is prefetched.
template <class T>
PALMETTE_INLINE inline typename Bundled<T>::Vector bundled_entries(const T* a, offset_t ahead) {
  __builtin_prefetch(a + ahead, 0, 2);
  return Bundled<T>::load(a);
}

/// Number of entries in a row of a triangular or square block.
constexpr index_t entries_of_row(bool square, index_t width, index_t row) { return square ? width : row + 1; }

template <class T, int Width, bool Square>
void forward_kernel(const PanelBundle<T>& bundle, T* local) {
  using L = Bundled<T>;
  const index_t* places = bundle.places;
  const T* a = bundle.values;
  typename L::Multiplier x[Width];
  unrolled<Width>([&](auto column) PALMETTE_INLINE {
    x[column] = L::multiplier(scalars_at<T>(local + column, places));
  });
  unrolled<Width>([&](auto row) PALMETTE_INLINE {
    typename L::SumOfEach sum;
    unrolled<entries_of_row(Square, Width, row)>([&](auto column) PALMETTE_INLINE {
      sum.add(bundled_entries<T>(a + column * bundle_lanes, bundle.ahead), x[column]);
    });
    put_at<T>(sum.value(), local + row, places);
    a += entries_of_row(Square, Width, row) * bundle_lanes;
  });
  for (index_t row = 0; row < bundle.rows_below; ++row, a += Width * bundle_lanes) {
    places += bundle_lanes;
    typename L::SumOfEach sum;
    unrolled<Width>([&](auto column) PALMETTE_INLINE {
      sum.add(bundled_entries<T>(a + column * bundle_lanes, bundle.ahead), x[column]);
    });
    put_at<T>(scalars_at<T>(local, places) - sum.value(), local, places);
  }
}

/// From the last row to the first, as memory is read in a sweep that runs backwards.
template <class T, int Width, bool Square>
void backward_kernel(bool adjoint, const PanelBundle<T>& bundle, T* local) {
  using L = Bundled<T>;
  const index_t* places = bundle.places + offset_t{bundle.rows_below} * bundle_lanes;
  const T* a = bundle.values + bundle_entries(Width, bundle.rows_below, Square);
  typename L::SumOfEach sums[Width];
  const auto add_row = [&]<int Count>(typename L::Vector x) PALMETTE_INLINE {
    const auto multiplier = L::multiplier(adjoint ? L::conjugated(x) : x);
    a -= Count * bundle_lanes;
    unrolled<Count>([&](auto after) PALMETTE_INLINE {
      constexpr int column = Count - 1 - after;
      sums[column].add(bundled_entries<T>(a + column * bundle_lanes, bundle.ahead), multiplier);
    });
  };
  for (index_t row = bundle.rows_below; row-- > 0; places -= bundle_lanes)
    add_row.template operator()<Width>(-scalars_at<T>(local, places));
  unrolled<Width>([&](auto after) PALMETTE_INLINE {
    constexpr int row = Width - 1 - after;
    add_row.template operator()<entries_of_row(Square, Width, row)>(scalars_at<T>(local + row, places));
  });
  unrolled<Width>([&](auto column) PALMETTE_INLINE {
    const auto value = sums[column].value();
    put_at<T>(adjoint ? L::conjugated(value) : value, local + column, places);
  });
}

/// A row of a packed panel: its entries are `step` scalars apart.
template <class T>
struct RowOfPanel {
  const T* first;
  offset_t step;
};
template <class T>
constexpr index_t packed_chunk = lanes::full_width<T>;

template <class T>
RowOfPanel<T> row_of_block(const PackedPanel<T>& panel, index_t row) {
  const index_t begin = row / packed_chunk<T> * packed_chunk<T>;
  return {packed_block_chunk(panel, packed_chunk<T>, begin) + (row - begin),
          std::min(packed_chunk<T>, panel.width - begin)};
}
template <class T>
RowOfPanel<T> row_below(const PackedPanel<T>& panel, index_t row) {
  const index_t begin = row / packed_chunk<T> * packed_chunk<T>;
  const T* const first = packed_below(panel, packed_chunk<T>) + offset_t{begin} * panel.width;
  return {first + (row - begin), std::min(packed_chunk<T>, panel.rows_below - begin)};
}
template <class T>
T sum_of_row(const RowOfPanel<T>& row, index_t count, const typename Alone<T>::Multiplier* x) {
  typename Alone<T>::SumOfEach sum;
  for (index_t column = 0; column < count; ++column)
    sum.add(Alone<T>::load(row.first + column * row.step), x[column]);
  T value;
  Alone<T>::store(sum.value(), &value);
  return value;
}

template <class T, bool Square, int... Number>
auto forward_kernel_of(index_t width, std::integer_sequence<int, Number...>) {
  using Kernel = void (*)(const PanelBundle<T>&, T*);
  static constexpr Kernel kernels[] = {forward_kernel<T, Number + 1, Square>...};
  return kernels[width - 1];
}
template <class T, bool Square, int... Number>
auto backward_kernel_of(index_t width, std::integer_sequence<int, Number...>) {
  using Kernel = void (*)(bool, const PanelBundle<T>&, T*);
  static constexpr Kernel kernels[] = {backward_kernel<T, Number + 1, Square>...};
  return kernels[width - 1];
}
using Widths = std::make_integer_sequence<int, widest_bundled>;

}  // namespace

template <class T>
void put_in_lane(const PackedPanel<T>& panel, T* to) {
  const auto put = [&](const RowOfPanel<T>& row, index_t count) {
    for (index_t column = 0; column < count; ++column, to += bundle_lanes) *to = row.first[column * row.step];
  };
  for (index_t row = 0; row < panel.width; ++row)
    put(row_of_block(panel, row), entries_of_row(panel.square, panel.width, row));
  for (index_t row = 0; row < panel.rows_below; ++row) put(row_below(panel, row), panel.width);
}

template <class T>
void bundle_forward(const PanelBundle<T>& bundle, T* local) {
  (bundle.square ? forward_kernel_of<T, true>(bundle.width, Widths())
                 : forward_kernel_of<T, false>(bundle.width, Widths()))(bundle, local);
}

template <class T>
void bundle_backward(bool adjoint, const PanelBundle<T>& bundle, T* local) {
  (bundle.square ? backward_kernel_of<T, true>(bundle.width, Widths())
                 : backward_kernel_of<T, false>(bundle.width, Widths()))(adjoint, bundle, local);
}

template <class T>
void bundled_forward_alone(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local) {
  typename Alone<T>::Multiplier x[widest_bundled];
  for (index_t column = 0; column < panel.width; ++column)
    x[column] = Alone<T>::multiplier(Alone<T>::load(own + column));
  for (index_t row = 0; row < panel.width; ++row)
    own[row] = sum_of_row<T>(row_of_block(panel, row), entries_of_row(panel.square, panel.width, row), x);
  for (index_t row = 0; row < panel.rows_below; ++row)
    local[places[row]] -= sum_of_row<T>(row_below(panel, row), panel.width, x);
}

template <class T>
void bundled_backward_alone(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places, T* own,
                            const T* local) {
  using L = Alone<T>;
  typename L::SumOfEach sums[widest_bundled];
  const auto add_row = [&](const RowOfPanel<T>& row, index_t count, typename L::Vector x) {
    const auto multiplier = L::multiplier(adjoint ? L::conjugated(x) : x);
    for (index_t column = 0; column < count; ++column)
      sums[column].add(L::load(row.first + column * row.step), multiplier);
  };
  for (index_t row = panel.rows_below; row-- > 0;)
    add_row(row_below(panel, row), panel.width, -L::load(local + places[row]));
  for (index_t row = panel.width; row-- > 0;)
    add_row(row_of_block(panel, row), entries_of_row(panel.square, panel.width, row), L::load(own + row));
  for (index_t column = 0; column < panel.width; ++column) {
    const auto value = sums[column].value();
    L::store(adjoint ? L::conjugated(value) : value, own + column);
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                         \
  template void put_in_lane<T>(const PackedPanel<T>&, T*);                                              \
  template void bundle_forward<T>(const PanelBundle<T>&, T*);                                           \
  template void bundle_backward<T>(bool, const PanelBundle<T>&, T*);                                    \
  template void bundled_forward_alone<T>(const PackedPanel<T>&, const RowPlaces&, T*, T*);              \
  template void bundled_backward_alone<T>(bool, const PackedPanel<T>&, const RowPlaces&, T*, const T*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
