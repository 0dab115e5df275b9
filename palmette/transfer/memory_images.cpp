// Images of shared memory.
#include "palmette/transfer/memory_images.hpp"

#include <cstring>

namespace palmette::transfer {

MemoryImages::MemoryImages(const StoreTrace& trace) {
  const auto devices = static_cast<std::size_t>(trace.devices);
  images_.assign(devices, std::vector<std::uint8_t>(trace.memory_bytes));
  expected_ = state_ = images_;
  for (const TracedPhase& phase : trace.phases)
    for (std::size_t device = 0; device < devices; ++device)
      for (const Access& one : phase.kernels[device].accesses)
        for (int k = 0; one.kind == AccessKind::load && k < one.bytes; ++k)
          state_[device][one.address + k] |= ever_loaded;
}

void MemoryImages::store(int device, DeviceSet promised, std::uint64_t address,
                         std::span<const std::uint8_t> bytes) {
  std::memcpy(images_[device].data() + address, bytes.data(), bytes.size());
  promised |= only(device);
  for (std::size_t other = 0; other < expected_.size(); ++other)
    if (has(promised, static_cast<int>(other)))
      std::memcpy(expected_[other].data() + address, bytes.data(), bytes.size());
}

void MemoryImages::deliver(int device, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return;
  std::memmove(images_[device].data() + address, bytes.data(), bytes.size());
  std::uint8_t* const state = state_[device].data() + address;
  std::int64_t overwritten = 0;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    overwritten += state[k] & pending;
    state[k] |= pending;
  }
  wasted_ += overwritten;
}

void MemoryImages::promise_copy(int source, int device, std::uint64_t begin, std::uint64_t end) {
  if (begin < end)
    std::memcpy(expected_[device].data() + begin, expected_[source].data() + begin, end - begin);
}

void MemoryImages::load(int device, std::uint64_t address, int bytes) {
  std::uint8_t* const state = state_[device].data() + address;
  for (int k = 0; k < bytes; ++k) {
    useful_ += state[k] & pending;
    state[k] &= static_cast<std::uint8_t>(~pending);
  }
}

void MemoryImages::end() {
  for (auto& device : state_)
    for (std::uint8_t& state : device) {
      if ((state & pending) == 0) continue;
      ++((state & ever_loaded) != 0 ? useful_ : wasted_);
      state &= static_cast<std::uint8_t>(~pending);
    }
}

std::int64_t MemoryImages::compared_bytes() const {
  return static_cast<std::int64_t>(images_.size() * images_[0].size());
}

std::int64_t MemoryImages::different_bytes() const {
  std::int64_t different = 0;
  for (std::size_t device = 0; device < images_.size(); ++device) {
    if (images_[device] == expected_[device]) continue;
    for (std::size_t k = 0; k < images_[device].size(); ++k)
      different += images_[device][k] != expected_[device][k];
  }
  return different;
}

}  // namespace palmette::transfer
