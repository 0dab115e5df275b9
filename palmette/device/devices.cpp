// What devices of all kinds share: counts, addresses and the list of kinds.
#include "palmette/device/devices.hpp"

#include <algorithm>
#include <charconv>

#include "palmette/device/gpu/gpu_device.hpp"

namespace palmette {
namespace {

struct Address {
  std::string_view kind;
  int index = 0;
  offset_t most_bytes = 0;  ///< 0: all
};

/// Of KIND[:INDEX][@BYTES], the number behind @. @param text  out: without it
offset_t take_budget(std::string_view& text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return 0;
  const std::string_view number = text.substr(at + 1);
  double bytes = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), bytes);
  if (read.ec != std::errc() || read.ptr != number.data() + number.size() || !(bytes >= 1 && bytes < 1e18))
    throw UsageError("the device '" + std::string(text) +
                     "' has no number of bytes after the @; write, for example, cuda:0@16e9");
  text = text.substr(0, at);
  return static_cast<offset_t>(bytes);
}

Address read_address(std::string_view text) {
  const offset_t most_bytes = take_budget(text);
  const std::size_t colon = text.find(':');
  Address address{text.substr(0, colon), 0, most_bytes};
  if (colon == std::string_view::npos) return address;
  const std::string_view digits = text.substr(colon + 1);
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, address.index);
  if (digits.empty() || read.ec != std::errc() || read.ptr != end || address.index < 0)
    throw UsageError("the device '" + std::string(text) +
                     "' has no number after the colon; write, for example, emulated:0");
  return address;
}

std::shared_ptr<Device> device_at(const Address& address) {
  if (address.kind == "cuda") return device::make_cuda_device(address.index);
  if (address.kind == "hip") return device::make_hip_device(address.index);
  return make_emulated_device({.index = address.index});
}

}  // namespace

void Device::limit_memory(offset_t bytes) { info_.memory_bytes = std::min(info_.memory_bytes, bytes); }

void Device::throw_too_little(std::size_t wanted, offset_t in_use) const {
  throw MemoryError(std::to_string(info_.memory_bytes) + " bytes of the memory of the device " +
                        info_.address() + " may be used, of which Palmette uses " + std::to_string(in_use) +
                        ": " + std::to_string(wanted) + " more do not fit",
                    static_cast<offset_t>(wanted));
}

void Device::claim(std::size_t bytes) {
  const auto more = static_cast<offset_t>(bytes);
  const offset_t before = bytes_in_use_.fetch_add(more);
  if (before + more <= info_.memory_bytes) return;
  unclaim(bytes);
  throw_too_little(bytes, before);
}

void* Device::allocate(std::size_t bytes) {
  claim(bytes);
  void* const memory = do_allocate(bytes);
  if (memory != nullptr) return memory;
  unclaim(bytes);
  throw_too_little(bytes, bytes_in_use());
}

void Device::release(void* memory, std::size_t bytes) noexcept {
  do_release(memory);
  unclaim(bytes);
}

void Device::copy_in(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  do_copy_in(to, from, bytes);
  bytes_in_ += static_cast<offset_t>(bytes);
}

void Device::copy_out(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  do_copy_out(to, from, bytes);
  bytes_out_ += static_cast<offset_t>(bytes);
}

void Device::launch(const device::KernelCall& call, device::LaunchShape shape) {
  shape = fitted_shape(call, shape);
  do_launch(call, shape);
  ++launches_;
}

std::vector<DeviceKindInfo> device_kind_list() {
  return {{"emulated",
           emulate::emulator_is_available() ? "" : "the emulator needs x86-64 and a build without sanitizers",
           "kernels run on the CPU, thread after thread: for tests and for learning, never fast"},
          {"cuda", device::why_no_cuda(), "NVIDIA GPUs"},
          {"hip", device::why_no_hip(), "AMD GPUs: compiled, never run"}};
}

offset_t memory_budget(std::string_view name) { return take_budget(name); }

FoundGpu find_gpu(offset_t most_bytes) {
  FoundGpu found;
  for (const DeviceKindInfo& kind : device_kind_list()) {
    if (kind.name == "emulated") continue;
    if (kind.available()) {
      found.device = open_device(kind.name);
      if (most_bytes > 0) found.device->limit_memory(most_bytes);
      found.why_none.clear();
      return found;
    }
    if (!found.why_none.empty()) found.why_none += "; ";
    found.why_none += std::string(kind.name) + ": " + kind.unavailable;
  }
  return found;
}

std::shared_ptr<Device> open_device(std::string_view text) {
  if (text == "none") return nullptr;
  const Address address = read_address(text);
  std::string known = "none";
  for (const DeviceKindInfo& kind : device_kind_list()) {
    known += ", " + std::string(kind.name);
    if (kind.name != address.kind) continue;
    if (!kind.available())
      throw DeviceError("there is no device '" + std::string(text) + "' here: " + kind.unavailable);
    const std::shared_ptr<Device> device = device_at(address);
    if (address.most_bytes > 0) device->limit_memory(address.most_bytes);
    return device;
  }
  throw UsageError("there is no kind of device '" + std::string(address.kind) + "'; choose one of " + known);
}

}  // namespace palmette
