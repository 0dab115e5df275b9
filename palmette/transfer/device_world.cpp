// Threads as devices.
#include "palmette/transfer/device_world.hpp"

namespace palmette::transfer {

DeviceWorld::DeviceWorld(std::string name, int devices) {
  if (devices < 1 || devices > most_devices)
    throw UsageError("an application runs on 1 to 16 devices, not " + std::to_string(devices));
  trace_.name = std::move(name);
  trace_.devices = devices;
  images_.resize(devices);
}

void DeviceWorld::phase(const std::function<void(KernelRecorder& kernel)>& kernel) {
  trace_.phases.emplace_back();
  auto& kernels = trace_.phases.back().kernels;
  kernels.resize(trace_.devices);
  ThreadTeam team(trace_.devices);
  team.share_parts(trace_.devices, [&](int device) {
    KernelRecorder recorder(*this, device, kernels[device]);
    kernel(recorder);
    order_by_warp(kernels[device]);
  });
}

StoreTrace DeviceWorld::take_trace() {
  return std::move(trace_);
}

}  // namespace palmette::transfer
