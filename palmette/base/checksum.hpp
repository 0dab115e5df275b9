// A 64-bit checksum of bytes, for messages and for matrices that must not change. Four lanes of multiply and
// rotate, so that it costs a few cycles for each 32 bytes; every bit of the input reaches every bit of the
// sum. Not cryptographic. Source: the construction is that of the xxHash family [Collet 2012]; the constants
// are odd numbers of our own choice.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace palmette {
namespace checksum_detail {

inline std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9E6C63D0876A9A35ull;
  value ^= value >> 29;
  value *= 0xC3A5C85C97CB3127ull;
  return value ^ value >> 32;
}

}  // namespace checksum_detail

inline std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  using checksum_detail::mixed;
  constexpr std::uint64_t factor[4] = {0x9E3779B185EBCA87ull, 0xC2B2AE3D27D4EB4Full, 0x165667B19E3779F9ull,
                                       0x85EBCA77C2B2AE63ull};
  std::uint64_t lane[4] = {seed + factor[0], seed ^ factor[1], seed - factor[2], ~seed + factor[3]};
  const std::size_t whole = bytes.size() / 32 * 32;
  for (std::size_t at = 0; at < whole; at += 32) {
    std::uint64_t word[4];
    std::memcpy(word, bytes.data() + at, 32);
    for (int l = 0; l < 4; ++l) lane[l] = std::rotl(lane[l] + word[l] * factor[l], 31) * factor[(l + 1) % 4];
  }
  std::uint64_t tail[4] = {};
  if (whole < bytes.size()) std::memcpy(tail, bytes.data() + whole, bytes.size() - whole);
  std::uint64_t sum = bytes.size();
  for (int l = 0; l < 4; ++l) sum = mixed(sum + lane[l]) ^ mixed(tail[l] + factor[l]) * factor[(l + 2) % 4];
  return mixed(sum);
}

}  // namespace palmette
