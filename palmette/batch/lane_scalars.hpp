// Inside `batch`: one scalar of each of several systems, side by side, and their arithmetic. Loops over lanes
// have a constant number of turns and no dependence, so the compiler makes vector instructions of them; every
// lane gets the same instructions, and so the same rounding.
#pragma once

#include <algorithm>
#include <cmath>

#include "palmette/batch/batch.hpp"

namespace palmette::batch_detail {

/// Complex scalars lie in two planes, so that their products need no shuffles.
template <class T>
struct alignas(64) LaneScalars {
  using Real = real_t<T>;
  static constexpr int lanes = batch_lanes<T>;
  static constexpr int planes = is_complex_v<T> ? 2 : 1;
  Real plane[planes][lanes];

  void set(int lane, const T& value) {
    if constexpr (planes == 2)
      plane[0][lane] = value.real(), plane[1][lane] = value.imag();
    else
      plane[0][lane] = value;
  }
  T get(int lane) const {
    if constexpr (planes == 2)
      return T(plane[0][lane], plane[1][lane]);
    else
      return plane[0][lane];
  }
};

/// One real of each system.
template <class T>
struct alignas(64) LaneReals {
  real_t<T> lane[batch_lanes<T>];
};

template <class T>
inline void set_zero(LaneScalars<T>& to) {
  for (int p = 0; p < LaneScalars<T>::planes; ++p)
    for (int l = 0; l < batch_lanes<T>; ++l) to.plane[p][l] = 0;
}

/// to ← from·factor, a power of two
template <class T>
inline void set_scaled(LaneScalars<T>& to, const LaneScalars<T>& from, real_t<T> factor) {
  for (int p = 0; p < LaneScalars<T>::planes; ++p)
    for (int l = 0; l < batch_lanes<T>; ++l) to.plane[p][l] = from.plane[p][l] * factor;
}

/// to −= a·b, or conj(a)·b
template <bool conjugated, class T>
inline void subtract_product(LaneScalars<T>& __restrict to, const LaneScalars<T>& a,
                             const LaneScalars<T>& b) {
  if constexpr (LaneScalars<T>::planes == 1) {
    for (int l = 0; l < batch_lanes<T>; ++l) to.plane[0][l] -= a.plane[0][l] * b.plane[0][l];
  } else {
    constexpr real_t<T> sign = conjugated ? -1 : 1;
    for (int l = 0; l < batch_lanes<T>; ++l) {
      const real_t<T> imaginary = sign * a.plane[1][l];
      to.plane[0][l] = to.plane[0][l] - a.plane[0][l] * b.plane[0][l] + imaginary * b.plane[1][l];
      to.plane[1][l] = to.plane[1][l] - a.plane[0][l] * b.plane[1][l] - imaginary * b.plane[0][l];
    }
  }
}

/// a·b, or conj(a)·b
template <bool conjugated, class T>
inline LaneScalars<T> product(const LaneScalars<T>& a, const LaneScalars<T>& b) {
  LaneScalars<T> result;
  if constexpr (LaneScalars<T>::planes == 1) {
    for (int l = 0; l < batch_lanes<T>; ++l) result.plane[0][l] = a.plane[0][l] * b.plane[0][l];
  } else {
    constexpr real_t<T> sign = conjugated ? -1 : 1;
    for (int l = 0; l < batch_lanes<T>; ++l) {
      const real_t<T> imaginary = sign * a.plane[1][l];
      result.plane[0][l] = a.plane[0][l] * b.plane[0][l] - imaginary * b.plane[1][l];
      result.plane[1][l] = a.plane[0][l] * b.plane[1][l] + imaginary * b.plane[0][l];
    }
  }
  return result;
}

template <class T>
inline LaneScalars<T> reciprocal(const LaneScalars<T>& a) {
  LaneScalars<T> result;
  if constexpr (LaneScalars<T>::planes == 1) {
    for (int l = 0; l < batch_lanes<T>; ++l) result.plane[0][l] = 1 / a.plane[0][l];
  } else {
    for (int l = 0; l < batch_lanes<T>; ++l) {
      // Divided by the larger part first: squares of the parts might overflow.
      const real_t<T> size = std::max(std::abs(a.plane[0][l]), std::abs(a.plane[1][l]));
      const real_t<T> re = a.plane[0][l] / size, im = a.plane[1][l] / size;
      const real_t<T> square = (re * re + im * im) * size;
      result.plane[0][l] = re / square;
      result.plane[1][l] = -im / square;
    }
  }
  return result;
}

/// |a|, complex a number from |a|/√2 to |a|: without squares, which leave the range.
template <class T>
inline LaneReals<T> least_moduli(const LaneScalars<T>& a) {
  LaneReals<T> result;
  for (int l = 0; l < batch_lanes<T>; ++l) {
    result.lane[l] = std::abs(a.plane[0][l]);
    if constexpr (LaneScalars<T>::planes == 2) {
      const real_t<T> imaginary = std::abs(a.plane[1][l]);
      // a NaN of either part stays
      result.lane[l] = imaginary <= result.lane[l] ? result.lane[l] : imaginary + 0 * result.lane[l];
    }
  }
  return result;
}

/// |a|, complex a number from |a| to √2·|a|
template <class T>
inline LaneReals<T> greatest_moduli(const LaneScalars<T>& a) {
  LaneReals<T> result;
  for (int l = 0; l < batch_lanes<T>; ++l) {
    result.lane[l] = std::abs(a.plane[0][l]);
    if constexpr (LaneScalars<T>::planes == 2) result.lane[l] += std::abs(a.plane[1][l]);
  }
  return result;
}

/// A NaN on either side gives a NaN.
template <class T>
inline void raise_to(LaneReals<T>& largest, const LaneReals<T>& value) {
  for (int l = 0; l < batch_lanes<T>; ++l)
    largest.lane[l] = largest.lane[l] >= value.lane[l]  ? largest.lane[l]
                      : value.lane[l] > largest.lane[l] ? value.lane[l]
                                                        : largest.lane[l] + value.lane[l];
}

}  // namespace palmette::batch_detail
