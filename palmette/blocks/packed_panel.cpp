// The products of a packed panel with one right-hand side: each entry is read once, in the order
// of memory, and multiplied by a value that is already in a register.
#include "palmette/blocks/packed_panel.hpp"

#include <algorithm>
#include <utility>

#include "palmette/blocks/lanes.hpp"

namespace palmette {
namespace {

using lanes::unrolled;

template <class T>
constexpr int chunk = lanes::full_width<T>;

/// Number of columns whose factors stay in registers in a forward pass.
template <class T>
constexpr int most_factors = (lanes::register_bytes == 64 ? 16 : 8) / (is_complex_v<T> ? 2 : 1);
/// Number of columns that a backward pass sums up at once: of real numbers, all of a panel that solves pack,
/// so that it is read once and without a gap. What registers do not hold waits in the first-level cache.
/// Half as many where registers have 16 bytes: a solve takes as long, and Clang, which needs ten minutes for
/// all of them under sanitizers, takes two.
template <class T>
constexpr int most_sums = (lanes::register_bytes > 16 ? 32 : 16) / (is_complex_v<T> ? 2 : 1);

template <class T>
using Full = lanes::Lanes<T, chunk<T>>;

/// The values at the places list[0] … list[chunk<T> − 1].
template <class T>
PALMETTE_INLINE inline typename Full<T>::Vector gathered(const T* from, const index_t* list) {
  if constexpr (!is_complex_v<T> && chunk<T> == 8)
    return typename Full<T>::Vector{from[list[0]], from[list[1]], from[list[2]], from[list[3]],
                                    from[list[4]], from[list[5]], from[list[6]], from[list[7]]};
  T values[chunk<T>];
  for (int k = 0; k < chunk<T>; ++k) values[k] = from[list[k]];
  return Full<T>::load(values);
}

template <class T>
PALMETTE_INLINE inline typename Full<T>::Vector rows_at(const T* from, const RowPlaces& places, index_t row) {
  return places.list != nullptr ? gathered<T>(from, places.list + row)
                                : Full<T>::load(from + places.start + row);
}

template <class T>
PALMETTE_INLINE inline void subtract_at(T* into, const RowPlaces& places, index_t row,
                                        typename Full<T>::Vector loss) {
  if (places.list == nullptr) {
    T* const target = into + places.start + row;
    return Full<T>::store(Full<T>::load(target) - loss, target);
  }
  T values[chunk<T>];
  Full<T>::store(loss, values);
  for (int k = 0; k < chunk<T>; ++k) into[places.list[row + k]] -= values[k];
}

/// Number of chunks that `Columns` rows fill, and number of rows in chunk `q`.
template <class T, int Columns>
constexpr int chunks_of = (Columns + chunk<T> - 1) / chunk<T>;
template <class T, int Columns>
constexpr int rows_of(int q) {
  return std::min(chunk<T>, Columns - q * chunk<T>);
}
/// Number of columns in the whole chunk q of a triangular block.
template <class T>
constexpr int triangle_columns(int q) {
  return (q + 1) * chunk<T>;
}

/// One column of a chunk; prefetches the data that lies `ahead` of it, into the second-level cache: a core
/// has few requests of the first level at a time, and those of all loads would take them up.
template <class T>
PALMETTE_INLINE inline typename Full<T>::Vector entries_at(const T* a, offset_t ahead) {
  __builtin_prefetch(a + ahead, 0, 2);
  return Full<T>::load(a);
}

/// Σ over `count` columns of a chunk with `rows` rows.
template <class T>
PALMETTE_INLINE inline typename Full<T>::Vector chunk_product(const T* a, offset_t ahead, int rows, int count,
                                                              const T* x) {
  typename Full<T>::Sum even, odd;
  int column = 0;
  for (; column + 2 <= count; column += 2) {
    even.add(entries_at<T>(a + column * rows, ahead), x[column]);
    odd.add(entries_at<T>(a + (column + 1) * rows, ahead), x[column + 1]);
  }
  if (column < count) even.add(entries_at<T>(a + column * rows, ahead), x[column]);
  return even.value() + odd.value();
}
template <class T, int Columns>
PALMETTE_INLINE inline typename Full<T>::Vector chunk_product(const T* a, offset_t ahead, int rows,
                                                              const T* x) {
  typename Full<T>::Sum even, odd;
  unrolled<Columns>([&](auto column) PALMETTE_INLINE {
    if constexpr (column % 2 == 0) even.add(entries_at<T>(a + column * rows, ahead), x[column]);
    else odd.add(entries_at<T>(a + column * rows, ahead), x[column]);
  });
  if constexpr (Columns == 1) return even.value();
  else return even.value() + odd.value();
}

/// Panels of exactly `Columns` columns.
template <class T, int Columns, bool Square>
void packed_forward_kernel(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local) {
  T x[Columns];
  std::copy_n(own, Columns, x);
  const T* a = panel.values;
  unrolled<Columns / chunk<T>>([&](auto q) PALMETTE_INLINE {
    constexpr int columns = Square ? Columns : triangle_columns<T>(q);
    Full<T>::store(chunk_product<T, columns>(a, panel.ahead, chunk<T>, x), own + q * chunk<T>);
    a += chunk<T> * columns;
  });
  index_t row = 0;
  for (; row + chunk<T> <= panel.rows_below; row += chunk<T>, a += chunk<T> * Columns)
    subtract_at<T>(local, places, row, chunk_product<T, Columns>(a, panel.ahead, chunk<T>, x));
  // A loop over so few rows would cost more, by its end that no processor foresees.
  if (const int rest = panel.rows_below - row; rest > 0) {
    subtract_at<T>(local, places, row,
                   Full<T>::first_lanes(chunk_product<T, Columns>(a, panel.ahead, rest, x), rest));
    a += rest * Columns;
  }
  if constexpr (constexpr int last = Columns % chunk<T>; last > 0)
    Full<T>::store_first(chunk_product<T, Columns>(a, panel.ahead, last, x), last, own + Columns - last);
}

/// The same for wider panels.
template <class T>
void packed_forward_wide(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local) {
  T x[widest_packed];
  const int width = panel.width;
  std::copy_n(own, width, x);
  const T* a = panel.values;
  for (int q = 0; q < width / chunk<T>; ++q) {
    const int columns = panel.square ? width : triangle_columns<T>(q);
    Full<T>::store(chunk_product<T>(a, panel.ahead, chunk<T>, columns, x), own + q * chunk<T>);
    a += offset_t{chunk<T>} * columns;
  }
  for (index_t row = 0; row < panel.rows_below; row += chunk<T>) {
    const int rows = std::min<int>(chunk<T>, panel.rows_below - row);
    subtract_at<T>(local, places, row,
                   Full<T>::first_lanes(chunk_product<T>(a, panel.ahead, rows, width, x), rows));
    a += offset_t{rows} * width;
  }
  if (const int last = width % chunk<T>; last > 0)
    Full<T>::store_first(chunk_product<T>(a, panel.ahead, last, width, x), last, own + width - last);
}

/// Sums over the lanes of `Count` vectors, side by side. Pairs of vectors are folded together until one
/// vector is left.
template <class T, int Span, int... Lane>
PALMETTE_INLINE inline auto folded_pair(typename Full<T>::Vector x, typename Full<T>::Vector y,
                                        std::integer_sequence<int, Lane...>) {
  constexpr int lanes_each = chunk<T>;
  const auto low = __builtin_shufflevector(
      x, y, ((Lane % (2 * Span) < Span ? 0 : lanes_each) + Lane / (2 * Span) * (2 * Span) + Lane % Span)...);
  const auto high = __builtin_shufflevector(
      x, y,
      ((Lane % (2 * Span) < Span ? 0 : lanes_each) + Lane / (2 * Span) * (2 * Span) + Span + Lane % Span)...);
  return low + high;
}
template <class T, int Span>
PALMETTE_INLINE inline typename Full<T>::Vector folded(const typename Full<T>::Vector* v) {
  if constexpr (Span == 1) return v[0];
  else
    return folded_pair<T, Span / 2>(folded<T, Span / 2>(v), folded<T, Span / 2>(v + Span / 2),
                                    std::make_integer_sequence<int, chunk<T>>());
}

/// Partial sums of `Columns` dot products.
template <class T, int Columns>
struct Dots {
  typename Full<T>::Dot dot[Columns];

