// Inside `matrix`: decimal text to integers and correctly rounded doubles, fast enough that reading is bound
// by memory.
//
// Every scanner needs text that ends in a byte that is not part of a number, followed by `number_padding`
// readable bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace palmette {

/// Readable bytes that must follow the text handed to the scanners (they load eight at a time).
inline constexpr int number_padding = 16;

/// A decimal number as given in the text: ±mantissa · 10^exponent.
struct Decimal {
  std::uint64_t mantissa = 0;      ///< valid unless many_digits
  std::int32_t exponent = 0;       ///< of ten; already accounts for the digits after the point
  bool negative = false;
  bool many_digits = false;        ///< more than 19 significant digits: the text must be read again
  bool has_point = false;
  bool has_exponent = false;
  const char* digits = nullptr;    ///< first digit or point in the text
  const char* digits_end = nullptr;
};

enum class NumberStyle {
  plain,    ///< exponent letters e, E, d, D
  fortran,  ///< also q, Q and none at all: 1.0-123
};

/// How many of the next eight characters are digits, and their value.
struct DigitRun {
  unsigned count;
  std::uint64_t value;
};

inline DigitRun scan_digits_one_by_one(const char* text) {
  DigitRun run{0, 0};
  while (run.count < 8 && text[run.count] >= '0' && text[run.count] <= '9')
    run.value = 10 * run.value + static_cast<std::uint64_t>(text[run.count++] - '0');
  return run;
}

/// Eight characters at once in one machine word; no branch depends on how many of them are digits.
inline DigitRun scan_digits(const char* text) {
  if constexpr (std::endian::native != std::endian::little) return scan_digits_one_by_one(text);
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  word ^= 0x3030303030303030u;  // digits become 0 … 9
  // The lowest high bit marks the first byte above 9; carries can only spoil bytes behind it.
  const std::uint64_t others = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
  if (others == 0x80u || (others & 0x80u)) return {0, 0};
  const unsigned count = others == 0 ? 8u : static_cast<unsigned>(std::countr_zero(others)) / 8u;
  word <<= 64 - 8 * count;  // leading zeros in front
  word = word * 10 + (word >> 8);
  const std::uint64_t mask = 0x000000FF000000FFu;
  word = ((word & mask) * (100 + (1000000ull << 32)) + ((word >> 16) & mask) * (1 + (10000ull << 32))) >> 32;
  return {count, word & 0xFFFFFFFFu};
}

inline constexpr std::uint64_t small_powers_of_ten[9] = {1,      10,      100,      1000,     10000,
                                                         100000, 1000000, 10000000, 100000000};

/// Adds the digits at `text` to `value` (modulo 2⁶⁴); returns where they end.
inline const char* append_digits(const char* text, std::uint64_t& value) {
  for (;;) {
    const DigitRun run = scan_digits(text);
    value = value * small_powers_of_ten[run.count] + run.value;
    text += run.count;
    if (run.count < 8) return text;
  }
}

/// An unsigned integer with an optional '+' before it. Returns nullptr if there is none; above 18 digits
/// `value` is 2⁶⁴ − 1.
inline const char* scan_unsigned(const char* text, std::uint64_t& value) {
  if (*text == '+') ++text;
  const DigitRun run = scan_digits(text);
  if (run.count == 0) return nullptr;
  value = run.value;
  if (run.count < 8) return text + run.count;
  const char* end = append_digits(text + 8, value);
  if (end - text > 18) value = ~std::uint64_t{0};
  return end;
}

/// The decimal number at `text`; nullptr if there is none (NaN and Inf are none).
template <NumberStyle style = NumberStyle::plain>
inline const char* scan_decimal(const char* text, Decimal& number);

/// The double nearest to the number, ties to even; ±infinity if it is beyond the largest double.
double to_double(const Decimal& number);

/// The exponent after its letter or sign; huge exponents are limited to ±99999. Returns nullptr if there are
/// no digits.
inline const char* scan_exponent(const char* text, std::int32_t& exponent) {
  const bool negative = *text == '-';
  if (*text == '-' || *text == '+') ++text;
  if (*text < '0' || *text > '9') return nullptr;
  std::int32_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    if (value < 100000) value = 10 * value + (*text - '0');
  if (value > 99999) value = 99999;
  exponent += negative ? -value : value;
  return text;
}

/// Significant digits: those after the leading zeros.
inline std::int64_t significant_digits(const char* digits, const char* end) {
  while (digits < end && (*digits == '0' || *digits == '.')) ++digits;
  std::int64_t count = end - digits;
  for (; digits < end; ++digits) count -= *digits == '.';
  return count;
}

template <NumberStyle style>
inline const char* scan_decimal(const char* text, Decimal& number) {
  number.negative = *text == '-';
  if (*text == '-' || *text == '+') ++text;
  number.digits = text;
  number.mantissa = 0;
  number.exponent = 0;
  text = append_digits(text, number.mantissa);
  std::int64_t count = text - number.digits;
  number.has_point = *text == '.';
  if (number.has_point) {
    const char* fraction = ++text;
    text = append_digits(text, number.mantissa);
    number.exponent = static_cast<std::int32_t>(fraction - text < -1000000 ? -1000000 : fraction - text);
    count += text - fraction;
  }
  if (count == 0) return nullptr;
  number.digits_end = text;
  number.many_digits = count > 19 && significant_digits(number.digits, text) > 19;
  const char letter = static_cast<char>(*text | 0x20);
  number.has_exponent = letter == 'e' || letter == 'd';
  if (number.has_exponent) return scan_exponent(text + 1, number.exponent);
  if constexpr (style == NumberStyle::fortran) {
    number.has_exponent = letter == 'q' || *text == '+' || *text == '-';
    if (number.has_exponent) return scan_exponent(letter == 'q' ? text + 1 : text, number.exponent);
  }
  return text;
}

}  // namespace palmette
