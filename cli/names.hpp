// Words and numbers of the command line, read strictly; the error for a wrong word suggests the nearest right
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palmette::cli {

/// The candidate nearest to `text` in spelling; empty if none is near enough.
std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

/// " (did you mean 'x'?)", or nothing if no candidate is near.
std::string suggestion(std::string_view text, const std::vector<std::string>& candidates);

/// "a, b, c".
std::string joined(const std::vector<std::string>& names);
/// "a|b|c", as help shows the values of an option.
std::string bars(const std::vector<std::string>& names);

/// Place of `text` in `names`. @throws UsageError naming the option, the nearest name and all names
std::size_t choose_name(std::string_view option, const std::string& text,
                        const std::vector<std::string>& names);

/// The names in one of the library's lists, for choose_name and for help.
template <class Choices>
std::vector<std::string> names_of(const Choices& choices) {
  std::vector<std::string> names;
  for (const auto choice : choices) names.emplace_back(name_of(choice));
  return names;
}

/// The element of `choices` whose name is `text`. @throws UsageError as choose_name
template <class Choices>
auto choose_of(std::string_view option, const std::string& text, const Choices& choices) {
  return choices[choose_name(option, text, names_of(choices))];
}

/// The whole text as a decimal integer. @throws UsageError naming the option, the text and the range
std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t smallest,
                           std::int64_t largest);

/// The whole text as a finite number. @throws UsageError
double parse_real(std::string_view option, std::string_view text);

/// A number of bytes, at least 1, with K, M, G or T for powers of 1000: "1.5G". @throws UsageError
std::int64_t parse_bytes(std::string_view option, std::string_view text);

/// "1,50" as integers. @throws UsageError
std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         std::int64_t smallest, std::int64_t largest);

}  // namespace palmette::cli
