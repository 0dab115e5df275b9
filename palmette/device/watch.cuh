// Waits with an end, of kernels on several devices.
#pragma once

#include "palmette/device/vocabulary.hpp"
#include "palmette/device/watch.hpp"

namespace palmette::device {

/// @param polls  looks in vain before this one
/// @returns whether the thread has waited long enough, or another one of this element has given up
PALMETTE_DEVICE bool patience_ends(const ElementWatch& watch, long long polls) {
  return polls >= watch.most_polls || gpu::load_relaxed<gpu::Scope::device>(&watch.status->gave_up) != 0;
}

/// @returns whether the value came, which an acquire has to follow; false as soon as a thread of this element
///   has given up
template <gpu::Scope s, class T>
PALMETTE_DEVICE bool comes_within(const ElementWatch& watch, const T* p, T v) {
  for (long long polls = 0; gpu::load_relaxed<s>(p) != v; ++polls) {
    if (patience_ends(watch, polls)) return false;
    gpu::pause();
  }
  return true;
}

/// @param what  the status word for what did not come
PALMETTE_DEVICE void give_up(const ElementWatch& watch, int* what, int number) {
  gpu::store_relaxed<gpu::Scope::device>(what, number + 1);
  gpu::store_relaxed<gpu::Scope::device>(&watch.status->gave_up, 1);
}

}  // namespace palmette::device
