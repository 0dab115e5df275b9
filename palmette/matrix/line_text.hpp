// Inside `matrix`: small helpers on one line of text, for headers and for messages about wrong lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "palmette/matrix/numbers.hpp"

namespace palmette {

inline bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

/// Words of a line, separated by blanks and tabs.
std::vector<std::string_view> words_of(std::string_view line);
std::string lower_case(std::string_view text);
/// The text in quotes, cut to a length that fits into a message, unprintable bytes replaced.
std::string quoted(std::string_view text);

enum class IntegerStatus { ok, malformed, too_large };
/// A whole word as an integer, with an optional sign; too_large if it does not fit in 63 bits.
IntegerStatus parse_integer(std::string_view word, std::int64_t& value);

enum class RealStatus { ok, malformed, not_finite };
/// A whole word as a double; not_finite for NaN, Inf and numbers beyond the largest double.
RealStatus parse_real(std::string_view word, double& value, NumberStyle style = NumberStyle::plain);

}  // namespace palmette
