// What devices of all kinds share: counts, addresses and the list of kinds.
#include "palmette/device/devices.hpp"

#include <charconv>

#include "palmette/device/gpu/gpu_device.hpp"

namespace palmette {
namespace {

struct Address {
  std::string_view kind;
  int index = 0;
};

Address read_address(std::string_view text) {
  const std::size_t colon = text.find(':');
  Address address{text.substr(0, colon)};
  if (colon == std::string_view::npos) return address;
  const std::string_view digits = text.substr(colon + 1);
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, address.index);
  if (digits.empty() || read.ec != std::errc() || read.ptr != end || address.index < 0)
    throw UsageError("the device '" + std::string(text) +
                     "' has no number after the colon; write, for example, emulated:0");
  return address;
}

}  // namespace

void* Device::allocate(std::size_t bytes) {
  const auto more = static_cast<offset_t>(bytes);
  const offset_t before = bytes_in_use_.fetch_add(more);
  void* const memory = before + more <= info_.memory_bytes ? do_allocate(bytes) : nullptr;
  if (memory != nullptr) return memory;
  bytes_in_use_ -= more;
  throw MemoryError("the device " + info_.address() + " has " + std::to_string(info_.memory_bytes) +
                        " bytes of memory, of which Palmette uses " + std::to_string(before) + ": " +
                        std::to_string(bytes) + " more do not fit",
                    more);
}

void Device::release(void* memory, std::size_t bytes) noexcept {
  do_release(memory);
  bytes_in_use_ -= static_cast<offset_t>(bytes);
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
  if (shape.blocks == 0) shape = resident_shape(call, shape);
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

FoundGpu find_gpu() {
  FoundGpu found;
  for (const DeviceKindInfo& kind : device_kind_list()) {
    if (kind.name == "emulated") continue;
    if (kind.available()) return {open_device(kind.name), ""};
    found.why_none += (found.why_none.empty() ? "" : "; ") + std::string(kind.name) + ": " + kind.unavailable;
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
    if (address.kind == "cuda") return device::make_cuda_device(address.index);
    if (address.kind == "hip") return device::make_hip_device(address.index);
    return make_emulated_device({.index = address.index});
  }
  throw UsageError("there is no kind of device '" + std::string(address.kind) + "'; choose one of " + known);
}

}  // namespace palmette
