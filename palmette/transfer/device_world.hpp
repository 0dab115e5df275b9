// Inside `transfer`: threads as devices. Each has an image of shared memory, stores into its own and its
// peers', and records what it does.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {

/// An array in shared memory.
template <class T>
struct SharedArray {
  std::uint64_t begin = 0;
  std::size_t count = 0;
  std::uint64_t address(std::size_t k) const { return begin + k * sizeof(T); }
};

class DeviceWorld;

/// What one device does in one phase.
class KernelRecorder {
 public:
  KernelRecorder(DeviceWorld& world, int device, TracedKernel& kernel)
      : world_(world), device_(device), kernel_(kernel) {}
  int device() const { return device_; }
  int devices() const;
  DeviceSet others() const { return static_cast<DeviceSet>(everyone(devices()) & ~only(device_)); }
  /// What follows is done by this thread of the kernel.
  void thread(std::size_t number) {
    thread_ = static_cast<std::uint32_t>(number);
    instruction_ = 0;
  }
  /// Local memory that is read or written.
  void work(double bytes) { kernel_.work_bytes += bytes; }
  /// Of what this device itself stored, or of what never changes.
  template <class T>
  T read(const SharedArray<T>& array, std::size_t k) const;
  /// Of what another device may have stored.
  template <class T>
  T load(const SharedArray<T>& array, std::size_t k);
  template <class T>
  void store(const SharedArray<T>& array, std::size_t k, T value, DeviceSet to);
  template <class T>
  void copy(const SharedArray<T>& array, std::size_t begin, std::size_t end, DeviceSet to) {
    kernel_.copies.push_back({array.address(begin), array.address(end), to});
  }

 private:
  DeviceWorld& world_;
  int device_;
  TracedKernel& kernel_;
  std::uint32_t thread_ = 0, instruction_ = 0;
};

class DeviceWorld {
 public:
  DeviceWorld(std::string name, int devices);
  /// Begins at a page of its own. All arrays come before the first phase.
  template <class T>
  SharedArray<T> array(std::size_t count) {
    const SharedArray<T> made{trace_.memory_bytes, count};
    const std::uint64_t end = made.address(count);
    trace_.memory_bytes = (end + 65535) / 65536 * 65536;
    for (auto& image : images_) image.resize(trace_.memory_bytes);
    return made;
  }
  template <class T>
  void fill(const SharedArray<T>& array, const std::vector<T>& values) {
    for (auto& image : images_)
      std::memcpy(image.data() + array.begin, values.data(), values.size() * sizeof(T));
  }
  /// Every device runs the kernel on a thread of its own; then all have what was stored.
  void phase(const std::function<void(KernelRecorder& kernel)>& kernel);
  template <class T>
  T value(int device, const SharedArray<T>& array, std::size_t k) const {
    T found;
    std::memcpy(&found, images_[device].data() + array.address(k), sizeof found);
    return found;
  }
  int devices() const { return trace_.devices; }
  /// The trace, ordered; the world is then empty.
  StoreTrace take_trace();

 private:
  friend class KernelRecorder;
  StoreTrace trace_;
  std::vector<std::vector<std::uint8_t>> images_;
};

inline int KernelRecorder::devices() const {
  return world_.devices();
}

template <class T>
T KernelRecorder::read(const SharedArray<T>& array, std::size_t k) const {
  return world_.value(device_, array, k);
}

template <class T>
T KernelRecorder::load(const SharedArray<T>& array, std::size_t k) {
  Access one;
  one.kind = AccessKind::load;
  one.address = array.address(k);
  one.bytes = sizeof(T);
  one.thread = thread_;
  one.instruction = instruction_++;
  kernel_.accesses.push_back(one);
  return read(array, k);
}

template <class T>
void KernelRecorder::store(const SharedArray<T>& array, std::size_t k, T value, DeviceSet to) {
  Access one;
  one.address = array.address(k);
  std::memcpy(&one.value, &value, sizeof value);
  one.bytes = sizeof(T);
  one.thread = thread_;
  one.instruction = instruction_++;
  one.to = static_cast<DeviceSet>(to & ~only(device_));
  kernel_.accesses.push_back(one);
  for (int other = 0; other < devices(); ++other)
    if (other == device_ || has(to, other))
      std::memcpy(world_.images_[other].data() + one.address, &value, sizeof value);
}

}  // namespace palmette::transfer
