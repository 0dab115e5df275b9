// A group of as many columns as a register has lanes is solved among itself in scalars; the rows behind it
// are whole registers of v at the same places for all columns, so that a column finds in the store buffer
// what the column before has written.
#include "palmette/blocks/panel_sweeps.hpp"

#include <algorithm>

#include "palmette/blocks/lanes.hpp"

namespace palmette {
namespace {

using lanes::unrolled;

template <class T>
constexpr index_t group = lanes::full_width<T>;
template <class T>
using Full = lanes::Lanes<T, lanes::full_width<T>>;

/// How far ahead of a column is prefetched, into the second-level cache: the next panel mostly follows.
constexpr offset_t ahead_bytes = 6144;
template <class T>
constexpr offset_t ahead = ahead_bytes / static_cast<offset_t>(sizeof(T));

/// The part of a column behind its group.
template <class T>
struct ColumnEnd {
  const T* a;
  index_t rows;
  /// whether the panel goes on behind it, so that whole registers may be read
  bool is_followed;
};

template <class T>
PALMETTE_INLINE inline void subtract_register(const T* a, T x, T* v) {
  typename Full<T>::Sum sum;
  sum.by_real = Full<T>::load(v);
  sum.add(Full<T>::load(a), x);
  Full<T>::store(sum.value(), v);
}

/// v ← v − a·x
template <class T>
void subtract_column(const ColumnEnd<T>& column, T x, T* v) {
  index_t row = 0;
  for (; row + group<T> <= column.rows; row += group<T>) {
    __builtin_prefetch(column.a + row + ahead<T>, 0, 2);
    subtract_register<T>(column.a + row, -x, v + row);
  }
  if (row == column.rows) return;
  if (column.is_followed) return subtract_register<T>(column.a + row, -x, v + row);
  for (; row < column.rows; ++row) v[row] -= column.a[row] * x;
}

/// Σ op(a)·v, from the end of the column to its begin: a sweep backwards reads memory downwards throughout.
template <class T>
T column_product(bool adjoint, const ColumnEnd<T>& column, const T* v) {
  typename Full<T>::Dot even, odd;
  T rest = T(0);
  index_t row = column.rows / group<T> * group<T>;
  if (row < column.rows && column.is_followed)
    even.add(Full<T>::first_lanes(Full<T>::load(column.a + row), column.rows - row),
             Full<T>::first_lanes(Full<T>::load(v + row), column.rows - row));
  else
    for (index_t k = row; k < column.rows; ++k)
      rest += (adjoint ? conjugate(column.a[k]) : column.a[k]) * v[k];
  const auto add_register = [&](typename Full<T>::Dot& dot) PALMETTE_INLINE {
    row -= group<T>;
    __builtin_prefetch(column.a + row - ahead<T>, 0, 2);
    dot.add(Full<T>::load(column.a + row), Full<T>::load(v + row));
  };
  while (row >= 2 * group<T>) add_register(odd), add_register(even);
  if (row > 0) add_register(odd);
  even.straight += odd.straight;
  if constexpr (is_complex_v<T>) even.across += odd.across;
  return rest + even.value(adjoint);
}

/// The columns of a panel from `first` on, and their vector.
template <class T>
struct Columns {
  const WholePanel<T>& panel;
  index_t first;
  T* v;

  const T* column(index_t c) const { return panel.entries.column(first + c) + first; }
  /// Prefetch what lies at a distance from the rows of a column above the end of its group: what a column
  /// skips would else be a gap in what is prefetched.
  PALMETTE_INLINE void prefetch_above(index_t c, index_t count, offset_t distance) const {
    constexpr index_t line = 64 / sizeof(T);
    const T* const from = panel.entries.column(first + c) + distance;
    for (index_t row = 0; row < first + count; row += line) __builtin_prefetch(from + row, 0, 2);
  }
  ColumnEnd<T> end_of(index_t c, index_t count) const {
    return {column(c) + count, panel.entries.rows - first - count, first + c + 1 < panel.entries.cols};
  }
};

/// The first columns of a panel, if they do not fill a group; the plain way.
template <class T>
void few_forward(const Columns<T>& at, index_t count) {
  for (index_t c = 0; c < count; ++c) {
    const T* const a = at.column(c);
    if (!at.panel.unit_diagonal) at.v[c] /= a[c];
    for (index_t k = c + 1; k < count; ++k) at.v[k] -= a[k] * at.v[c];
    subtract_column(at.end_of(c, count), at.v[c], at.v + count);
  }
}
template <class T>
void few_backward(bool adjoint, const Columns<T>& at, index_t count) {
  for (index_t c = count - 1; c >= 0; --c) {
    const T* const a = at.column(c);
    const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
    T sum = at.v[c] - column_product(adjoint, at.end_of(c, count), at.v + count);
    for (index_t k = c + 1; k < count; ++k) sum -= op(a[k]) * at.v[k];
    at.v[c] = at.panel.unit_diagonal ? sum : sum / op(a[c]);
  }
}

/// A whole group: its rows stay in registers.
template <class T>
void group_forward(const Columns<T>& at) {
  constexpr int count = group<T>;
  T own[count];
  std::copy_n(at.v, count, own);
  unrolled<count>([&](auto c) PALMETTE_INLINE {
    const T* const a = at.column(c);
    at.prefetch_above(c, count, ahead<T>);
    if (!at.panel.unit_diagonal) own[c] /= a[c];
    unrolled<count>([&](auto k) PALMETTE_INLINE {
      if constexpr (k > c) own[k] -= a[k] * own[c];
    });
    subtract_column(at.end_of(c, count), own[c], at.v + count);
  });
  std::copy_n(own, count, at.v);
}
template <class T>
void group_backward(bool adjoint, const Columns<T>& at) {
  constexpr int count = group<T>;
  const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
  T own[count];
  for (int c = count - 1; c >= 0; --c) {
    own[c] = at.v[c] - column_product(adjoint, at.end_of(c, count), at.v + count);
    at.prefetch_above(c, count, -ahead<T>);
  }
  unrolled<count>([&](auto after) PALMETTE_INLINE {
    constexpr int c = count - 1 - after;
    const T* const a = at.column(c);
    unrolled<count>([&](auto k) PALMETTE_INLINE {
      if constexpr (k > c) own[c] -= op(a[k]) * own[k];
    });
    if (!at.panel.unit_diagonal) own[c] /= op(a[c]);
  });
  std::copy_n(own, count, at.v);
}

}  // namespace

template <class T>
void panel_forward(const WholePanel<T>& panel, T* v) {
  const index_t width = panel.entries.cols, few = width % group<T>;
  if (few > 0) few_forward<T>({panel, 0, v}, few);
  for (index_t first = few; first < width; first += group<T>) group_forward<T>({panel, first, v + first});
}

template <class T>
void panel_backward(bool adjoint, const WholePanel<T>& panel, T* v) {
  const index_t width = panel.entries.cols, few = width % group<T>;
  for (index_t first = width - group<T>; first >= few; first -= group<T>)
    group_backward<T>(adjoint, {panel, first, v + first});
  if (few > 0) few_backward<T>(adjoint, {panel, 0, v}, few);
}

#define PALMETTE_INSTANTIATE(T)                             \
  template void panel_forward<T>(const WholePanel<T>&, T*); \
  template void panel_backward<T>(bool, const WholePanel<T>&, T*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
