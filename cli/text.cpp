// Formats figures, wraps lines and aligns columns.
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace palmette::cli {
namespace {

/// Three significant digits without an exponent, for values from 1 to 999.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string format_seconds(double seconds) {
  if (!(seconds > 0)) return "0 s";
  if (seconds < 999.5e-9) return fmt::format("{} ns", three_digits(seconds * 1e9));
  if (seconds < 999.5e-6) return fmt::format("{} us", three_digits(seconds * 1e6));
  if (seconds < 999.5e-3) return fmt::format("{} ms", three_digits(seconds * 1e3));
  return fmt::format("{} s", three_digits(seconds));
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 6> units = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes)
                   : fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) digits.insert(place -= 3, ",");
  return digits;
}

std::string format_large(double count) {
  return std::abs(count) < 1e6 ? format_count(static_cast<std::int64_t>(count))
                               : fmt::format("{:.2e}", count);
}

std::string format_percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

std::string plural(std::int64_t count, std::string_view noun) {
  const std::string number = format_count(count);
  if (count == 1) return fmt::format("{} {}", number, noun);
  if (noun.back() == 'y') return fmt::format("{} {}ies", number, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", number, noun);
}

std::string_view scalar_name(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::float32: return ScalarTraits<float>::name;
    case ScalarType::float64: return ScalarTraits<double>::name;
    case ScalarType::complex64: return ScalarTraits<std::complex<float>>::name;
    case ScalarType::complex128: return ScalarTraits<std::complex<double>>::name;
  }
  return "";
}

std::string_view field_name(ScalarType scalar) {
  return scalar == ScalarType::float32 || scalar == ScalarType::float64 ? "real" : "complex";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string paragraph(std::string_view first, std::string_view text) {
  std::string result;
  for (const std::string& line : wrap(text, text_width - first.size()))
    result +=
        fmt::format("{}{}\n", result.empty() ? std::string(first) : std::string(first.size(), ' '), line);
  return result;
}

std::string TextTable::text(const std::vector<std::size_t>& left) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string result;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const bool is_left = std::find(left.begin(), left.end(), column) != left.end();
      line += is_left ? fmt::format("  {:<{}}", rows_[row][column], widths[column])
                      : fmt::format("  {:>{}}", rows_[row][column], widths[column]);
    }
    result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (row > 0) continue;
    for (const std::size_t width : widths) result += "  " + std::string(width, '-');
    result += "\n";
  }
  return result;
}

void FactList::add(std::string_view name, std::string_view value) {
  text_ += paragraph(fmt::format("  {:<{}}  ", name, name_width_), value);
}

}  // namespace palmette::cli
