// Part of the door of `solver`: which grid and how many layers of devices a solve should have, by the prices
// of their kernels' programs.
#pragma once

#include <optional>
#include <vector>

#include "palmette/solve/solve.hpp"

namespace palmette {

/// A solve on so many devices.
struct DeviceLayoutQuestion {
  const SymbolicFactor& symbolic;
  index_t num_devices = 1;
  std::vector<index_t> layers = {1};  ///< those that do not divide the devices are left out
  WorldOptions of_world = {};         ///< trees and subtrees; grid and layers are found
  index_t num_rhs = 1;
  int scalar_bytes = 8;
  FactorKind kind = FactorKind::llt;
  offset_t most_bytes = 0;  ///< that the memory of a device holds; 0: enough
};

struct DeviceLayout {
  LayeredGrid devices;
  ElementsPrice price;
};

/// @param devices  as many as the question's
DeviceLayout priced_device_layout(const DeviceLayoutQuestion& question, const LayeredGrid& devices,
                                  const Cluster& cluster);

/// One column of devices for each number of layers, and all grids for the best two of these numbers, the
/// fastest first: those whose part of the factor fits into the memory of a device before all others, of
/// equals fewer layers, then more rows.
/// @throws UsageError if there are no devices, or no number of layers divides them
/// @cost  as price_elements for each
std::vector<DeviceLayout> ranked_device_layouts(const DeviceLayoutQuestion& question, const Cluster& cluster);

/// How several layers of devices work together by this method; by `automatic` they meet once.
LayeredMethod layered_method_of_devices(SolveMethod method);

/// Numbers of layers in which a method can use so many devices; empty if it needs several and there is one.
/// @throws UsageError if the method is not one of several devices
std::vector<index_t> device_layers(SolveMethod method, index_t num_devices);

/// Several devices like this one, with links like NVLink between all. @returns nothing if it tells no rate of
/// its memory (the emulated device)
std::optional<Cluster> cluster_of(const DeviceInfo& device, index_t num_devices);

}  // namespace palmette
