// Reproducible words: the same on every machine, compiler and standard library.
#pragma once

#include <cstdint>

namespace palmette {

/// The bit mixer of splitmix64: a bijection of 64-bit words, in which every bit of the word reaches every bit
/// of the result. @source [Steele et al. 2014], figure 17
constexpr std::uint64_t mix_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// A stream of pseudo-random words. @source [Steele et al. 2014], figure 17
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return mix_bits(state_ += 0x9e3779b97f4a7c15ULL); }

 private:
  std::uint64_t state_;
};

}  // namespace palmette
