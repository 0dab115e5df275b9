// How many seeds a test tries.
#pragma once

#include <cstdlib>

namespace palmette::testing {

/// PALMETTE_SEEDS sets another number: the long mode takes 20,000.
inline int num_seeds(int usual) {
  const char* const text = std::getenv("PALMETTE_SEEDS");
  return text != nullptr ? std::atoi(text) : usual;
}

}  // namespace palmette::testing
