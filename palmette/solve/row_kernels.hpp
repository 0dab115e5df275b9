// Inside `solve`: the arithmetic of row sweeps. Each row's sum has one order, given by its length alone, and
// every product is fused with its sum (or none, if the processor cannot), so no choice of layout or schedule
// changes the bits.
#pragma once

#include <cmath>

#include "palmette/solve/row_layout.hpp"

namespace palmette::solve_detail {

/// sum − a·x, rounded once if the processor can.
template <class Real>
inline Real minus_product_real(Real sum, Real a, Real x) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(-a, x, sum);
#else
  return sum - a * x;
#endif
}
template <class T>
inline T minus_product(const T& sum, const T& a, const T& x) {
  if constexpr (is_complex_v<T>) {
    const auto real = minus_product_real(sum.real(), a.real(), x.real());
    const auto imag = minus_product_real(sum.imag(), a.real(), x.imag());
    return T(minus_product_real(real, -a.imag(), x.imag()), minus_product_real(imag, a.imag(), x.real()));
  } else {
    return minus_product_real(sum, a, x);
  }
}

/// a·b, rounded in the same way everywhere.
template <class T>
inline T product(const T& a, const T& b) {
  if constexpr (is_complex_v<T>)
    return T(minus_product_real(a.real() * b.real(), a.imag(), b.imag()),
             minus_product_real(a.real() * b.imag(), -a.imag(), b.real()));
  else
    return a * b;
}

/// b − Σ a·x over a long row, in parts that run side by side.
template <class T>
T long_row_kernel(T b, const T* a, const index_t* column, index_t count, const T* x) {
  constexpr int parts = 16;
  T part[parts] = {};
  index_t k = 0;
  for (; k + parts <= count; k += parts)
    for (int lane = 0; lane < parts; ++lane)
      part[lane] = minus_product(part[lane], a[k + lane], x[column[k + lane]]);
  for (int half = parts / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) part[lane] += part[lane + half];
  b += part[0];
  for (; k < count; ++k) b = minus_product(b, a[k], x[column[k]]);
  return b;
}

/// Independent rows side by side. Length 0: the segment's own.
template <class T, int Length>
void slices_kernel(const RowSegment& part, const RowSweep<T>& sweep, T* x) {
  constexpr int width = slice_rows<T>;
  const index_t length = Length > 0 ? Length : part.length;
  const index_t* row = sweep.row.data() + part.first_row;
  const index_t* column = sweep.column.data() + part.first_entry;
  const T* value = sweep.value.data() + part.first_entry;
  for (index_t k = 0; k < part.count; k += width, row += width) {
    T sum[width];
    for (int lane = 0; lane < width; ++lane) sum[lane] = x[row[lane]];
    for (index_t entry = 0; entry < length; ++entry, column += width, value += width) {
      T needed[width];
      for (int lane = 0; lane < width; ++lane) needed[lane] = x[column[lane]];
      for (int lane = 0; lane < width; ++lane)
        sum[lane] = minus_product(sum[lane], value[lane], needed[lane]);
    }
    for (int lane = 0; lane < width; ++lane) x[row[lane]] = sum[lane];
  }
}

template <class T>
void equal_kernel(const RowSegment& part, const RowSweep<T>& sweep, T* x) {
  const index_t* column = sweep.column.data() + part.first_entry;
  const T* value = sweep.value.data() + part.first_entry;
  for (index_t k = 0; k < part.count; ++k) {
    const index_t row = sweep.row[part.first_row + k];
    T sum = x[row];
    for (index_t entry = 0; entry < part.length; ++entry) sum = minus_product(sum, *value++, x[*column++]);
    x[row] = sum;
  }
}

