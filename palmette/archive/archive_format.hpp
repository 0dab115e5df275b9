// Inside `archive`: what writer and reader agree on.
#pragma once

#include <cstddef>

#include "palmette/archive/archive.hpp"

namespace palmette::archive_detail {

// Not text in any encoding, and changed by a transfer that takes it for text.
inline constexpr char magic[16] = {'p',    'a',  'l',  'm',    'e',  't',  't',    'e',
                                   '\x89', '\r', '\n', '\x1a', '\n', '\0', '\xff', '\x01'};
inline constexpr std::uint32_t byte_order = 0x01020304, turned_byte_order = 0x04030201;
/// Sections begin at whole lines of the caches, so that loads of whole registers are aligned.
inline constexpr std::uint64_t section_alignment = 64;

inline std::uint64_t sum_of(const Header& header) {
  return checksum({reinterpret_cast<const std::byte*>(&header), offsetof(Header, header_sum)});
}

}  // namespace palmette::archive_detail
