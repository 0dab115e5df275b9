// Arithmetic of kernels for the four scalar types, spelled so that g++ and nvcc round alike.
#pragma once

#include "palmette/device/panel_layout.hpp"
#include "palmette/device/vocabulary.hpp"

namespace palmette::device {

/// Lies in memory as std::complex does.
template <class R>
struct Complex {
  R re, im;
};

/// The real scalar of T, and T with numbers of type R.
template <class T>
struct ScalarOf {
  using real = T;
  template <class R>
  using with = R;
};
template <class T>
struct ScalarOf<Complex<T>> {
  using real = T;
  template <class R>
  using with = Complex<R>;
};
template <class T>
using real_of = typename ScalarOf<T>::real;
/// In which residuals are summed.
template <class T>
using wide_of = typename ScalarOf<T>::template with<double>;
template <class T>
using low_of = typename ScalarOf<T>::template with<float>;

/// What a lane loads at once.
template <class T>
struct alignas(16) Loaded {
  T value[16 / sizeof(T)];
};

PALMETTE_DEVICE float zero_of(float) { return 0; }
PALMETTE_DEVICE double zero_of(double) { return 0; }
template <class R>
PALMETTE_DEVICE Complex<R> zero_of(Complex<R>) {
  Complex<R> zero;  // {0, 0} is a constant that nvcc loads from memory in code that is linked later
  zero.re = zero.im = 0;
  return zero;
}
template <class T>
PALMETTE_DEVICE T zero() {
  return zero_of(T{});
}

/// a·b + c
PALMETTE_DEVICE float multiply_add(float a, float b, float c) { return gpu::multiply_add(a, b, c); }
PALMETTE_DEVICE double multiply_add(double a, double b, double c) { return gpu::multiply_add(a, b, c); }
template <class R>
PALMETTE_DEVICE Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> c) {
  return {gpu::multiply_add(a.re, b.re, gpu::multiply_add(-a.im, b.im, c.re)),
          gpu::multiply_add(a.re, b.im, gpu::multiply_add(a.im, b.re, c.im))};
}

template <class R>
PALMETTE_DEVICE Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
PALMETTE_DEVICE Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
PALMETTE_DEVICE Complex<R> operator-(Complex<R> a) {
  return {-a.re, -a.im};
}
template <class R>
PALMETTE_DEVICE bool is_zero(Complex<R> a) {
  return a.re == 0 && a.im == 0;
}
template <class R>
PALMETTE_DEVICE bool is_zero(R a) {
  return a == 0;
}

/// The conjugate of a, if `adjoint`.
template <class R>
PALMETTE_DEVICE R conjugate_if(bool, R a) {
  return a;
}
template <class R>
PALMETTE_DEVICE Complex<R> conjugate_if(bool adjoint, Complex<R> a) {
  return {a.re, adjoint ? -a.im : a.im};
}

/// a / b; complex as [Smith 1962], which overflows only where the quotient nearly does.
PALMETTE_DEVICE float divide(float a, float b) { return a / b; }
PALMETTE_DEVICE double divide(double a, double b) { return a / b; }
template <class R>
PALMETTE_DEVICE Complex<R> divide(Complex<R> a, Complex<R> b) {
  const R re = b.re < 0 ? -b.re : b.re, im = b.im < 0 ? -b.im : b.im;
  if (re >= im) {
    const R ratio = b.im / b.re, size = gpu::multiply_add(b.im, ratio, b.re);
    return {gpu::multiply_add(a.im, ratio, a.re) / size, gpu::multiply_add(-a.re, ratio, a.im) / size};
  }
  const R ratio = b.re / b.im, size = gpu::multiply_add(b.re, ratio, b.im);
  return {gpu::multiply_add(a.re, ratio, a.im) / size, gpu::multiply_add(a.im, ratio, -a.re) / size};
}

/// Sum over the lanes of a warp whose numbers differ in the bits below `end` and not below `from`: the same
/// tree of additions, hence the same bits, everywhere.
template <class R>
PALMETTE_DEVICE R lane_sum(R v, int from, int end) {
  for (int x = end / 2; x >= from; x >>= 1) v = v + gpu::shuffle_xor(gpu::all_lanes, v, x);
  return v;
}
template <class R>
PALMETTE_DEVICE Complex<R> lane_sum(Complex<R> v, int from, int end) {
  return {lane_sum(v.re, from, end), lane_sum(v.im, from, end)};
}

