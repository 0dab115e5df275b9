// Reproducible pseudo-random numbers.
#pragma once

#include <cstdint>

namespace palmette::order_detail {

/// splitmix64's finalizer: every bit of the word reaches every bit of the result.
inline std::uint64_t scramble(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15ull;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return word ^ (word >> 31);
}

}  // namespace palmette::order_detail
