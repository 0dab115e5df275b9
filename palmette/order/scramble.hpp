// Reproducible pseudo-random numbers.
#pragma once

#include <cstdint>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// The first word of the splitmix64 stream that `word` starts.
constexpr std::uint64_t scramble(std::uint64_t word) { return SplitMix64(word).next(); }

/// One of [0, n) that `word` determines. @param n  above 0
constexpr index_t scrambled_index(std::uint64_t word, index_t n) {
  return static_cast<index_t>(scramble(word) % static_cast<std::uint64_t>(n));
}

}  // namespace palmette::order_detail