/// The previous row stays in a register: one product and sum from row to row, without memory accesses.
template <class T, int Length>
void chain_kernel(const RowSegment& part, const RowSweep<T>& sweep, T* x) {
  const index_t length = Length > 0 ? Length : part.length;
  const index_t* column = sweep.column.data() + part.first_entry;
  const T* value = sweep.value.data() + part.first_entry;
  const index_t to_next = sweep.ascending ? 1 : -1;
  T* own = x + sweep.row[part.first_row];
  T before = own[-to_next];
  for (index_t k = 0; k < part.count; ++k, own += to_next, column += length, value += length) {
    T sum = *own;
    for (index_t entry = 0; entry + 1 < length; ++entry)
      sum = minus_product(sum, value[entry], x[column[entry]]);
    before = minus_product(sum, value[length - 1], before);
    *own = before;
  }
}

template <class T>
void mixed_kernel(const RowSegment& part, const RowSweep<T>& sweep, const T* diagonal, T* x) {
  const index_t* column = sweep.column.data() + part.first_entry;
  const T* value = sweep.value.data() + part.first_entry;
  for (index_t k = 0; k < part.count; ++k) {
    const index_t row = sweep.row[part.first_row + k], count = sweep.length[part.first_length + k];
    T sum = x[row];
    if (count >= long_row) sum = long_row_kernel(sum, value, column, count, x);
    else
      for (index_t entry = 0; entry < count; ++entry)
        sum = minus_product(sum, value[entry], x[column[entry]]);
    x[row] = diagonal != nullptr ? sum / diagonal[row] : sum;
    column += count;
    value += count;
  }
}

/// All rows of a segment; x holds the scaled right-hand side where it is not yet solved.
template <class T>
void solve_segment(const RowSegment& part, const RowSweep<T>& sweep, const T* diagonal, T* x) {
  switch (part.kind) {
    case RowKind::slices:
      switch (part.length) {
        case 1: return slices_kernel<T, 1>(part, sweep, x);
        case 2: return slices_kernel<T, 2>(part, sweep, x);
        case 3: return slices_kernel<T, 3>(part, sweep, x);
        case 4: return slices_kernel<T, 4>(part, sweep, x);
        default: return slices_kernel<T, 0>(part, sweep, x);
      }
    case RowKind::equal: return equal_kernel(part, sweep, x);
    case RowKind::chain:
      switch (part.length) {
        case 1: return chain_kernel<T, 1>(part, sweep, x);
        case 2: return chain_kernel<T, 2>(part, sweep, x);
        case 3: return chain_kernel<T, 3>(part, sweep, x);
        default: return chain_kernel<T, 0>(part, sweep, x);
      }
    case RowKind::mixed: return mixed_kernel<T>(part, sweep, nullptr, x);
    case RowKind::divided: return mixed_kernel(part, sweep, diagonal, x);
  }
}

/// All rows of a task for `NumRhs` right-hand sides that lie side by side in x: an entry is read once for all
/// of them. They fill whole registers, so that the same instructions compute any number of them.
template <class T, int NumRhs>
void solve_strip_kernel(const RowSweep<T>& sweep, index_t task, const T* diagonal, T* x) {
  constexpr int width = lanes::full_width<T>;
  static_assert(NumRhs % width == 0);
  using L = lanes::Lanes<T, width>;
  constexpr int registers = NumRhs / width;
  sweep.visit_rows(task,
                   [&](index_t row, const T* value, const index_t* column, offset_t step, index_t count) {
                     typename L::Sum sum[registers];
                     for (index_t k = 0; k < count; ++k, value += step, column += step) {
                       const T* const needed = x + offset_t{*column} * NumRhs;
                       for (int r = 0; r < registers; ++r) sum[r].add(L::load(needed + r * width), *value);
                     }
                     T* const own = x + offset_t{row} * NumRhs;
                     for (int r = 0; r < registers; ++r)
                       L::store(L::load(own + r * width) - sum[r].value(), own + r * width);
                     for (int rhs = 0; diagonal != nullptr && rhs < NumRhs; ++rhs)
                       own[rhs] /= diagonal[row];
                   });
}

}  // namespace palmette::solve_detail
