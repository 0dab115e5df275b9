// A few scalars side by side in one vector register, and the two products on which the small kernels are
// built. The vector extension that GCC and Clang share lets one source serve every width.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "palmette/base/base.hpp"

namespace palmette::lanes {

/// Calls use(number) with 0 … Count − 1 as compile-time constants.
template <int Count, class Use>
PALMETTE_INLINE inline void unrolled(Use&& use) {
  [&]<int... Number>(std::integer_sequence<int, Number...>) PALMETTE_INLINE {
    (use(std::integral_constant<int, Number>()), ...);
  }(std::make_integer_sequence<int, Count>());
}

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// Of a line of the caches, on all processors that we know.
inline constexpr int line_bytes = 64;
template <class T>
inline constexpr index_t line_entries = line_bytes / static_cast<int>(sizeof(T));

/// Number of scalars of type T that fill one register.
template <class T>
inline constexpr int full_width = register_bytes / static_cast<int>(sizeof(T)) > 0
                                      ? register_bytes / static_cast<int>(sizeof(T))
                                      : 1;

/// `Count` reals side by side; for one, the scalar itself.
template <class Real, int Count>
struct VectorOf {
  typedef Real type __attribute__((vector_size(sizeof(Real) * Count)));
};
template <class Real>
struct VectorOf<Real, 1> {
  using type = Real;
};

/// `Width` scalars side by side. Complex ones lie interleaved, as in memory.
template <class T, int Width>
struct Lanes {
  using Real = real_t<T>;
  static constexpr int reals = is_complex_v<T> ? 2 * Width : Width;
  using Vector = typename VectorOf<Real, reals>::type;

  static Vector load(const T* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  /// The first `count` scalars, at least one and fewer than Width, then zeros; nothing behind them is read.
  PALMETTE_INLINE static Vector load_first(const T* from, int count) {
    [[maybe_unused]] const auto* const real = reinterpret_cast<const Real*>(from);
#if defined(__AVX512F__)
    if constexpr (sizeof(Vector) == 64) {
      const unsigned mask = (1u << (is_complex_v<T> ? 2 * count : count)) - 1;
      if constexpr (sizeof(Real) == 8)
        return (Vector)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), real);
      else return (Vector)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), real);
    }
#endif
#if defined(__AVX__)
    if constexpr (sizeof(Vector) == 32) {
      if constexpr (sizeof(Real) == 8)
        return (Vector)_mm256_maskload_pd(real, (__m256i)lanes_before(count));
      else return (Vector)_mm256_maskload_ps(real, (__m256i)lanes_before(count));
    }
#endif
    Real values[reals] = {};
    std::memcpy(values, from, sizeof(T) * static_cast<std::size_t>(count));
    Vector v;
    std::memcpy(&v, values, sizeof v);
    return v;
  }
  /// What is loaded once for several uses. Compilers may load it again for each of them, though registers are
  /// left: a core has as many loads as products in a cycle, and entries are loaded as well.
  PALMETTE_INLINE static Vector load_once(const T* from) {
    Vector v = load(from);
#if defined(__AVX512F__)
    if constexpr (sizeof v >= 16) asm("" : "+v"(v));
#elif defined(__SSE2__)
    if constexpr (sizeof v >= 16) asm("" : "+x"(v));
#endif
    return v;
  }
  static void store(Vector v, T* to) { std::memcpy(static_cast<void*>(to), &v, sizeof v); }
  /// The first `count` scalars of v, at most Width; nothing behind them is written.
  PALMETTE_INLINE static void store_first(Vector v, int count, T* to) {
    Real values[reals];
    std::memcpy(values, &v, sizeof v);
    std::memcpy(static_cast<void*>(to), values, sizeof(T) * static_cast<std::size_t>(count));
  }
  /// For whole registers: a store past the caches, which do not read a line before it is written. `to` is
  /// aligned to the register; end_streams() follows before another thread reads.
  static void stream(Vector v, T* to) {
#if defined(__AVX512F__)
    if constexpr (sizeof v == 64) return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)v);
#endif
#if defined(__AVX__)
    if constexpr (sizeof v == 32) return _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)v);
#endif
#if defined(__SSE2__)
    if constexpr (sizeof v == 16) return _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)v);
