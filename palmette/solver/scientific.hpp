// Numbers in notes and failures.
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

}  // namespace palmette
