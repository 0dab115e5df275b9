// Reproducible pseudo-random numbers.
#pragma once

#include <cstdint>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// The first word of the splitmix64 stream that `word` starts.
constexpr std::uint64_t scramble(std::uint64_t word) { return SplitMix64(word).next(); }

}  // namespace palmette::order_detail
