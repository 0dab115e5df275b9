// Inside `solve`: one right-hand side through a supernode of one to four columns. Most supernodes are so narrow, and for
// them calling a kernel and passing through a buffer costs more than the arithmetic: here products go straight to where
// they belong.
#pragma once

#include "palmette/solve/sweep_structure.hpp"

namespace palmette::sweep {

inline constexpr index_t narrow_width = 4;

/// sum + a·x without the checks for infinities that std::complex makes.
template <class T>
inline void add_product(T& sum, const T& a, const T& x) {
  if constexpr (is_complex_v<T>)
    sum = T(sum.real() + (a.real() * x.real() - a.imag() * x.imag()), sum.imag() + (a.real() * x.imag() + a.imag() * x.real()));
  else
    sum += a * x;
}
template <class T>
inline void subtract_product(T& sum, const T& a, const T& x) {
  add_product(sum, -a, x);
}

/// One narrow supernode as both kernels see it.
template <class T>
struct NarrowSupernode {
  const T* inverse = nullptr;  ///< w × w, lower triangular
  const T* below = nullptr;    ///< r × w
  offset_t ld = 0;             ///< of `below`
  Places rows;                 ///< of the rows below, in the local vector
  T* own = nullptr;            ///< length w: the supernode's place in the local vector
  T* local = nullptr;          ///< the local vector
};

/// Calls use(k, place) for each row below.
template <class Use>
inline void over_places(const Places& rows, Use&& use) {
  if (rows.list != nullptr)
    for (index_t k = 0; k < rows.count; ++k) use(k, rows.list[k]);
  else
    for (index_t k = 0; k < rows.count; ++k) use(k, rows.start + k);
}

/// own ← M·own, then local(rows) −= below·own.
template <class T, int Width>
inline void eliminate_narrow_kernel(const NarrowSupernode<T>& s) {
  T y[Width];
  for (int row = 0; row < Width; ++row) {
    y[row] = T(0);
    for (int column = 0; column <= row; ++column) add_product(y[row], s.inverse[row + column * Width], s.own[column]);
  }
  for (int row = 0; row < Width; ++row) s.own[row] = y[row];
  over_places(s.rows, [&](index_t k, index_t place) {
    T sum = s.local[place];
    for (int column = 0; column < Width; ++column) subtract_product(sum, s.below[k + column * s.ld], y[column]);
    s.local[place] = sum;
  });
}

/// own ← Mᵀ·(own − belowᵀ·local(rows)), or with adjoints.
template <class T, int Width, bool adjoint>
inline void substitute_narrow_kernel(const NarrowSupernode<T>& s) {
  const auto op = [](const T& value) { return adjoint ? conjugate(value) : value; };
  T z[Width];
  for (int column = 0; column < Width; ++column) z[column] = s.own[column];
  over_places(s.rows, [&](index_t k, index_t place) {
    const T x = s.local[place];
    for (int column = 0; column < Width; ++column) subtract_product(z[column], op(s.below[k + column * s.ld]), x);
  });
  for (int column = 0; column < Width; ++column) {
    T x = T(0);
    for (int row = column; row < Width; ++row) add_product(x, op(s.inverse[row + column * Width]), z[row]);
    s.own[column] = x;
  }
}

template <class T>
inline void eliminate_narrow(index_t width, const NarrowSupernode<T>& s) {
  switch (width) {
    case 1: return eliminate_narrow_kernel<T, 1>(s);
    case 2: return eliminate_narrow_kernel<T, 2>(s);
    case 3: return eliminate_narrow_kernel<T, 3>(s);
    default: return eliminate_narrow_kernel<T, 4>(s);
  }
}

template <class T, bool adjoint>
inline void substitute_narrow(index_t width, const NarrowSupernode<T>& s) {
  switch (width) {
    case 1: return substitute_narrow_kernel<T, 1, adjoint>(s);
    case 2: return substitute_narrow_kernel<T, 2, adjoint>(s);
    case 3: return substitute_narrow_kernel<T, 3, adjoint>(s);
    default: return substitute_narrow_kernel<T, 4, adjoint>(s);
  }
}

/// Ask for the first lines of something that is needed soon: panels are short, so the processor's own prefetching has
/// hardly begun when the next one starts, and it does not follow a sweep that runs backwards.
inline void prefetch(const void* from, offset_t bytes) {
  constexpr offset_t line = 64, most_lines = 64;
  const char* const begin = static_cast<const char*>(from);
  for (offset_t at = 0; at < bytes && at < most_lines * line; at += line) __builtin_prefetch(begin + at, 0, 2);
}

}  // namespace palmette::sweep
