// Launches of kernels in the emulator. launches.cpp and faults/launches_with_faults.cpp alone are compiled
// with the hooks of the thread sanitizer, so a kernel may be called nowhere else.
#pragma once

#include <functional>
#include <utility>

#include "palmette/device/emulator.hpp"
#include "palmette/device/kernel_call.hpp"

namespace palmette::device {

/// The launch of `kernel`, which each thread of the device calls once, in this shape.
inline emulate::Launch launch_of(int device, const LaunchShape& shape, std::function<void()> kernel) {
  return {device, shape.blocks, shape.threads, static_cast<std::size_t>(shape.shared_bytes),
          std::move(kernel)};
}

emulate::Launch emulated_launch(const KernelCall& call, const LaunchShape& shape);

}  // namespace palmette::device
