// Base-2 logarithms of moduli as integers in fixed point: sums and comparisons of them are exact, so that
// shortest paths and dual variables cannot drift, whatever the range of the values.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::order_detail {

/// Units of 2⁻²⁰ of a power of two.
using exponent_t = std::int64_t;
inline constexpr exponent_t one_power = exponent_t{1} << 20;

/// Scaling exponents are limited to ± this bound, so that the product of a row's and a column's factor is
/// finite in T, and so is every entry scaled by that product.
template <class T>
inline constexpr int largest_scaling_exponent = sizeof(real_t<T>) == 4 ? 60 : 500;

/// log₂|value|. The value must be nonzero and not NaN; Inf counts as 2¹⁰²⁵.
template <class T>
exponent_t log2_modulus(const T& value) {
  double log;
  if constexpr (is_complex_v<T>) {
    const double re = std::abs(static_cast<double>(value.real())),
                 im = std::abs(static_cast<double>(value.imag()));
    const double larger = re > im ? re : im, ratio = (re > im ? im : re) / larger;
    log = std::log2(larger) + 0.5 * std::log2(1 + ratio * ratio);
  } else {
    log = std::log2(std::abs(static_cast<double>(value)));
  }
  if (!(log < 1025)) log = 1025;  // Inf and NaN
  return static_cast<exponent_t>(std::floor(log * static_cast<double>(one_power) + 0.5));
}

/// The nearest integer exponent; halves are rounded up.
inline exponent_t rounded_power(exponent_t exponent) { return (exponent + one_power / 2) >> 20; }

/// 2^exponent for each exponent, rounded to an integer and limited to ± limit.
std::vector<double> powers_of_two(const std::vector<exponent_t>& exponents, int limit);

}  // namespace palmette::order_detail
