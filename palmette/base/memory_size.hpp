// How much memory the arrays of a product occupy.
#pragma once

#include <vector>

#include "palmette/base/scalars.hpp"

namespace palmette {

template <class Entry, class Allocator>
offset_t bytes_of(const std::vector<Entry, Allocator>& entries) {
  return static_cast<offset_t>(entries.size() * sizeof(Entry));
}

}  // namespace palmette
