// Nearest names by edit distance, and strict numbers by from_chars.
#include "cli/names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "palmette/base/base.hpp"

namespace palmette::cli {
namespace {

/// The number of insertions, deletions, replacements and swaps of adjacent letters that turn one word into
/// the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), row(to.size() + 1), next(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      next[j + 1] = std::min({row[j + 1] + 1, next[j] + 1, row[j] + (from[i] == to[j] ? 0 : 1)});
      if (i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
  std::string nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    const bool is_beginning = text.size() >= 3 && candidate.compare(0, text.size(), text) == 0;
    const std::size_t distance = is_beginning ? 1 : edit_distance(text, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return least <= std::max<std::size_t>(1, text.size() / 3) ? nearest : std::string();
}

std::string suggestion(std::string_view text, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(text, candidates);
  return nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string bars(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "|"));
}

std::size_t choose_name(std::string_view option, const std::string& text,
                        const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw UsageError(
        fmt::format("{} knows no '{}'{}; it takes {}", option, text, suggestion(text, names), joined(names)));
  return static_cast<std::size_t>(found - names.begin());
}

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t smallest,
                           std::int64_t largest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < smallest || value > largest)
    throw UsageError(
        fmt::format("{} takes an integer from {} to {}, not '{}'", option, smallest, largest, text));
  return value;
}

double parse_real(std::string_view option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw UsageError(fmt::format("{} takes a number, not '{}'", option, text));
  return value;
}

std::int64_t parse_bytes(std::string_view option, std::string_view text) {
  constexpr std::string_view units = "KMGT";
  double bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::size_t power = unit.size() == 1 ? units.find(unit[0]) : std::string_view::npos;
  const bool is_known = unit.empty() || power != std::string_view::npos;
  for (std::size_t k = 0; !unit.empty() && is_known && k <= power; ++k) bytes *= 1000;
  if (error != std::errc() || !is_known || !(bytes >= 1 && bytes < 9e18))
    throw UsageError(fmt::format("{} takes a number of bytes such as 500M or 2G, not '{}'", option, text));
  return static_cast<std::int64_t>(bytes);
}

std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         std::int64_t smallest, std::int64_t largest) {
  std::vector<std::int64_t> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_integer(option, text.substr(begin, end - begin), smallest, largest));
    begin = end + 1;
  }
  return values;
}

}  // namespace palmette::cli
