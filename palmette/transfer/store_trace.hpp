// Part of the door of `transfer`: who stored, loaded and released what, where, in which order and scope.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::transfer {

inline constexpr int warp_lanes = 32;
inline constexpr int most_devices = 16;

/// One bit for each device.
using DeviceSet = std::uint16_t;
inline DeviceSet only(int device) {
  return static_cast<DeviceSet>(1u << device);
}
inline DeviceSet everyone(int devices) {
  return static_cast<DeviceSet>((1u << devices) - 1);
}
inline bool has(DeviceSet set, int device) {
  return (set >> device & 1) != 0;
}

enum class AccessKind : std::uint8_t { store, load, release };
enum class AccessScope : std::uint8_t { weak, device, system };

/// What one thread did at one instruction.
struct Access {
  std::uint64_t address = 0;      ///< in shared memory, which has the same addresses on every device
  std::uint64_t value = 0;        ///< of a store: its bytes, the lowest first
  std::uint32_t thread = 0;       ///< in the kernel: block · block_threads + thread of the block
  std::uint32_t instruction = 0;  ///< accesses of a warp with the same number happen together
  DeviceSet to = 0;        ///< of a store: the devices into whose memory a program with peer stores writes
  std::uint8_t bytes = 0;  ///< 1 to 8
  AccessKind kind = AccessKind::store;
  AccessScope scope = AccessScope::weak;
};

/// What the program's version with copies copies from this device when the phase has ended.
struct CopyRange {
  std::uint64_t begin = 0, end = 0;
  DeviceSet to = 0;
};

/// What one device does in one phase.
struct TracedKernel {
  double work_bytes = 0;    ///< of local memory that the kernel reads and writes: its computing, in bytes
  int block_threads = 128;  ///< a multiple of 32
  std::vector<Access> accesses;  ///< ordered by warp, instruction and lane
  std::vector<CopyRange> copies;
};

/// All devices wait for each other after a phase.
struct TracedPhase {
  std::vector<TracedKernel> kernels;  ///< by device
};

/// No address is stored by two threads in one phase, so the order of warps does not change results.
struct StoreTrace {
  std::string name;
  int devices = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<TracedPhase> phases;
  std::int64_t num_accesses() const;
};

/// Order accesses by warp and instruction; those of one thread at one instruction stay in their order.
void order_by_warp(TracedKernel& kernel);

/// @throws UsageError that names the phase, the device and the access
void check(const StoreTrace& trace);

// ---- files (docs/guide/transfers.md describes both formats) ----
void write_text(const StoreTrace& trace, std::ostream& to);
void write_binary(const StoreTrace& trace, std::ostream& to);
/// Reads either format. @param name  of the file, for messages. @throws IoError with its line
StoreTrace read_trace(std::istream& from, const std::string& name);

}  // namespace palmette::transfer
