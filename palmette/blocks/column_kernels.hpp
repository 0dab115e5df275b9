// Inside `blocks`: the two loops over a panel's columns on which all small kernels are built. They take
// columns eight, four, two and one at a time and rows a register at a time, so the order of every sum depends
// on the shapes alone.
#pragma once

#include <algorithm>

#include "palmette/blocks/lanes.hpp"

namespace palmette::kernels {

/// Columns of a group for one right-hand side, where memory is the limit. The next group is prefetched
/// meanwhile, into the second-level cache: columns of a block are so short that the processor's own
/// prefetching has hardly begun when one ends.
inline constexpr int most_columns = 8;

/// One group of `Columns` columns of a panel against `NumRhs` right-hand sides.
///
/// out(:, rhs) ← (or +=) A·x(:, rhs), where A is m × Columns; the coefficients x[rhs][column] are already in
/// registers.
template <class T, int Columns, int NumRhs, bool accumulate>
inline void add_columns(index_t m, const T* a, offset_t ld, const T (&x)[NumRhs][Columns], T* out,
                        offset_t ld_out) {
  lanes::over_rows<T>(0, m, [&]<int Width>(index_t row) {
    using L = lanes::Lanes<T, Width>;
    typename L::Sum sum[NumRhs];
    for (int column = 0; column < Columns; ++column) {
      if constexpr (NumRhs == 1 && Columns == most_columns)
        __builtin_prefetch(a + row + (column + Columns) * ld, 0, 2);
      const auto entries = L::load(a + row + column * ld);
      for (int rhs = 0; rhs < NumRhs; ++rhs) sum[rhs].add(entries, x[rhs][column]);
    }
    for (int rhs = 0; rhs < NumRhs; ++rhs) {
      T* const place = out + row + rhs * ld_out;
      auto value = sum[rhs].value();
      if constexpr (accumulate) value += L::load(place);
      L::store(value, place);
    }
  });
}

/// out ← (or +=) A·X for A m × w and X given by coefficient(column, rhs), for `NumRhs` columns of out.
template <class T, int NumRhs, class Coefficient>
inline void multiply_columns(bool accumulate, DenseView<const T> a, Coefficient&& coefficient, T* out,
                             offset_t ld_out) {
  index_t column = 0;
  const auto group = [&]<int Columns>() {
    T x[NumRhs][Columns];
    for (int rhs = 0; rhs < NumRhs; ++rhs)
      for (int c = 0; c < Columns; ++c) x[rhs][c] = coefficient(column + c, rhs);
    if (accumulate) add_columns<T, Columns, NumRhs, true>(a.rows, a.column(column), a.ld, x, out, ld_out);
    else add_columns<T, Columns, NumRhs, false>(a.rows, a.column(column), a.ld, x, out, ld_out);
    column += Columns;
    accumulate = true;
  };
  while (column + most_columns <= a.cols) group.template operator()<most_columns>();
  if (column + 4 <= a.cols) group.template operator()<4>();
  if (column + 2 <= a.cols) group.template operator()<2>();
  if (column + 1 <= a.cols) group.template operator()<1>();
  if (!accumulate)
    for (int rhs = 0; rhs < NumRhs; ++rhs) std::fill_n(out + rhs * ld_out, a.rows, T(0));
}

/// result[rhs][column] = Σ op(a(row, column))·x(row, rhs), where op conjugates if asked; A has `Columns`
/// columns, x has `NumRhs`.
template <class T, int Columns, int NumRhs>
inline void dot_columns(bool conjugate_a, DenseView<const T> a, DenseView<const T> x,
                        T (&result)[NumRhs][Columns]) {
  for (auto& rhs : result)
    for (T& value : rhs) value = T(0);
  const auto add_rows = [&]<int Width>(index_t first, index_t end) {
    using L = lanes::Lanes<T, Width>;
    typename L::Dot dot[NumRhs][Columns];
    for (index_t row = first; row < end; row += Width) {
      typename L::Vector given[NumRhs];
      for (int rhs = 0; rhs < NumRhs; ++rhs) given[rhs] = L::load(x.column(rhs) + row);
      for (int column = 0; column < Columns; ++column) {
        if constexpr (NumRhs == 1 && Columns == most_columns)
          __builtin_prefetch(a.column(column + Columns) + row, 0, 2);
        const auto entries = L::load(a.column(column) + row);
        for (int rhs = 0; rhs < NumRhs; ++rhs) dot[rhs][column].add(entries, given[rhs]);
      }
    }
    for (int rhs = 0; rhs < NumRhs; ++rhs)
      for (int column = 0; column < Columns; ++column)
        result[rhs][column] += dot[rhs][column].value(conjugate_a);
  };
  constexpr int full = lanes::full_width<T>;
  const index_t m = a.rows;
  index_t row = m / full * full;
  if (row > 0) add_rows.template operator()<full>(0, row);
  if constexpr (full >= 16) {
    if (m - row >= 8) add_rows.template operator()<8>(row, row + 8), row += 8;
  }
  if constexpr (full >= 8) {
    if (m - row >= 4) add_rows.template operator()<4>(row, row + 4), row += 4;
  }
  if constexpr (full >= 4) {
    if (m - row >= 2) add_rows.template operator()<2>(row, row + 2), row += 2;
  }
  if (row < m) add_rows.template operator()<1>(row, m);
}

/// Calls consume(column, rhs, value) with value = Σ op(a(row, column))·x(row, rhs), once for each column of
/// A and of the first `NumRhs` columns of x.
template <class T, int NumRhs, class Consume>
inline void multiply_transposed_columns(bool conjugate_a, DenseView<const T> a, DenseView<const T> x,
                                        Consume&& consume) {
  index_t column = 0;
  const auto group = [&]<int Columns>() {
    T result[NumRhs][Columns];
    dot_columns<T, Columns, NumRhs>(conjugate_a, a.columns(column, Columns), x, result);
    for (int rhs = 0; rhs < NumRhs; ++rhs)
      for (int c = 0; c < Columns; ++c) consume(column + c, rhs, result[rhs][c]);
    column += Columns;
  };
  if constexpr (NumRhs == 1)
    while (column + most_columns <= a.cols) group.template operator()<most_columns>();
  while (column + 4 <= a.cols) group.template operator()<4>();
  if (column + 2 <= a.cols) group.template operator()<2>();
  if (column + 1 <= a.cols) group.template operator()<1>();
}

}  // namespace palmette::kernels