  // Written out, because the compiler clears an array in memory when it is cleared as a whole.
  PALMETTE_INLINE Dots() {
    unrolled<Columns>([&](auto column) PALMETTE_INLINE { dot[column] = typename Full<T>::Dot(); });
  }
  /// The first `Count` columns of a chunk with `rows` rows. The lanes of x behind them are zero, those of the
  /// chunk arbitrary.
  template <int Count, bool Whole>
  PALMETTE_INLINE void add(const T* a, offset_t ahead, int rows, typename Full<T>::Vector x) {
    unrolled<Count>([&](auto after) PALMETTE_INLINE {
      constexpr int column = Count - 1 - after;
      const auto entries = entries_at<T>(a + column * rows, ahead);
      dot[column].add(Whole ? entries : Full<T>::first_lanes(entries, rows), x);
    });
  }
  PALMETTE_INLINE void store(bool adjoint, T* own) const {
    if constexpr (is_complex_v<T> || Columns <= 2) {
      unrolled<Columns>([&](auto column) PALMETTE_INLINE { own[column] = dot[column].value(adjoint); });
    } else {
      unrolled<chunks_of<T, Columns>>([&](auto q) PALMETTE_INLINE {
        constexpr int count = rows_of<T, Columns>(q);
        typename Full<T>::Vector part[chunk<T>];
        unrolled<chunk<T>>([&](auto column) PALMETTE_INLINE {
          if constexpr (column < count) part[column] = dot[q * chunk<T> + column].straight;
          else part[column] = typename Full<T>::Vector{};
        });
        Full<T>::store_first(folded<T, chunk<T>>(part), count, own + q * chunk<T>);
      });
    }
  }
};

/// What a backward pass reads and writes; z may be `own` if all columns are computed at once.
template <class T>
struct BackwardRun {
  bool adjoint;
  const RowPlaces& places;
  const T* z;
  T* own;
  const T* local;
};

/// Columns [first, first + Columns) of a panel, from its last chunk to its first: a sweep that runs backwards
/// then reads memory downwards throughout, which processors foresee as they do the way up. In a triangular
/// block the columns begin in chunk first / chunk<T>. @tparam Alone  the panel has no other columns
template <class T, int Columns, bool Square, bool Alone>
void packed_backward_kernel(const PackedPanel<T>& panel, int begin, const BackwardRun<T>& run) {
  Dots<T, Columns> dots;
  const int first = Alone ? 0 : begin, width = Alone ? Columns : panel.width;
  const T* a = panel.values + packed_block_entries(chunk<T>, width, Square) +
               offset_t{width} * panel.rows_below;
  const int last = width % chunk<T>, whole = width - last;
  if (last > 0) {
    a -= offset_t{last} * width;
    dots.template add<Columns, false>(a + first * last, panel.ahead, last,
                                      Full<T>::first_lanes(Full<T>::load(run.z + whole), last));
  }
  index_t row = panel.rows_below;
  if (const int rest = row % chunk<T>; rest > 0) {
    row -= rest;
    a -= offset_t{rest} * width;
    const auto x = Full<T>::first_lanes(rows_at(run.local, run.places, row), rest);
    dots.template add<Columns, false>(a + first * rest, panel.ahead, rest, -x);
  }
  while (row > 0) {
    row -= chunk<T>;
    a -= offset_t{chunk<T>} * width;
    dots.template add<Columns, true>(a + first * chunk<T>, panel.ahead, chunk<T>,
                                     -rows_at(run.local, run.places, row));
  }
  constexpr int own_chunks = Square ? 0 : Columns / chunk<T>;  // whole ones that begin with these columns
  const int end = Square ? 0 : first + own_chunks * chunk<T>;
  for (int top = whole; top > end;) {
    top -= chunk<T>;
    a -= offset_t{chunk<T>} * (Square ? width : top + chunk<T>);
    dots.template add<Columns, true>(a + first * chunk<T>, panel.ahead, chunk<T>, Full<T>::load(run.z + top));
  }
  unrolled<own_chunks>([&](auto after) PALMETTE_INLINE {
    constexpr int q = own_chunks - 1 - after, columns = triangle_columns<T>(q);
    a -= chunk<T> * (first + columns);
    dots.template add<columns, true>(a + first * chunk<T>, panel.ahead, chunk<T>,
                                     Full<T>::load(run.z + first + q * chunk<T>));
  });
  dots.store(run.adjoint, run.own + first);
}

template <class T>
using ForwardKernel = void (*)(const PackedPanel<T>&, const RowPlaces&, T*, T*);
template <class T>
using BackwardKernel = void (*)(const PackedPanel<T>&, int, const BackwardRun<T>&);

/// Kernels for one, two, three … columns, for square and for triangular blocks.
template <class T, bool Square, int... Number>
ForwardKernel<T> forward_kernel(int columns, std::integer_sequence<int, Number...>) {
  static constexpr ForwardKernel<T> kernels[] = {packed_forward_kernel<T, Number + 1, Square>...};
  return kernels[columns - 1];
}
template <class T, bool Square, bool Alone, int... Number>
BackwardKernel<T> backward_kernel(int columns, std::integer_sequence<int, Number...>) {
  static constexpr BackwardKernel<T> kernels[] = {packed_backward_kernel<T, Number + 1, Square, Alone>...};
  return kernels[columns - 1];
}

}  // namespace

template <class T>
void packed_forward(const PackedPanel<T>& panel, const RowPlaces& places, T* own, T* local) {
  using Kernels = std::make_integer_sequence<int, most_factors<T>>;
  if (panel.width > most_factors<T>) return packed_forward_wide<T>(panel, places, own, local);
  (panel.square ? forward_kernel<T, true>(panel.width, Kernels())
                : forward_kernel<T, false>(panel.width, Kernels()))(panel, places, own, local);
}

template <class T>
void packed_backward(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places, T* own,
                     const T* local) {
  constexpr int most = most_sums<T>;
  using Kernels = std::make_integer_sequence<int, most>;
  if (panel.width <= most)
    return (panel.square ? backward_kernel<T, true, true>(panel.width, Kernels())
                         : backward_kernel<T, false, true>(panel.width, Kernels()))(
        panel, 0, {adjoint, places, own, own, local});
  T z[widest_packed + chunk<T>];
  std::copy_n(own, panel.width, z);
  for (int first = 0; first < panel.width; first += most) {
    const int count = std::min<int>(most, panel.width - first);
    (panel.square ? backward_kernel<T, true, false>(count, Kernels())
                  : backward_kernel<T, false, false>(count, Kernels()))(
        panel, first, {adjoint, places, z, own, local});
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                \
  template void packed_forward<T>(const PackedPanel<T>&, const RowPlaces&, T*, T*);            \
  template void packed_backward<T>(bool, const PackedPanel<T>&, const RowPlaces&, T*, const T*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
