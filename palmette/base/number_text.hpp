// Numbers in notes, failures and errors.
#pragma once

#include <cstdio>
#include <string>

namespace palmette {

/// Two digits, as in 3.7e-16.
inline std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", value);
  return text;
}

/// Three digits, or whole seconds, as in "0.25 s" or "3600 s".
inline std::string text_of_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), seconds < 100 ? "%.3g s" : "%.0f s", seconds);
  return text;
}

}  // namespace palmette
