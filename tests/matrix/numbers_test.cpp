// Decimal text to double: every path must agree with the standard library, and the scanners must stop where
// they should.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <random>

#include "palmette/matrix/numbers.hpp"

namespace palmette {
namespace {

std::string padded(const std::string& text) { return text + std::string(number_padding + 1, '\n'); }

double parse(const std::string& text) {
  const std::string safe = padded(text);
  Decimal number;
  const char* end = scan_decimal(safe.data(), number);
  EXPECT_EQ(end, safe.data() + text.size()) << text;
  return to_double(number);
}

double parse_fortran(const std::string& text) {
  const std::string safe = padded(text);
  Decimal number;
  const char* end = scan_decimal<NumberStyle::fortran>(safe.data(), number);
  EXPECT_EQ(end, safe.data() + text.size()) << text;
  return to_double(number);
}

double by_library(const std::string& text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? value : std::numeric_limits<double>::infinity();
}

TEST(numbers, known_values_are_read_exactly) {
  EXPECT_EQ(parse("1"), 1.0);
  EXPECT_EQ(parse("-0.5"), -0.5);
  EXPECT_EQ(parse("+2.5e3"), 2500.0);
  EXPECT_EQ(parse("1.5D-3"), 1.5e-3);
  EXPECT_EQ(parse("1d0"), 1.0);
  EXPECT_EQ(parse(".25"), 0.25);
  EXPECT_EQ(parse("3."), 3.0);
  EXPECT_EQ(parse("000000000000000000000000000007"), 7.0);
  EXPECT_EQ(parse("0.00000000000000000000000000001"), 1e-29);
  EXPECT_EQ(parse("0e999999999999"), 0.0);
  EXPECT_TRUE(std::signbit(parse("-0.0")));
}

TEST(numbers, extremes_of_the_double_range_are_read_exactly) {
  EXPECT_EQ(parse("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(parse("2.2250738585072014e-308"), 2.2250738585072014e-308);
  EXPECT_EQ(parse("4.9406564584124654e-324"), 5e-324);
  EXPECT_EQ(parse("1e-400"), 0.0);
  EXPECT_TRUE(std::isinf(parse("1e309")));
  EXPECT_TRUE(std::isinf(parse("1.7976931348623159e308")));
  EXPECT_TRUE(std::isinf(parse("-1e99999999999")));
}

TEST(numbers, half_way_cases_round_to_even) {
  // 2^53 + 1 lies half way between 2^53 and 2^53 + 2; the even significand is that of 2^53. The next half way
  // is 2^53 + 3.
  EXPECT_EQ(parse("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(parse("9007199254740995"), 9007199254740996.0);
  EXPECT_EQ(parse("9007199254740993.0000000000000000001"), 9007199254740994.0);
  EXPECT_EQ(parse("90071992547409930e-1"), 9007199254740992.0);
}

TEST(numbers, fortran_style_accepts_exponents_without_a_letter) {
  EXPECT_EQ(parse_fortran("1.0-123"), 1e-123);
  EXPECT_EQ(parse_fortran("-2.5+10"), -2.5e10);
  EXPECT_EQ(parse_fortran("1.0Q2"), 100.0);
}

TEST(numbers, plain_style_stops_at_a_second_sign) {
  const std::string text = padded("1.0-123");
  Decimal number;
  EXPECT_EQ(scan_decimal(text.data(), number), text.data() + 3);
}

TEST(numbers, what_is_no_number_is_refused) {
  for (const char* text : {"", "-", ".", "e5", "nan", "inf", "-inf", "1e", "1e+", "x"}) {
    const std::string safe = padded(text);
    Decimal number;
    EXPECT_EQ(scan_decimal(safe.data(), number), nullptr) << text;
  }
}

TEST(numbers, unsigned_integers_of_every_length_are_read) {
  std::string digits;
  std::uint64_t expected = 0;
  for (int length = 1; length <= 18; ++length) {
    digits.push_back(static_cast<char>('0' + length % 10));
    expected = 10 * expected + static_cast<std::uint64_t>(length % 10);
    const std::string text = padded(digits);
    std::uint64_t value = 0;
    EXPECT_EQ(scan_unsigned(text.data(), value), text.data() + length);
    EXPECT_EQ(value, expected);
  }
  std::uint64_t value = 0;
  scan_unsigned(padded("9999999999999999999999").data(), value);
  EXPECT_EQ(value, ~std::uint64_t{0});
}

TEST(numbers, digits_end_at_any_other_byte) {
  for (int byte = 0; byte < 256; ++byte) {
    if (byte >= '0' && byte <= '9') continue;
    for (unsigned length = 0; length < 8; ++length) {
      std::string text(length, '7');
      text.push_back(static_cast<char>(byte));
      text += "123456789";
      const DigitRun run = scan_digits(text.data());
      const DigitRun plain = scan_digits_one_by_one(text.data());
      EXPECT_EQ(run.count, length) << byte;
      EXPECT_EQ(run.count, plain.count);
      EXPECT_EQ(run.value, plain.value);
    }
  }
}

TEST(numbers, random_bit_patterns_printed_shortest_come_back_as_the_same_bits) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 200000; ++turn) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(parse(std::string(buffer, end))),
              std::bit_cast<std::uint64_t>(value));
  }
}

TEST(numbers, random_decimals_of_up_to_25_digits_round_like_the_standard_library) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 300000; ++turn) {
    const int length = 1 + static_cast<int>(random() % 25);
    std::string text;
    for (int digit = 0; digit < length; ++digit) text.push_back(static_cast<char>('0' + random() % 10));
    if (length > 1)
      text.insert(text.begin() + 1 + static_cast<int>(random() % static_cast<unsigned>(length - 1)), '.');
    const int exponent =
        turn % 3 == 0 ? static_cast<int>(random() % 600) - 300 : static_cast<int>(random() % 50) - 25;
    text.push_back('e');
    text += std::to_string(exponent);
    const double expected = by_library(text);
    if (!std::isfinite(expected)) continue;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(parse(text)), std::bit_cast<std::uint64_t>(expected)) << text;
  }
}

}  // namespace
}  // namespace palmette
