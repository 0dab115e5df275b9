// Words and single numbers; nothing here is on a fast path.
#include "palmette/matrix/line_text.hpp"

#include <charconv>
#include <cmath>

namespace palmette {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t place = 0;
  while (place < line.size()) {
    while (place < line.size() && is_blank(line[place])) ++place;
    const std::size_t begin = place;
    while (place < line.size() && !is_blank(line[place])) ++place;
    if (place > begin) words.push_back(line.substr(begin, place - begin));
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "\"";
  for (const char letter : text.substr(0, longest))
    result.push_back(letter >= ' ' && letter <= '~' ? letter : '?');
  result += text.size() > longest ? "…\"" : "\"";
  return result;
}

IntegerStatus parse_integer(std::string_view word, std::int64_t& value) {
  if (!word.empty() && word[0] == '+' && word.size() > 1 && word[1] != '-') word.remove_prefix(1);
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  if (result.ptr != word.data() + word.size() || word.empty()) return IntegerStatus::malformed;
  if (result.ec == std::errc::result_out_of_range) return IntegerStatus::too_large;
  return result.ec == std::errc() ? IntegerStatus::ok : IntegerStatus::malformed;
}

RealStatus parse_real(std::string_view word, double& value, NumberStyle style) {
  const std::string text = std::string(word) + std::string(number_padding + 1, '\0');
  Decimal number;
  const char* end = style == NumberStyle::plain ? scan_decimal(text.data(), number)
                                                : scan_decimal<NumberStyle::fortran>(text.data(), number);
  if (end != text.data() + word.size()) {
    std::string_view name = word;
    if (!name.empty() && (name[0] == '+' || name[0] == '-')) name.remove_prefix(1);
    const std::string lower = lower_case(name.substr(0, 8));
    const bool named = lower == "nan" || lower == "inf" || lower == "infinity";
    return named ? RealStatus::not_finite : RealStatus::malformed;
  }
  value = to_double(number);
  return std::isfinite(value) ? RealStatus::ok : RealStatus::not_finite;
}

}  // namespace palmette