#endif
    store(v, to);
  }
  /// The first `count` scalars of v, then zeros, whatever v holds there.
  PALMETTE_INLINE static Vector first_lanes(Vector v, int count) {
    return lanes_before(count) ? v : Vector{};
  }
  /// The conjugate of each scalar.
  static Vector conjugated(Vector v) {
    if constexpr (!is_complex_v<T>) return v;
    else return v * alternating(Real(1), Real(-1));
  }

  /// Σ a·s for scalars s. Complex: by_real collects a·Re s, by_imag a·Im s; one exchange at the end combines
  /// them.
  struct Sum {
    Vector by_real{};
    Vector by_imag{};
    void add(Vector a, T s) {
      if constexpr (is_complex_v<T>) {
        by_real += a * s.real();
        by_imag += a * s.imag();
      } else {
        by_real = fused(a, s, by_real);
      }
    }
    Vector value() const {
      if constexpr (is_complex_v<T>) return by_real + crossed(by_imag);
      else return by_real;
    }
  };

  /// One scalar for each lane, made ready to be multiplied: complex ones in two parts, each of them twice.
  struct Multiplier {
    Vector real;
    Vector imag;  // unused for reals
  };
  PALMETTE_INLINE static Multiplier multiplier(Vector x) {
    if constexpr (is_complex_v<T>)
      return {chosen<~1, 0>(x, std::make_integer_sequence<int, reals>()),
              chosen<~0, 1>(x, std::make_integer_sequence<int, reals>())};
    else return {x, x};
  }
  /// Σ a·x in each lane for itself; every lane gets the same bits in registers of any width.
  struct SumOfEach {
    Vector by_real{};
    Vector by_imag{};
    PALMETTE_INLINE void add(Vector a, const Multiplier& x) {
      by_real = fused(a, x.real, by_real);
      if constexpr (is_complex_v<T>) by_imag = fused(a, x.imag, by_imag);
    }
    PALMETTE_INLINE Vector value() const {
      if constexpr (is_complex_v<T>) return by_real + crossed(by_imag);
      else return by_real;
    }
  };

  /// Σ a·x lane by lane: a dot product in pieces.
  struct Dot {
    Vector straight{};  // complex: re·re and im·im alternate
    Vector across{};    // complex: re·im and im·re alternate
    void add(Vector a, Vector x) {
      straight += a * x;
      if constexpr (is_complex_v<T>) across += a * swapped(x);
    }
    /// The sum over lanes, in the order of the lanes; the first factor is conjugated if asked.
    T value(bool conjugate_first) const {
      Real s[reals], c[reals];
      std::memcpy(s, &straight, sizeof s);
      if constexpr (!is_complex_v<T>) {
        return sum_of(s);
      } else {
        std::memcpy(c, &across, sizeof c);
        Real re_re = 0, im_im = 0, re_im = 0, im_re = 0;
        for (int lane = 0; lane < reals; lane += 2) {
          re_re += s[lane];
          im_im += s[lane + 1];
          re_im += c[lane];
          im_re += c[lane + 1];
        }
        return conjugate_first ? T(re_re + im_im, re_im - im_re) : T(re_re - im_im, re_im + im_re);
      }
    }
  };

 private:
  /// All bits of the first `count` scalars.
  PALMETTE_INLINE static auto lanes_before(int count) {
    Vector number;
    for (int lane = 0; lane < reals; ++lane) number[lane] = Real(lane);
    const Vector end = Vector{} + static_cast<Real>(is_complex_v<T> ? 2 * count : count);
    return number < end;
  }
  /// a·s + sum, fused where the processor can. For a plain expression a compiler may compute one lane's
  /// products in vectors, unfused, and then add them in order; the last rows of a panel would then have other
  /// bits than the same rows elsewhere.
  template <class S>
  static Vector fused(Vector a, S s, Vector sum) {
#ifdef __FMA__
    if constexpr (std::is_same_v<Vector, float>) return __builtin_fmaf(a, s, sum);
    if constexpr (std::is_same_v<Vector, double>) return __builtin_fma(a, s, sum);
#endif
    return sum + a * s;
  }
  static Real sum_of(const Real* lane) {
    Real part[reals];
    for (int l = 0; l < reals; ++l) part[l] = lane[l];
    for (int half = reals / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
  }
  template <int... Lane>
  static Vector neighbours(Vector v, std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(v, v, (Lane ^ 1)...);
  }
  /// Lane l ← lane (l & Mask) | Bit of v.
  template <int Mask, int Bit, int... Lane>
  static Vector chosen(Vector v, std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(v, v, ((Lane & Mask) | Bit)...);
  }
  /// v with real and imaginary parts exchanged.
  static Vector swapped(Vector v) { return neighbours(v, std::make_integer_sequence<int, reals>()); }
  /// i times v.
  static Vector crossed(Vector v) { return swapped(v) * alternating(Real(-1), Real(1)); }
  static Vector alternating(Real even, Real odd) {
    Vector v;
    for (int l = 0; l < reals; ++l) v[l] = l % 2 == 0 ? even : odd;
    return v;
  }
};

/// What was stored by stream() is seen before what is stored from now on.
inline void end_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Runs step.template operator()<Width>(row) over rows [0, rows): full registers first, then halves down to
/// one scalar.
template <class T, int Width = full_width<T>, class Step>
inline void over_rows(index_t first, index_t rows, Step&& step) {
  index_t row = first;
  for (; row + Width <= rows; row += Width) step.template operator()<Width>(row);
  if constexpr (Width > 1) over_rows<T, Width / 2>(row, rows, step);
}

}  // namespace palmette::lanes
