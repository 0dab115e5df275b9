// Inside `blocks`: the loops of sweeps over whole panels. A group of as many columns as a register has lanes
// is solved among itself in scalars; the rows behind it are read some columns side by side, since memory
// answers several streams faster than one. With each load goes a request for the group that follows: not
// every processor's own prefetching keeps up with so many streams. Some follow one stream alone, see
// ReadingOrder: those sweep backwards column after column.
#pragma once

#include <algorithm>

#include "palmette/blocks/lanes.hpp"
#include "palmette/blocks/panel_sweeps.hpp"

namespace palmette::panel_sweep {

using lanes::unrolled;

template <class T>
constexpr index_t group = lanes::full_width<T>;
template <class T>
using Full = lanes::Lanes<T, lanes::full_width<T>>;
template <class T>
using Register = typename Full<T>::Vector;
template <class T>
using Dot = typename Full<T>::Dot;

/// Columns of a group that are read side by side.
template <class T>
constexpr int streams = std::min<int>(8, group<T>);

/// A backward sweep adds up the products of a column in pieces of so many rows, counted from the end of the
/// block, and subtracts them one after the other from the last piece on: so threads may share a column
/// between two pieces, and it has the same bits.
constexpr index_t piece_rows = 256;

/// The same rows of `Count` neighbouring columns of a panel, behind whose end nothing may be read.
template <class T, int Count>
struct Columns {
  const T* a;
  offset_t ld;
  index_t rows;
  const T* end;  ///< of the panel

  const T* column(int c) const { return a + c * ld; }
  /// The register at row `row` of column c. If there are several columns, the same place of those that follow
  /// is prefetched into the second-level cache; or of those before, in a sweep that runs backwards.
  template <bool Backwards = false>
  PALMETTE_INLINE Register<T> entries(int c, index_t row) const {
    const T* const at = column(c) + row;
    if constexpr (Count > 1) __builtin_prefetch(at + (Backwards ? -Count : Count) * ld, 0, 2);
    return Full<T>::load(at);
  }
  /// The rows from `row` on, fewer than a register has lanes, and anything in the lanes behind them. Nothing
  /// is left to scalar loops, which a compiler may round in another way from place to place.
  PALMETTE_INLINE Register<T> end_of_column(int c, index_t row) const {
    if (end - (column(c) + row) >= group<T>) return Full<T>::load(column(c) + row);
    T values[group<T>] = {};
    std::copy(column(c) + row, column(c) + rows, values);
    return Full<T>::load(values);
  }
};

/// v − a·x
template <class T>
PALMETTE_INLINE inline Register<T> less_product(Register<T> v, Register<T> a, T x) {
  typename Full<T>::Sum sum;
  sum.by_real = v;
  sum.add(a, -x);
  return sum.value();
}

/// v ← v − Σ a·x, for each row one column after the other.
template <class T, int Count>
PALMETTE_INLINE inline void subtract_columns(const Columns<T, Count>& part, const T* x, T* v) {
  index_t row = 0;
  for (; row + group<T> <= part.rows; row += group<T>) {
    Register<T> sum = Full<T>::load(v + row);
    unrolled<Count>([&](auto c) PALMETTE_INLINE {
      sum = less_product<T>(sum, part.entries(c, row), x[c]);
    });
    Full<T>::store(sum, v + row);
  }
  if (row == part.rows) return;
  Register<T> sum = Full<T>::load(v + row);
  unrolled<Count>(
      [&](auto c) PALMETTE_INLINE { sum = less_product<T>(sum, part.end_of_column(c, row), x[c]); });
  Full<T>::store(sum, v + row);
}

/// value ← value − Σ op(a)·v for each column, from the end to the begin: a sweep backwards reads memory
/// downwards throughout.
template <class T, int Count>
PALMETTE_INLINE inline void subtract_products(bool adjoint, const Columns<T, Count>& part, const T* v,
                                              T* value) {
  Dot<T> even[Count], odd[Count];
  // Written out, because the compiler clears an array in memory when it is cleared as a whole.
  unrolled<Count>([&](auto c) PALMETTE_INLINE { even[c] = odd[c] = Dot<T>(); });
  index_t row = part.rows / group<T> * group<T>;
  if (const index_t left = part.rows - row; left > 0) {
    const Register<T> x = Full<T>::first_lanes(Full<T>::load(v + row), left);
    unrolled<Count>([&](auto c) PALMETTE_INLINE {
      even[c].add(Full<T>::first_lanes(part.end_of_column(c, row), left), x);
    });
  }
  const auto add_registers = [&](Dot<T>* dot) PALMETTE_INLINE {
    row -= group<T>;
    const Register<T> x = Full<T>::load(v + row);
    unrolled<Count>([&](auto c) PALMETTE_INLINE { dot[c].add(part.template entries<true>(c, row), x); });
  };
  while (row >= 2 * group<T>) add_registers(odd), add_registers(even);
  if (row > 0) add_registers(odd);
  unrolled<Count>([&](auto c) PALMETTE_INLINE {
    even[c].straight += odd[c].straight;
    if constexpr (is_complex_v<T>) even[c].across += odd[c].across;
    value[c] -= even[c].value(adjoint);
  });
}

/// Rows [0, end) of a panel, and the whole vector.
template <class T>
struct PanelRows {
  const WholePanel<T>& panel;
  T* v;
  index_t end;
  /// of products backwards; of a panel that threads share, one stream would have gaps
  ReadingOrder order = ReadingOrder::eight_streams;

