// Part of the door of `factorize`: measures what plan_offload needs to know of a device.
#pragma once

#include <memory>
#include <vector>

#include "palmette/device/device.hpp"
#include "palmette/factorize/offload_model.hpp"

namespace palmette {

struct OffloadMeasurement {
  std::vector<double> sides = {32, 64, 128, 256, 512, 1024};  ///< of square products
  double seconds_each = 0.02;  ///< a figure is the fastest of the calls that fit into this time, at least two
};

/// The figures of this device beside a core of this host, in double precision.
///
/// The bus: time over bytes of copies both ways, fitted to a latency and a rate. Products: one call with its
/// launch and a copy of one entry that waits for it; the time of the smallest product, less the copy, is
/// taken for the launch. The other operations: their rates over that of a product at the same side, at the
/// largest side. On the emulated device the figures are those of the emulator, and say so.
/// @throws DeviceError if there are no dense operations on the device; MemoryError
/// @cost  some seconds; six matrices of the largest side, on both places
OffloadModel measure_offload(const std::shared_ptr<Device>& device, const OffloadMeasurement& options = {});

}  // namespace palmette
