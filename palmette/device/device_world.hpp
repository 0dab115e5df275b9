// Part of the door of `device`: several devices whose kernels talk to each other.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "palmette/device/devices.hpp"

namespace palmette {

/// What the kernels of a world sent to other elements. Only the emulator counts it.
struct WorldCounts {
  offset_t puts = 0;
  offset_t put_bytes = 0;
  offset_t gets = 0;  ///< atomic loads from the memory of other elements
  offset_t get_bytes = 0;
  offset_t page_moves = 0;  ///< pages of managed memory that came to an element
};

/// A kernel on one element.
struct ElementLaunch {
  int element = 0;
  device::KernelCall call;
  device::LaunchShape shape;  ///< 0 blocks: as many as the device keeps resident
};

/// Devices as elements 0 … size − 1, which reach each other's memory by its address.
class DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;
  DeviceWorld(const DeviceWorld&) = delete;
  DeviceWorld& operator=(const DeviceWorld&) = delete;

  int size() const { return static_cast<int>(elements_.size()); }
  const std::shared_ptr<Device>& element(int number) const { return elements_[number]; }
  const std::vector<std::shared_ptr<Device>>& elements() const { return elements_; }
  /// Runs all launches side by side; returns when all have ended.
  /// @throws DeviceError if a kernel fails, saying how
  virtual void run(const std::vector<ElementLaunch>& launches) = 0;
  /// The blocks and threads of a launch that leaves them open: so many are resident at a time.
  virtual device::LaunchShape resident_shape(const ElementLaunch& launch) const = 0;
  /// Whether kernels may also send through a network, whose puts arrive late and in any order.
  virtual bool has_network() const = 0;
  /// Since the world was made.
  virtual WorldCounts counts() const = 0;
  /// Of all elements.
  DeviceCounts device_counts() const;
  /// Memory on every element: the addresses by element. Freed when the last owner of the result is gone.
  /// @throws MemoryError
  virtual std::shared_ptr<const std::vector<void*>> allocate(std::size_t bytes);
  /// Memory with one address for all elements, which host and kernels may use in turn.
  /// @throws MemoryError; DeviceError if this world has none
  virtual std::shared_ptr<void> allocate_managed(std::size_t bytes) = 0;

 protected:
  explicit DeviceWorld(std::vector<std::shared_ptr<Device>> elements) : elements_(std::move(elements)) {}

 private:
  std::vector<std::shared_ptr<Device>> elements_;
};

/// Memory of the same size on every element; others write to it and read from it.
template <class T>
class SymmetricArray {
 public:
  SymmetricArray() = default;
  /// @throws MemoryError
  SymmetricArray(DeviceWorld& world, std::size_t size)
      : parts_(size > 0 ? world.allocate(size * sizeof(T)) : nullptr), size_(size) {}
  T* data(int element) const { return parts_ ? static_cast<T*>((*parts_)[element]) : nullptr; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  std::shared_ptr<const std::vector<void*>> parts_;
  std::size_t size_ = 0;
};

/// Makes the emulator's launch of a kernel.
using Launcher = std::function<emulate::Launch(const device::KernelCall&, const device::LaunchShape&)>;
/// @param options   of each element; `index` is ignored
/// @param launcher  null: the kernels as they are
/// @throws UsageError if the emulator has fewer devices
std::shared_ptr<DeviceWorld> make_emulated_world(int size, const EmulatedDeviceOptions& options = {},
                                                 Launcher launcher = {});
/// Elements 0 … size − 1 of a kind of device; with a budget of the memory of each: "cuda@16e9".
/// @throws UsageError for "none" and "auto", which are no kinds, and if there are fewer; DeviceError if there
///   are none here, or they do not reach each other
std::shared_ptr<DeviceWorld> open_world(std::string_view kind, int size);

}  // namespace palmette
