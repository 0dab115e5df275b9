// Part of the door of `device`: one device of each rank, whose kernels send to each other by themselves.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "palmette/device/device_world.hpp"

namespace palmette {

/// What ranks need to join one network: the first rank makes it, any transport brings it to the others.
using NetworkId = std::array<std::byte, 128>;

/// Devices of ranks 0 … num_ranks − 1, one each. Kernels put to the memory that this network allocated, which
/// has an address of its own on each rank. NVSHMEM, or devices of the emulator in one process. All ranks must
/// call everything that is not const, in the same order.
class DeviceNetwork {
 public:
  virtual ~DeviceNetwork() = default;
  DeviceNetwork(const DeviceNetwork&) = delete;
  DeviceNetwork& operator=(const DeviceNetwork&) = delete;

  /// Symmetric memory that this rank will allocate counts as memory of its device from now on, until the
  /// result is gone. It needs no other rank, so that ranks can agree that all have room before they wait for
  /// each other. @throws MemoryError
  std::shared_ptr<void> claim(std::size_t bytes) const;
  /// Symmetric memory, zero at first; the same size on all ranks. 0 bytes: null. It must be released in the
  /// same order on all ranks. @param claimed  of as many bytes; null: it is claimed here.
  /// @throws MemoryError; UsageError for a claim of another size or network
  std::shared_ptr<void> allocate(std::size_t bytes, std::shared_ptr<void> claimed = nullptr);
  /// Of symmetric memory, on this rank.
  offset_t bytes_in_use() const { return *in_use_; }
  /// Begins a kernel on this rank's device; it runs side by side with those that the other ranks begin.
  /// @param call  its argument must live until the kernel has ended
  /// @param shape  0 blocks: as many as the device keeps resident
  /// @throws DeviceError
  virtual void begin(const device::KernelCall& call, const device::LaunchShape& shape) = 0;
  /// Whether the kernels of all ranks that were begun last have ended, and all that they put has arrived.
  /// Returns at once. @throws DeviceError if a kernel failed, saying how
  virtual bool ended() = 0;
  /// What the kernels of all ranks sent, since the network was made. Only the emulator counts it.
  virtual WorldCounts counts() const { return {}; }

 protected:
  explicit DeviceNetwork(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  const std::shared_ptr<Device>& device() const { return device_; }
  virtual std::shared_ptr<void> do_allocate(std::size_t bytes) = 0;

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<std::atomic<offset_t>> in_use_ = std::make_shared<std::atomic<offset_t>>(0);
};

/// @throws DeviceError if devices of this kind have no network in this build, saying why
NetworkId make_network_id(const Device& device);
/// All ranks of the network must call it, each with its device.
/// @throws DeviceError if these devices have no network; UsageError if emulated devices are not numbered as
///   their ranks
std::shared_ptr<DeviceNetwork> join_network(const std::shared_ptr<Device>& device, const NetworkId& id,
                                            int rank, int num_ranks);

/// The networks of all ranks of this process, for tests. @param devices  by rank, with its number
std::vector<std::shared_ptr<DeviceNetwork>> make_emulated_networks(
    const std::vector<std::shared_ptr<Device>>& devices, const EmulatedDeviceOptions& options = {},
    Launcher launcher = {});

}  // namespace palmette
