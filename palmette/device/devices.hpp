// Part of the door of `device`: a device with its memory, whatever makes it: the emulator, CUDA or HIP.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/device/emulator.hpp"
#include "palmette/device/kernel_call.hpp"
#include "palmette/device/vectors.hpp"

namespace palmette {

struct DeviceInfo {
  std::string kind;          ///< "emulated", "cuda" or "hip"
  int index = 0;             ///< among the devices of its kind
  std::string name;          ///< as its maker calls it
  offset_t memory_bytes = 0;  ///< that may be in use at a time
  int multiprocessors = 0;   ///< blocks run side by side on so many; of the emulated device resident blocks
  double memory_gbs = 0;     ///< by its clock and width, 10⁹ bytes/s, not measured; 0: no figure of a GPU

  /// "emulated:0"
  std::string address() const { return kind + ":" + std::to_string(index); }
};

/// What crossed the bus, and what was started.
struct DeviceCounts {
  offset_t bytes_in = 0;   ///< from host to device
  offset_t bytes_out = 0;
  offset_t launches = 0;

  DeviceCounts operator-(const DeviceCounts& before) const {
    return {bytes_in - before.bytes_in, bytes_out - before.bytes_out, launches - before.launches};
  }
};

/// Calls take effect in the order in which they are made; copy_out returns when all before it have.
class Device {
 public:
  explicit Device(DeviceInfo info) : info_(std::move(info)) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }
  /// A budget: from now on no more may be in use. Before anything is put there.
  void limit_memory(offset_t bytes);
  /// Since the device was opened.
  DeviceCounts counts() const { return {bytes_in_.load(), bytes_out_.load(), launches_.load()}; }

  /// @throws MemoryError naming the bytes asked for if there is not enough memory
  void* allocate(std::size_t bytes);
  /// @param bytes  as they were asked for
  void release(void* memory, std::size_t bytes) noexcept;
  /// Memory of this device that something else allocates, as its network does, is in use from now on.
  /// @throws MemoryError as allocate
  void claim(std::size_t bytes);
  void unclaim(std::size_t bytes) noexcept { bytes_in_use_ -= static_cast<offset_t>(bytes); }
  offset_t bytes_in_use() const { return bytes_in_use_.load(); }
  void copy_in(void* to, const void* from, std::size_t bytes);
  void copy_out(void* to, const void* from, std::size_t bytes);
  virtual void clear(void* memory, std::size_t bytes) = 0;
  /// Within the device.
  virtual void copy_there(void* to, const void* from, std::size_t bytes) = 0;
  /// Returns when all calls before it have taken effect.
  virtual void finish() = 0;
  /// Whether kernels of this device can work in the memory from `first` on, whoever asked for it.
  virtual bool holds(const void* first, std::size_t bytes) const = 0;
  /// Later calls come after all work that was given to this stream of CUDA or HIP so far. The emulated device
  /// has none.
  virtual void wait_for_stream(void* stream) = 0;
  /// From now on kernels of this device may load from and store to the memory of the other one, which is of
  /// the same kind. @throws DeviceError if they cannot
  virtual void reach(const Device& other) = 0;
  /// Whether kernels of this device and of others can use managed memory at the same time.
  virtual bool shares_managed_memory() const { return false; }
  /// Managed memory: one address for all devices and the host, pages that go where they are used. It does not
  /// count as memory of this device. @returns null if there is not enough, or none at all
  virtual void* allocate_managed(std::size_t) { return nullptr; }
  virtual void release_managed(void*) noexcept {}
  /// @param shape  0 blocks: as many as the device keeps resident
  /// @throws DeviceError if the kernel fails, saying how
  void launch(const device::KernelCall& call, device::LaunchShape shape);
  /// A kernel was started by a world, together with those of other devices.
  void count_launch() { ++launches_; }
  /// The shape with the blocks and threads that a launch has if they are left open.
  device::LaunchShape fitted_shape(const device::KernelCall& call, const device::LaunchShape& shape) const {
    return shape.blocks == 0 ? resident_shape(call, shape) : shape;
  }

