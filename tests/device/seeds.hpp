// How many seeds a test of the emulator tries.
#pragma once

#include <cstdlib>

namespace palmette::sweeps {

/// PALMETTE_SEEDS sets another number: the long mode takes more.
inline int num_seeds(int short_mode) {
  const char* const text = std::getenv("PALMETTE_SEEDS");
  return text != nullptr ? std::atoi(text) : short_mode;
}

}  // namespace palmette::sweeps
