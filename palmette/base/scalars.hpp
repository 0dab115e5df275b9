// Index types, the list of scalar types, and traits of scalars for templates.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace palmette {

/// Counts rows, columns, supernodes, ranks: at most 2³¹ − 1, checked where data enters.
using index_t = std::int32_t;
/// Counts entries and bytes.
using offset_t = std::int64_t;

enum class ScalarType { float32, float64, complex64, complex128 };

template <class T>
struct ScalarTraits;
template <>
struct ScalarTraits<float> {
  using Real = float;
  static constexpr bool is_complex = false;
  static constexpr ScalarType type = ScalarType::float32;
  static constexpr std::string_view name = "float32";
};
template <>
struct ScalarTraits<double> {
  using Real = double;
  static constexpr bool is_complex = false;
  static constexpr ScalarType type = ScalarType::float64;
  static constexpr std::string_view name = "float64";
};
template <>
struct ScalarTraits<std::complex<float>> {
  using Real = float;
  static constexpr bool is_complex = true;
  static constexpr ScalarType type = ScalarType::complex64;
  static constexpr std::string_view name = "complex64";
};
template <>
struct ScalarTraits<std::complex<double>> {
  using Real = double;
  static constexpr bool is_complex = true;
  static constexpr ScalarType type = ScalarType::complex128;
  static constexpr std::string_view name = "complex128";
};

template <class T>
using real_t = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex_v = ScalarTraits<T>::is_complex;

/// The scalar with the same field (real or complex) and the precision of `Real`.
template <class T, class Real>
using with_precision_t = std::conditional_t<is_complex_v<T>, std::complex<Real>, Real>;

/// What norms and errors of values that are not finite come to.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Unit roundoff u = eps / 2 of the scalar's precision.
template <class T>
inline constexpr double unit_roundoff = 0.5 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

/// Complex conjugate; the identity for real scalars (std::conj would promote to complex).
template <class T>
constexpr T conjugate(const T& value) {
  if constexpr (is_complex_v<T>) return std::conj(value);
  else return value;
}

/// |re| + |im|, the cheap modulus that LAPACK uses for pivoting; |value| for real scalars.
template <class T>
real_t<T> cheap_modulus(const T& value) {
  if constexpr (is_complex_v<T>) return std::abs(value.real()) + std::abs(value.imag());
  else return value < 0 ? -value : value;
}

template <class T>
bool is_finite(const T& value) {
  constexpr real_t<T> largest = std::numeric_limits<real_t<T>>::max();
  if constexpr (is_complex_v<T>)
    return std::abs(value.real()) <= largest && std::abs(value.imag()) <= largest;
  else
    return std::abs(value) <= largest;
}

}  // namespace palmette

/// Expands X(T) once for each scalar type: the one list that explicit instantiations use.
#define PALMETTE_FOR_EACH_SCALAR(X) \
  X(float)                          \
  X(double)                         \
  X(std::complex<float>)            \
  X(std::complex<double>)
