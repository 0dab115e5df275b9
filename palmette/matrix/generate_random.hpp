// Random numbers for the generators: the same on every machine, compiler and standard library.
#pragma once

#include <cstdint>

#include "palmette/base/base.hpp"

namespace palmette::matrix_detail {

/// One step of the bit mixer of splitmix64: a bijection of 64-bit words.
/// @source [Steele et al. 2014], figure 17
constexpr std::uint64_t mix_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// A splitmix64 stream. Fractions have 20 bits only, on purpose: products of two of them, and their products
/// with powers of two, are exact, so that a compiler that fuses a multiplication with an addition changes no
/// bit.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(mix_bits(seed + weyl_step)) {}

  std::uint64_t next() {
    state_ += weyl_step;
    return mix_bits(state_);
  }
  /// Uniform in 0 … bound − 1, to within 2⁻³²·bound; bound ≥ 1.
  index_t below(index_t bound) {
    return static_cast<index_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }
  /// A multiple of 2⁻²⁰ in [0, 1).
  double fraction() { return static_cast<double>(next() >> 44) / 1048576.0; }
  /// An odd multiple of 2⁻²⁰ in (−1, 1): never zero.
  double signed_fraction() { return 2.0 * fraction() - 1.0 + 1.0 / 1048576.0; }
  /// A power of two, its exponent uniform in lowest … highest.
  double power_of_two(int lowest, int highest) {
    const int exponent = lowest + below(highest - lowest + 1);
    double power = 1.0;
    for (int step = 0; step < exponent; ++step) power *= 2.0;
    for (int step = 0; step > exponent; --step) power *= 0.5;
    return power;
  }

 private:
  static constexpr std::uint64_t weyl_step = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace palmette::matrix_detail
