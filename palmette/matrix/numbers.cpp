// Decimal to double, correctly rounded: exact floating-point arithmetic where both parts are small, a 128-bit
// product with a table of powers of five for the others, std::from_chars for the cases that this leaves
// undecided. Sources: [Clinger 1990] for the exact case; [Lemire 2021], sections 4-6, for the product.
#include "palmette/matrix/numbers.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

using Wide = unsigned __int128;

constexpr int smallest_power = -342;
constexpr int largest_power = 308;

/// The upper 128 bits of 5^q, highest bit set.
struct PowerOfFive {
  std::uint64_t high;
  std::uint64_t low;
};
using PowerTable = std::array<PowerOfFive, largest_power - smallest_power + 1>;

constexpr int big_words = 18;
using BigNumber = std::array<std::uint64_t, big_words>;  // least significant word first

PowerOfFive upper_bits(const BigNumber& number) {
  int top = big_words - 1;
  while (number[top] == 0) --top;
  const auto word = [&](int index) { return index >= 0 ? number[index] : 0; };
  const int shift = std::countl_zero(number[top]);
  if (shift == 0) return {word(top), word(top - 1)};
  return {word(top) << shift | word(top - 1) >> (64 - shift),
          word(top - 1) << shift | word(top - 2) >> (64 - shift)};
}

void multiply_by_five(BigNumber& number) {
  Wide carry = 0;
  for (std::uint64_t& word : number) {
    carry += static_cast<Wide>(word) * 5;
    word = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

void divide_by_five(BigNumber& number) {
  Wide remainder = 0;
  for (int index = big_words - 1; index >= 0; --index) {
    remainder = remainder << 64 | number[index];
    number[index] = static_cast<std::uint64_t>(remainder / 5);
    remainder %= 5;
  }
}

/// Positive powers are cut off; reciprocals that are needed exactly (5^-q < 2⁶⁴) are rounded up, others cut
/// off.
PowerTable make_power_table() {
  PowerTable table;
  BigNumber number{1};
  for (int power = 0; power <= largest_power; ++power, multiply_by_five(number))
    table[power - smallest_power] = upper_bits(number);
  number = {};
  number[big_words - 1] = 1;  // 2^1088; repeated division with a floor gives the floor of the whole quotient
  for (int power = -1; power >= smallest_power; --power) {
    divide_by_five(number);
    PowerOfFive& entry = table[power - smallest_power];
    entry = upper_bits(number);
    if (power >= -27 && ++entry.low == 0) ++entry.high;
  }
  return table;
}

const PowerOfFive& power_of_five(int power) {
  static const PowerTable table = make_power_table();
  return table[power - smallest_power];
}

/// False if the product does not decide the rounding or the result is not a normal number.
bool round_product(std::uint64_t mantissa, int power, double& result) {
  const int shift = std::countl_zero(mantissa);
  mantissa <<= shift;
  const PowerOfFive& five = power_of_five(power);
  Wide product = static_cast<Wide>(mantissa) * five.high;
  auto high = static_cast<std::uint64_t>(product >> 64);
  auto low = static_cast<std::uint64_t>(product);
  if ((high & 0x1FF) == 0x1FF) {  // the part below could still carry into the 55 bits that are used
    const auto second = static_cast<std::uint64_t>(static_cast<Wide>(mantissa) * five.low >> 64);
    low += second;
    if (low < second) ++high;
    if (low == ~std::uint64_t{0} && (power < -27 || power > 55)) return false;
  }
  const int upper = static_cast<int>(high >> 63);
  std::uint64_t bits = high >> (upper + 9);
  // ⌊power · log2(10)⌋ + 63 for the whole range, plus the bias of the exponent
  const int exponent = ((217706 * power) >> 16) + 63 + upper - shift + 1023;
  if (exponent <= 0 || exponent >= 2046) return false;
  const bool may_be_half_way = low <= 1 && power >= -4 && power <= 23 && (bits & 3) == 1;
  if (may_be_half_way && bits << (upper + 9) == high) bits &= ~std::uint64_t{1};
  bits = (bits + (bits & 1)) >> 1;
  // A carry out of the 53 bits is absorbed by the exponent field.
  const std::uint64_t pattern =
      bits - (std::uint64_t{1} << 52) + (static_cast<std::uint64_t>(exponent) << 52);
  result = std::bit_cast<double>(pattern);
  return true;
}

/// The standard library handles subnormals, numbers of more than 19 digits, and the very few undecided
/// products.
double by_standard_library(const Decimal& number) {
  std::string text;
  std::int64_t exponent = number.exponent;
  for (const char* digit = number.digits; digit < number.digits_end; ++digit)
    if (*digit != '.' && !(text.empty() && *digit == '0')) text.push_back(*digit);
  if (text.empty()) return 0;
  const std::int64_t magnitude = exponent + static_cast<std::int64_t>(text.size());  // value < 10^magnitude
  if (magnitude > 310) return infinity;
  if (magnitude < -330) return 0;
  text.push_back('e');
  text += std::to_string(exponent);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range)
    return magnitude > 0 ? infinity : 0;
  return value;
}

double unsigned_to_double(const Decimal& number) {
  static constexpr double exact_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (number.many_digits) return by_standard_library(number);
  const int power = number.exponent;
  if (number.mantissa <= std::uint64_t{1} << 53) {
    const auto exact = static_cast<double>(number.mantissa);
    if (power >= 0 && power <= 22) return exact * exact_powers[power];
    if (power < 0 && power >= -22) return exact / exact_powers[-power];
    if (number.mantissa == 0) return 0;
  }
  double result = 0;
  if (power >= smallest_power && power <= largest_power && round_product(number.mantissa, power, result))
    return result;
  return by_standard_library(number);
}

}  // namespace

double to_double(const Decimal& number) {
  const double magnitude = unsigned_to_double(number);
  return number.negative ? -magnitude : magnitude;
}

}  // namespace palmette
