// Operations of every scalar type that kernels may use, for g++ and nvcc alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define PALMETTE_BOTH __host__ __device__ inline
#else
#define PALMETTE_BOTH inline
#endif

namespace palmette::operations {

struct alignas(16) Pair {
  double re, im;
};
struct alignas(16) Four {
  float x[4];
};
struct alignas(16) Inputs {
  double a, b, c, d;
  Four four;
  float f, g;
  int i, j;
  long long k, l;
  unsigned u, v;
  short s;
  signed char t;
  unsigned char w;
};

PALMETTE_BOTH double chosen(const Inputs& in) {
  double values[4] = {in.a, in.b, in.c, in.d};
  values[in.i & 3] = in.f;
  return values[in.j & 3] + values[0];
}
PALMETTE_BOTH int branches(const Inputs& in) {
  int sum = 0;
  for (int n = 0; n < (in.j & 15); ++n) {
    if ((in.i >> n & 1) != 0) continue;
    switch ((in.i + n) % 5) {
      case 0: sum += n; break;
      case 1: sum -= in.j; break;
      case 2: sum *= 3; break;
      default: sum ^= in.i;
    }
    if (sum > 100000) break;
  }
  return sum;
}
PALMETTE_BOTH Pair product(Pair x, Pair y) {
  return {fma(x.re, y.re, -(x.im * y.im)), fma(x.re, y.im, x.im * y.re)};
}
/// Scaled by the larger part of the divisor.
PALMETTE_BOTH Pair quotient(Pair x, Pair y) {
  const bool is_wide = fabs(y.re) >= fabs(y.im);
  const double ratio = is_wide ? y.im / y.re : y.re / y.im;
  const double scale = is_wide ? fma(y.im, ratio, y.re) : fma(y.re, ratio, y.im);
  if (is_wide) return {fma(x.im, ratio, x.re) / scale, fma(-x.re, ratio, x.im) / scale};
  return {fma(x.re, ratio, x.im) / scale, fma(x.im, ratio, -x.re) / scale};
}
template <class T>
PALMETTE_BOTH unsigned long long bits_of(T value) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace palmette::operations

// A name and an expression in `in`.
#define PALMETTE_FOR_EACH_OPERATION(OPERATION) \
  OPERATION(doubles, fma(in.a, in.b, in.c) / in.d + in.a * in.b - 1 / in.c) \
  OPERATION(floats, fmaf(in.f, in.g, in.four.x[1]) / in.four.x[2] - in.four.x[0] * in.four.x[3]) \
  OPERATION(roots, sqrt(fabs(in.a)) + sqrtf(fabsf(in.f))) \
  OPERATION(extremes, fmin(in.a, in.b) * fmax(in.c, in.d) + fminf(in.f, in.g)) \
  OPERATION(real_part, product({in.a, in.b}, {in.c, in.d}).re) \
  OPERATION(imaginary_part, product({in.a, in.b}, {in.c, in.d}).im) \
  OPERATION(real_quotient, quotient({in.a, in.b}, {in.c, in.d}).re) \
  OPERATION(imaginary_quotient, quotient({in.a, in.b}, {in.c, in.d}).im) \
  OPERATION(narrowed, static_cast<float>(in.a) + static_cast<float>(in.k) + static_cast<float>(in.u)) \
  OPERATION(widened, in.f + static_cast<double>(in.l) + in.u + in.t + in.w + in.s) \
  OPERATION(truncated, static_cast<int>(in.a) + static_cast<long long>(in.f) * 3) \
  OPERATION(relations, (in.a < in.b) + 2 * (in.f >= in.g) + 4 * !(in.c <= in.d) + 8 * (in.a != in.c)) \
  OPERATION(integers, in.i / (in.j | 1) + in.i % (in.j | 1) + (in.i ^ in.j) + (in.s >> 2) + in.t * in.w) \
  OPERATION(longs, in.k / (in.l | 1) - in.k % (in.l | 1) + (in.k >> (in.i & 31)) * 17) \
  OPERATION(unsigneds, in.u / (in.v | 1) + (in.u >> (in.v & 31)) + (in.u < in.v) + in.u % 10) \
  OPERATION(indices, in.k * in.i + static_cast<long long>(in.i) * in.j + (in.k << (in.j & 15))) \
  OPERATION(array, chosen(in)) \
  OPERATION(control_flow, branches(in))
