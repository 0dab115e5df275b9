// Lists of choices that have names: how a name is found, and how a choice is shown that this build lacks.
#pragma once

#include <string>
#include <string_view>

#include "palmette/base/errors.hpp"

namespace palmette {

/// The one of `choices` that name_of calls `name`.
/// @param what  one of them, as the error calls it: "map"
/// @throws UsageError listing the names
template <class Choices>
auto choice_named(std::string_view what, std::string_view name, const Choices& choices) {
  std::string known;
  for (const auto choice : choices) {
    if (name_of(choice) == name) return choice;
    known += (known.empty() ? "" : ", ") + std::string(name_of(choice));
  }
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) + "'; choose one of " +
                   known);
}

/// "serial", or "serial (absent: why)" for what this build cannot run.
inline std::string name_and_reason(std::string_view name, std::string_view unavailable) {
  std::string text(name);
  if (!unavailable.empty()) text += " (absent: " + std::string(unavailable) + ")";
  return text;
}

}  // namespace palmette
