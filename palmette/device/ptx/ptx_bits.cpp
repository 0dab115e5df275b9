// Instructions of PTX on single bits, fields of bits and bytes.
#include <algorithm>
#include <bit>

#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

/// So many ones; all, if there are as many as bits.
template <class T>
T ones(std::uint32_t count) {
  return count >= 8 * sizeof(T) ? static_cast<T>(~T{}) : static_cast<T>((T{1} << count) - 1);
}

/// A field of the source, extended by its sign if the type has one.
template <class T>
void extract_field(Thread& t, const Instruction& i) {
  using Bits = std::make_unsigned_t<T>;
  constexpr std::uint32_t width = 8 * sizeof(T);
  const Bits source = read<Bits>(t, i, 1);
  const std::uint32_t first = read<std::uint32_t>(t, i, 2) & 255, count = read<std::uint32_t>(t, i, 3) & 255;
  const Bits field = first >= width ? Bits{} : static_cast<Bits>(source >> first & ones<Bits>(count));
  const std::uint32_t last = std::min(first + count - 1, width - 1);
  const bool is_negative = std::is_signed_v<T> && count > 0 && (source >> last & 1) != 0;
  const std::uint32_t taken = first >= width ? 0 : std::min(count, width - first);
  write(t, i, 0, static_cast<T>(is_negative ? field | ~ones<Bits>(taken) : field));
}

template <class T>
void insert_field(Thread& t, const Instruction& i) {
  const T field = read<T>(t, i, 1), into = read<T>(t, i, 2);
  const std::uint32_t first = read<std::uint32_t>(t, i, 3) & 255, count = read<std::uint32_t>(t, i, 4) & 255;
  const T mask = first >= 8 * sizeof(T) ? T{} : static_cast<T>(ones<T>(count) << first);
  write(t, i, 0, first >= 8 * sizeof(T) ? into : static_cast<T>((into & ~mask) | (field << first & mask)));
}

/// Each byte of the result is one of the eight of two registers, or that one's sign.
void permute_bytes(Thread& t, const Instruction& i) {
  const auto low = read<std::uint32_t>(t, i, 1), high = read<std::uint32_t>(t, i, 2);
  const auto selectors = read<std::uint32_t>(t, i, 3);
  const std::uint64_t source = low | static_cast<std::uint64_t>(high) << 32;
  std::uint32_t result = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const std::uint32_t selector = selectors >> (4 * byte) & 15;
    const auto value = static_cast<std::uint8_t>(source >> (8 * (selector & 7)));
    const std::uint32_t taken = (selector & 8) == 0 ? value : (value & 128) != 0 ? 255 : 0;
    result |= taken << (8 * byte);
  }
  write(t, i, 0, result);
}

/// Any function of three bits, by its table of eight.
void look_up_bits(Thread& t, const Instruction& i) {
  const auto a = read<std::uint32_t>(t, i, 1), b = read<std::uint32_t>(t, i, 2),
             c = read<std::uint32_t>(t, i, 3);
  const auto table = read<std::uint32_t>(t, i, 4);
  std::uint32_t result = 0;
  for (int row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  write(t, i, 0, result);
}

/// Half of two registers that are shifted as one of 64 bits; distances wrap or end at 32.
template <bool to_left, bool wraps>
void shift_funnel(Thread& t, const Instruction& i) {
  const auto low = read<std::uint32_t>(t, i, 1), high = read<std::uint32_t>(t, i, 2);
  const auto by = read<std::uint32_t>(t, i, 3);
  const std::uint32_t distance = wraps ? by & 31 : std::min(by, 32u);
  const std::uint64_t both = low | static_cast<std::uint64_t>(high) << 32;
  write(t, i, 0, static_cast<std::uint32_t>(to_left ? both << distance >> 32 : both >> distance));
}

template <class T>
void count_ones(Thread& t, const Instruction& i) {
  write(t, i, 0, static_cast<std::uint32_t>(std::popcount(read<T>(t, i, 1))));
}
template <class T>
void count_leading_zeros(Thread& t, const Instruction& i) {
  write(t, i, 0, static_cast<std::uint32_t>(std::countl_zero(read<T>(t, i, 1))));
}
template <class T>
void reverse_bits(Thread& t, const Instruction& i) {
  const T bits = read<T>(t, i, 1);
  T result{};
  for (std::size_t k = 0; k < 8 * sizeof(T); ++k) result = static_cast<T>(result << 1 | (bits >> k & 1));
  write(t, i, 0, result);
}
/// The first operand's sign on the second.
template <class T, class Bits>
void copy_sign(Thread& t, const Instruction& i) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  write(t, i, 0, static_cast<Bits>((read<Bits>(t, i, 1) & sign) | (read<Bits>(t, i, 2) & ~sign)));
}

template <class Bits>
void add_bits(InstructionSet& set, const std::string& width) {
  set.add("bfi.b" + width, "rrrrr", insert_field<Bits>);
  set.add("bfe.u" + width, "rrrr", extract_field<Bits>);
  set.add("bfe.s" + width, "rrrr", extract_field<std::make_signed_t<Bits>>);
  set.add("popc.b" + width, "rr", count_ones<Bits>);
  set.add("clz.b" + width, "rr", count_leading_zeros<Bits>);
  set.add("brev.b" + width, "rr", reverse_bits<Bits>);
}

}  // namespace

void add_bit_operations(InstructionSet& set) {
  add_bits<std::uint32_t>(set, "32");
  add_bits<std::uint64_t>(set, "64");
  set.add("prmt.b32", "rrrr", permute_bytes);
  set.add("lop3.b32", "rrrrr", look_up_bits);
  set.add("shf.l.wrap.b32", "rrrr", shift_funnel<true, true>);
  set.add("shf.r.wrap.b32", "rrrr", shift_funnel<false, true>);
  set.add("shf.l.clamp.b32", "rrrr", shift_funnel<true, false>);
  set.add("shf.r.clamp.b32", "rrrr", shift_funnel<false, false>);
  set.add("copysign.f32", "rrr", copy_sign<float, std::uint32_t>);
  set.add("copysign.f64", "rrr", copy_sign<double, std::uint64_t>);
}

}  // namespace palmette::emulate::ptx
