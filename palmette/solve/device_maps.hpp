// Inside `solve`: the maps of vectors in the memory of a device, and vectors on their way there and back.
#pragma once

#include "palmette/solve/core.hpp"

namespace palmette::solve_detail {

/// Uploads the maps of a stage and lets it point to them. Maps with the same entries share one array.
/// @param n  length of the maps
template <class T>
void move_maps(Stage<T>& stage, index_t n, const std::shared_ptr<Device>& device);

/// Bytes of the uploaded maps, given those of the host. @param num_scales  different arrays of scales
offset_t predicted_map_bytes(const Permutation& row, const Permutation& column, int num_scales);

/// into ← in, mapped, on the device; and back. @param rows  n × stride on the device
template <class T>
void load_rows(Device& device, const Reader<T>& in, RhsRows<T> into, index_t n);
template <class T>
void store_rows(Device& device, const Writer<T>& out, RhsRows<const T> from, index_t n);

}  // namespace palmette::solve_detail
