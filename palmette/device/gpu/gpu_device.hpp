// Devices of CUDA and of HIP, without their headers.
#pragma once

#include <memory>
#include <string>

#include "palmette/device/device_network.hpp"

namespace palmette::device {

/// Why no GPU can be opened here; empty if one can.
std::string why_no_cuda();
std::string why_no_hip();
/// @throws UsageError naming the GPUs that there are; DeviceError
std::shared_ptr<Device> make_cuda_device(int index);
std::shared_ptr<Device> make_hip_device(int index);
/// make_network_id and join_network with NVSHMEM: only in builds with it.
NetworkId make_nvshmem_id();
std::shared_ptr<DeviceNetwork> join_nvshmem(const std::shared_ptr<Device>& device, const NetworkId& id,
                                            int rank, int num_ranks);

}  // namespace palmette::device
