// Checks of vectors that lie on a device, and a copy of b where x would overwrite it.
#pragma once

#include <memory>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// Waits for the request's stream, then checks.
/// @param device  that holds the factor; null: the host does
/// @throws UsageError if there is no device, if b or x does not lie on it, or for an entry of b that is not
///   finite; DimensionError as check_right_hand_sides
template <class T>
void check_vectors_on(const std::shared_ptr<Device>& device, index_t n, OnDevice<const T> b, OnDevice<T> x,
                      const SolveRequest& request);

/// The part of it that concerns memory.
template <class T>
void check_places_on(const std::shared_ptr<Device>& device, OnDevice<const T> b, OnDevice<const T> x);

/// A copy of columns on their device, or nothing.
template <class T>
struct CopyThere {
  DeviceArray<T> values;
  index_t rows = 0;

  OnDevice<const T> or_else(OnDevice<const T> given) const {
    if (values.size() == 0) return given;
    return OnDevice<const T>(DenseView<const T>{values.data(), rows, given.cols(), rows});
  }
};

/// A copy of b if x overlaps its memory, otherwise nothing.
template <class T>
CopyThere<T> copy_if_overlapping(const std::shared_ptr<Device>& device, OnDevice<const T> b, OnDevice<T> x);

}  // namespace palmette