  /// Rows [from, to) of some columns.
  template <int Count>
  Columns<T, Count> part(index_t column, index_t from, index_t to) const {
    const DenseView<const T>& all = panel.entries;
    return {all.column(column) + from, all.ld, to - from, all.column(all.cols - 1) + all.rows};
  }
};

/// The first row of the piece that holds row `row`.
template <class T>
index_t begin_of_piece(const WholePanel<T>& panel, index_t row) {
  const index_t first = panel.entries.cols % piece_rows;
  return row < first ? 0 : first + (row - first) / piece_rows * piece_rows;
}

/// v(columns) ← v(columns) − Σ op(a)·v over rows [begin, at.end), piece by piece.
template <class T, int Count>
PALMETTE_INLINE inline void subtract_pieces(bool adjoint, const PanelRows<T>& at, index_t column,
                                            index_t begin, T* value) {
  for (index_t end = at.end; end > begin;) {
    const index_t from = std::max(begin, begin_of_piece(at.panel, end - 1));
    subtract_products(adjoint, at.template part<Count>(column, from, end), at.v + from, value);
    end = from;
  }
}

/// The first columns of a panel, if they do not fill a group; the plain way.
template <class T>
void few_forward(const PanelRows<T>& at, index_t count) {
  for (index_t c = 0; c < count; ++c) {
    const T* const a = at.panel.entries.column(c);
    if (!at.panel.unit_diagonal) at.v[c] /= a[c];
    for (index_t k = c + 1; k < count; ++k) at.v[k] -= a[k] * at.v[c];
    subtract_columns(at.template part<1>(c, count, at.end), at.v + c, at.v + count);
  }
}
template <class T>
void few_backward(bool adjoint, const PanelRows<T>& at, index_t count) {
  for (index_t c = count - 1; c >= 0; --c) {
    const T* const a = at.panel.entries.column(c);
    const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
    T sum = at.v[c];
    subtract_pieces<T, 1>(adjoint, at, c, count, &sum);
    for (index_t k = c + 1; k < count; ++k) sum -= op(a[k]) * at.v[k];
    at.v[c] = at.panel.unit_diagonal ? sum : sum / op(a[c]);
  }
}

/// Touches each line of the `count` scalars before `end`, which nobody needs, from the last to the first: a
/// processor that follows one stream would lose it in a gap, and a request does not keep it.
template <class T>
PALMETTE_INLINE inline void pass_over(const T* end, index_t count) {
  constexpr index_t line_scalars = 64 / static_cast<index_t>(sizeof(T));
  for (index_t k = line_scalars; k <= count; k += line_scalars)
    static_cast<void>(*reinterpret_cast<const volatile char*>(end - k));
}

/// A whole group from column `first` on: its rows stay in registers.
template <class T>
void group_forward(const PanelRows<T>& at, index_t first) {
  constexpr int count = group<T>;
  T own[count];
  std::copy_n(at.v + first, count, own);
  unrolled<count>([&](auto c) PALMETTE_INLINE {
    const T* const a = at.panel.entries.column(first + c) + first;
    if (!at.panel.unit_diagonal) own[c] /= a[c];
    unrolled<count>([&](auto k) PALMETTE_INLINE {
      if constexpr (k > c) own[k] -= a[k] * own[c];
    });
  });
  std::copy_n(own, count, at.v + first);
  for (int c = 0; c < count; c += streams<T>)
    subtract_columns(at.template part<streams<T>>(first + c, first + count, at.end), own + c,
                     at.v + first + count);
}

/// value(columns) ← value(columns) − Σ op(a)·v over rows [begin, at.end), the last columns first.
/// @param value  of columns.begin and those behind it
template <class T>
PALMETTE_INLINE inline void subtract_range_products(bool adjoint, const PanelRows<T>& at,
                                                    const ColumnRange& columns, index_t begin, T* value) {
  index_t end = columns.end;
  if (at.order == ReadingOrder::eight_streams)
    for (; end - columns.begin >= streams<T>; end -= streams<T>)
      subtract_pieces<T, streams<T>>(adjoint, at, end - streams<T>, begin,
                                     value + (end - columns.begin) - streams<T>);
  for (index_t c = end - 1; c >= columns.begin; --c) {
    subtract_pieces<T, 1>(adjoint, at, c, begin, value + (c - columns.begin));
    if (at.order == ReadingOrder::one_stream) pass_over(at.panel.entries.column(c) + begin, begin);
  }
}
template <class T>
void group_backward(bool adjoint, const PanelRows<T>& at, index_t first) {
  constexpr int count = group<T>;
  const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
  T own[count];
  std::copy_n(at.v + first, count, own);
  subtract_range_products(adjoint, at, {first, first + count}, first + count, own);
  unrolled<count>([&](auto after) PALMETTE_INLINE {
    constexpr int c = count - 1 - after;
    const T* const a = at.panel.entries.column(first + c) + first;
    unrolled<count>([&](auto k) PALMETTE_INLINE {
      if constexpr (k > c) own[c] -= op(a[k]) * own[k];
    });
    if (!at.panel.unit_diagonal) own[c] /= op(a[c]);
  });
  std::copy_n(own, count, at.v + first);
}

}  // namespace palmette::panel_sweep
