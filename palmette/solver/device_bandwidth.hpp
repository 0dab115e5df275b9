// Inside `solver`: how fast the memory of a device is, measured on it.
#pragma once

#include "palmette/device/device.hpp"

namespace palmette {

/// The rate at which a device copies within its memory, bytes read and bytes written, in 10⁹ bytes/s: the
/// best of five. 0 for the emulated device, whose time says nothing about a GPU, and where there is no room
/// for two arrays of this size.
/// @param array_bytes  much more than a GPU's cache holds
/// @cost  two arrays on the device, and ten times their bytes moved; they are given back
double measured_device_gbs(const std::shared_ptr<Device>& device, std::size_t array_bytes = 128 << 20);

}  // namespace palmette