/// v of lane xor `lanes`.
template <class R>
PALMETTE_DEVICE R other_lane(R v, int lanes) {
  return gpu::shuffle_xor(gpu::all_lanes, v, lanes);
}
template <class R>
PALMETTE_DEVICE Complex<R> other_lane(Complex<R> v, int lanes) {
  return {other_lane(v.re, lanes), other_lane(v.im, lanes)};
}

/// v[k] ← lane_sum(v[k], from, end) for all k. Their steps go together: each waits for a shuffle.
template <class T, int count>
PALMETTE_DEVICE void lane_sums(T (&v)[count], int from, int end) {
  for (int x = end / 2; x >= from; x >>= 1) {
    T other[count];
    for (int k = 0; k < count; ++k) other[k] = other_lane(v[k], x);
    for (int k = 0; k < count; ++k) v[k] = v[k] + other[k];
  }
}
template <class T, int rows, int count>
PALMETTE_DEVICE void lane_sums(T (&v)[rows][count], int from, int end) {
  for (int x = end / 2; x >= from; x >>= 1) {
    T other[rows][count];
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < count; ++k) other[r][k] = other_lane(v[r][k], x);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < count; ++k) v[r][k] = v[r][k] + other[r][k];
  }
}

/// *to ← *to + v, atomically.
template <gpu::Scope scope = gpu::Scope::device, class R>
PALMETTE_DEVICE void add_atomically(R* to, R v) {
  gpu::reduce_relaxed<scope>(to, v);
}
template <gpu::Scope scope = gpu::Scope::device, class R>
PALMETTE_DEVICE void add_atomically(Complex<R>* to, Complex<R> v) {
  gpu::reduce_relaxed<scope>(&to->re, v.re);
  gpu::reduce_relaxed<scope>(&to->im, v.im);
}
template <gpu::Scope scope = gpu::Scope::device, class R>
PALMETTE_DEVICE R load_relaxed(const R* p) {
  return gpu::load_relaxed<scope>(p);
}
template <gpu::Scope scope = gpu::Scope::device, class R>
PALMETTE_DEVICE Complex<R> load_relaxed(const Complex<R>* p) {
  return {gpu::load_relaxed<scope>(&p->re), gpu::load_relaxed<scope>(&p->im)};
}

// Between precisions, and sizes.

template <class To, class From>
struct Conversion {
  PALMETTE_DEVICE static To of(From a) { return static_cast<To>(a); }
};
template <class To, class From>
struct Conversion<Complex<To>, Complex<From>> {
  PALMETTE_DEVICE static Complex<To> of(Complex<From> a) {
    return {static_cast<To>(a.re), static_cast<To>(a.im)};
  }
};
template <class To, class From>
PALMETTE_DEVICE To converted(From a) {
  return Conversion<To, From>::of(a);
}

PALMETTE_DEVICE float scaled(float a, float factor) { return a * factor; }
PALMETTE_DEVICE double scaled(double a, double factor) { return a * factor; }
template <class R>
PALMETTE_DEVICE Complex<R> scaled(Complex<R> a, R factor) {
  return {a.re * factor, a.im * factor};
}
PALMETTE_DEVICE float divided(float a, float by) { return a / by; }
PALMETTE_DEVICE double divided(double a, double by) { return a / by; }
template <class R>
PALMETTE_DEVICE Complex<R> divided(Complex<R> a, R by) {
  return {a.re / by, a.im / by};
}
/// In double precision, times a power of two.
template <class T>
PALMETTE_DEVICE wide_of<T> widened(T a, double factor) {
  return scaled(converted<wide_of<T>>(a), factor);
}

template <class R>
PALMETTE_DEVICE R absolute(R a) {
  return a < 0 ? -a : a;
}
/// |re| + |im|
template <class R>
PALMETTE_DEVICE R cheap_modulus(R a) {
  return absolute(a);
}
template <class R>
PALMETTE_DEVICE R cheap_modulus(Complex<R> a) {
  return absolute(a.re) + absolute(a.im);
}
PALMETTE_DEVICE double modulus(double a) { return absolute(a); }
/// Without overflow or underflow on the way.
PALMETTE_DEVICE double modulus(Complex<double> a) {
  const double square = a.re * a.re + a.im * a.im;
  if (square > 1e-280 && square < 1e280) return gpu::square_root(square);
  const double re = absolute(a.re), im = absolute(a.im);
  const double large = re > im ? re : im, small = re > im ? im : re;
  if (large == 0 || large - large != 0) return large + small;
  const double ratio = small / large;
  return large * gpu::square_root(1 + ratio * ratio);
}

}  // namespace palmette::device
