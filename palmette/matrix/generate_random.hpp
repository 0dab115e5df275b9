// Random numbers for the generators: the same on every machine, compiler and standard library.
#pragma once

#include <cstdint>

#include "palmette/base/base.hpp"

namespace palmette::matrix_detail {

/// A splitmix64 stream. Fractions have 20 bits only, on purpose: products of two of them, and their products
/// with powers of two, are exact, so that a compiler that fuses a multiplication with an addition changes no
/// bit.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : stream_(SplitMix64(seed).next()) {}

  std::uint64_t next() { return stream_.next(); }
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
  SplitMix64 stream_;
};

}  // namespace palmette::matrix_detail
