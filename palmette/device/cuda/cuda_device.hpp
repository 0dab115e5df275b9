// Devices of CUDA, without its headers.
#pragma once

#include <memory>
#include <string>

#include "palmette/device/devices.hpp"

namespace palmette::device {

/// Why no GPU can be opened here; empty if one can.
std::string why_no_cuda();
/// @throws UsageError naming the GPUs that there are; DeviceError
std::shared_ptr<Device> make_cuda_device(int index);

}  // namespace palmette::device
