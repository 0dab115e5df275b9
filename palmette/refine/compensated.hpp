// Inside `refine`: sums of products in twice the working precision, by error-free transformations.
//
// Every product below is written as std::fma, never as a multiplication: a compiler that may contract a·b + c
// into one fused operation would otherwise take the product apart from its error term, and the transformation
// would be no longer error-free. Only additions remain, which a compiler may not change without -ffast-math.
#pragma once

#include <cmath>

#include "palmette/base/base.hpp"

namespace palmette {

/// The scalar of residuals, norms and inner products: double, or complex double.
template <class T>
using wide_t = with_precision_t<T, double>;

/// A running sum of products of numbers of type `Real`.
template <class Real>
struct RealSum;

/// Products of two floats are exact in double; their sum is an ordinary sum in double.
template <>
struct RealSum<float> {
  double total = 0;

  void add_product(double left, double right) { total = std::fma(left, right, total); }
  double value() const { return total; }
};

/// An unevaluated sum high + low: the result is as if computed with 106 bits and then rounded.
/// @source [Ogita et al. 2005], algorithm 5.3 (Dot2); [Knuth 1997], §4.2.2 (two-sum)
template <>
struct RealSum<double> {
  double total = 0;
  double low = 0;

  void add_product(double left, double right) {
    const double product = std::fma(left, right, 0.0);
    const double product_error = std::fma(left, right, -product);
    const double sum = total + product;
    const double product_part = sum - total;
    const double sum_error = (total - (sum - product_part)) + (product - product_part);
    total = sum;
    low += sum_error + product_error;
  }
  double value() const { return total + low; }
};

/// A running sum of products of scalars T, with any initial value.
template <class T>
class ProductSum {
 public:
  explicit ProductSum(wide_t<T> start = {}) {
    if constexpr (is_complex_v<T>) {
      real_.total = start.real();
      imag_.total = start.imag();
    } else {
      real_.total = start;
    }
  }

  void add_product(const wide_t<T>& left, const wide_t<T>& right) {
    if constexpr (is_complex_v<T>) {
      real_.add_product(left.real(), right.real());
      real_.add_product(-left.imag(), right.imag());
      imag_.add_product(left.real(), right.imag());
      imag_.add_product(left.imag(), right.real());
    } else {
      real_.add_product(left, right);
    }
  }

  wide_t<T> value() const {
    if constexpr (is_complex_v<T>) return {real_.value(), imag_.value()};
    else return real_.value();
  }

 private:
  struct Nothing {};
  RealSum<real_t<T>> real_;
  [[no_unique_address]] std::conditional_t<is_complex_v<T>, RealSum<real_t<T>>, Nothing> imag_;
};

/// |value|, without overflow or underflow on the way, and without a call in the ordinary case.
inline double modulus(double value) { return std::abs(value); }
inline double modulus(const std::complex<double>& value) {
  const double square = value.real() * value.real() + value.imag() * value.imag();
  if (square > 1e-280 && square < 1e280) return std::sqrt(square);
  return std::hypot(value.real(), value.imag());
}

/// To the wide scalar, times a power of two.
template <class T>
wide_t<T> widen(const T& value, double factor = 1.0) {
  if constexpr (is_complex_v<T>)
    return {static_cast<double>(value.real()) * factor, static_cast<double>(value.imag()) * factor};
  else
    return static_cast<double>(value) * factor;
}

template <class T>
T narrow(const wide_t<T>& value) {
  if constexpr (is_complex_v<T>)
    return {static_cast<real_t<T>>(value.real()), static_cast<real_t<T>>(value.imag())};
  else return static_cast<T>(value);
}

}  // namespace palmette
