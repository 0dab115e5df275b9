// How many seeds a test tries.
#pragma once

#include <cstdlib>
#include <type_traits>

namespace palmette::testing {

/// PALMETTE_SEEDS sets another number: the long mode takes 20,000.
inline int num_seeds(int usual) {
  const char* const text = std::getenv("PALMETTE_SEEDS");
  return text != nullptr ? std::atoi(text) : usual;
}

/// Of a test of four scalar types: double takes the usual number, the others a fifth, in the long mode as
/// many.
template <class T>
int num_seeds_of(int usual) {
  return num_seeds(std::is_same_v<T, double> ? usual : usual / 5);
}

}  // namespace palmette::testing
