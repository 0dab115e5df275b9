// Inside `transfer`: the shared memory of every device during a replay, a second copy of it into which stores
// go without any network, and what became of each byte that was delivered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {

class MemoryImages {
 public:
  explicit MemoryImages(const StoreTrace& trace);
  /// A device stores into its own memory; `promised` are the others that must have it when the phase ends.
  void store(int device, DeviceSet promised, std::uint64_t address, std::span<const std::uint8_t> bytes);
  /// Bytes arrive.
  void deliver(int device, std::uint64_t address, std::span<const std::uint8_t> bytes);
  /// The bytes of `source` arrive.
  void deliver_from(int source, int device, std::uint64_t address, std::uint64_t bytes) {
    deliver(device, address, {images_[source].data() + address, bytes});
  }
  /// A copy that must have arrived when the phase ends.
  void promise_copy(int source, int device, std::uint64_t begin, std::uint64_t end);
  /// The device reads what has been delivered.
  void load(int device, std::uint64_t address, int bytes);
  /// Deliveries that were never read count as read if the device reads that byte in some phase: a trace is
  /// part of a longer run.
  void end();

  std::int64_t useful() const { return useful_; }
  std::int64_t wasted() const { return wasted_; }
  std::int64_t compared_bytes() const;
  std::int64_t different_bytes() const;
  const std::vector<std::uint8_t>& image(int device) const { return images_[device]; }

 private:
  enum : std::uint8_t { pending = 1, ever_loaded = 2 };
  std::vector<std::vector<std::uint8_t>> images_, expected_, state_;
  std::int64_t useful_ = 0, wasted_ = 0;
};

}  // namespace palmette::transfer
