// A device for tests: memory of the host under a device's interface, with allocations that fail and copies
// that wait when a test says so.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "palmette/device/device.hpp"

namespace palmette::testing {

class PlainDevice final : public Device {
 public:
  explicit PlainDevice(offset_t memory_bytes = offset_t(1) << 40)
      : Device({"plain", 0, "memory of the host", memory_bytes, 1}) {}

  std::atomic<long> allocations{0};
  std::atomic<long> failing_allocation{-1};        ///< number of the only one that fails; −1: none
  std::atomic<long> all_fail_from{-1};             ///< number of the first of those that all fail; −1: none
  std::function<void()> before_copy_in;            ///< called in the thread of the device

  void clear(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
  void finish() override {}
  void copy_there(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  bool holds(const void*, std::size_t) const override { return true; }
  void wait_for_stream(void*) override {}
  void reach(const Device&) override {}

 protected:
  void* do_allocate(std::size_t bytes) override {
    const long number = allocations++;
    const long from = all_fail_from.load();
    if (number == failing_allocation.load() || (from >= 0 && number >= from)) return nullptr;
    return std::malloc(bytes);
  }
  void do_release(void* memory) noexcept override { std::free(memory); }
  void do_copy_in(void* to, const void* from, std::size_t bytes) override {
    if (before_copy_in) before_copy_in();
    std::memcpy(to, from, bytes);
  }
  void do_copy_out(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void do_launch(const device::KernelCall&, const device::LaunchShape&) override {
    throw DeviceError("a plain device runs no kernels");
  }
  device::LaunchShape resident_shape(const device::KernelCall&,
                                     const device::LaunchShape& wanted) const override {
    return wanted;
  }
};

}  // namespace palmette::testing