 protected:
  /// @returns null if there is not enough memory
  virtual void* do_allocate(std::size_t bytes) = 0;
  virtual void do_release(void* memory) noexcept = 0;
  virtual void do_copy_in(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_copy_out(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_launch(const device::KernelCall& call, const device::LaunchShape& shape) = 0;
  /// The blocks and threads of a launch that leaves them open. @param wanted  its shared memory
  virtual device::LaunchShape resident_shape(const device::KernelCall& call,
                                             const device::LaunchShape& wanted) const = 0;

 private:
  [[noreturn]] void throw_too_little(std::size_t wanted, offset_t in_use) const;

  DeviceInfo info_;
  std::atomic<offset_t> bytes_in_use_{0}, bytes_in_{0}, bytes_out_{0}, launches_{0};
};

/// A kind of device, and why this build or machine has none of it.
struct DeviceKindInfo {
  std::string_view name;
  std::string unavailable;  ///< empty if there is one
  std::string_view summary;
  bool available() const { return unavailable.empty(); }
};
/// Every kind, whether it can be opened here or not.
std::vector<DeviceKindInfo> device_kind_list();

/// The first GPU of this machine; null: there is none, and `why_none` says why.
struct FoundGpu {
  std::shared_ptr<Device> device;
  std::string why_none;
};
/// @param most_bytes  a budget of its memory; 0: all
FoundGpu find_gpu(offset_t most_bytes = 0);
/// Of a device's name, the bytes behind an @; 0: there are none. @throws UsageError
offset_t memory_budget(std::string_view name);

/// @param address  "emulated", "cuda", "hip", or one of several: "cuda:1"; with a budget of its memory:
///   "cuda@16e9"; "none": null, the host
/// @throws UsageError for an unknown kind or index; DeviceError if there is no such device here, saying why
std::shared_ptr<Device> open_device(std::string_view address);

/// How an emulated device runs kernels.
struct EmulatedDeviceOptions {
  int index = 0;
  int blocks = 4;                  ///< of a launch
  int threads = 64;                ///< of a block
  offset_t memory_bytes = 0;       ///< 0: all of the emulator's
  double memory_gbs = 0;           ///< what predictions take for it; 0: they do not take it for a GPU
  emulate::Options emulator = {.delay_stores = false, .find_races = false, .switch_chance = 0};
};
/// A device whose kernels run on the CPU, one thread after the other, for tests and for learning. Whatever
/// the emulator reports about a kernel is thrown as DeviceError.
std::shared_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options = {});

/// Columns in the memory of a device, which the host cannot read: what DenseView is in the host's.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(DenseView<T> addresses) : addresses_(addresses) {}

  T* data() const { return addresses_.data; }
  index_t rows() const { return addresses_.rows; }
  index_t cols() const { return addresses_.cols; }
  offset_t ld() const { return addresses_.ld; }
  OnDevice columns(index_t first, index_t count) const { return OnDevice(addresses_.columns(first, count)); }
  DenseView<T> addresses() const { return addresses_; }
  operator OnDevice<const T>() const { return OnDevice<const T>(DenseView<const T>(addresses_)); }

 private:
  DenseView<T> addresses_;
};

/// to ← from: one copy where the columns lie together, else one for each.
template <class T>
void copy_to_device(Device& device, DenseView<const T> from, OnDevice<T> to) {
  const std::size_t bytes = static_cast<std::size_t>(from.rows) * sizeof(T);
  if (from.ld == from.rows && to.ld() == from.rows)
    return device.copy_in(to.data(), from.data, bytes * static_cast<std::size_t>(from.cols));
  for (index_t j = 0; j < from.cols; ++j) device.copy_in(to.addresses().column(j), from.column(j), bytes);
}
template <class T>
void copy_from_device(Device& device, OnDevice<const T> from, DenseView<T> to) {
  const std::size_t bytes = static_cast<std::size_t>(to.rows) * sizeof(T);
  if (to.ld == to.rows && from.ld() == to.rows)
    return device.copy_out(to.data, from.data(), bytes * static_cast<std::size_t>(to.cols));
  for (index_t j = 0; j < to.cols; ++j) device.copy_out(to.column(j), from.addresses().column(j), bytes);
}

/// An array in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::shared_ptr<Device> device, std::size_t size)
      : device_(std::move(device)), size_(size) {
    if (size > 0) data_ = static_cast<T*>(device_->allocate(size * sizeof(T)));
  }
  DeviceArray(std::shared_ptr<Device> device, const std::vector<T>& values)
      : DeviceArray(std::move(device), values.size()) {
    if (size_ > 0) device_->copy_in(data_, values.data(), bytes());
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) device_->release(data_, bytes());
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  void clear() {
    if (size_ > 0) device_->clear(data_, bytes());
  }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  std::shared_ptr<Device> device_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace palmette
