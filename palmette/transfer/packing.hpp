// Part of the door of `transfer`: what happens to stores between the threads and the wire. The coalescer of a
// warp; FinePack's queue, packetizer and depacketizer, which move real bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "palmette/transfer/goodput.hpp"
#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {

/// Which bytes of a line hold data.
struct ByteMask {
  std::uint64_t words[2] = {0, 0};
  void set(int from, int bytes);
  bool get(int at) const { return (words[at / 64] >> (at % 64) & 1) != 0; }
  int count() const { return std::popcount(words[0]) + std::popcount(words[1]); }
  /// Runs of set bytes.
  int runs() const;
  /// The first set (or clear) byte at or behind `from`; 128 if there is none.
  int next(int from, bool value) const;
};

/// Contiguous bytes within one line that a warp stores at one instruction.
struct LineStore {
  std::uint64_t address = 0;
  int bytes = 0;
  DeviceSet to = 0;
  AccessScope scope = AccessScope::weak;
  std::array<std::uint8_t, line_bytes> data;
};

/// Append the stores among `accesses`, all of one warp and one instruction, as one for each contiguous run of
/// bytes in a line. No byte may be stored by two lanes.
void coalesce(std::span<const Access> accesses, std::vector<LineStore>& stores);

/// Why FinePack's queue was emptied.
enum class FlushCause { window, entries, payload, release };
inline constexpr FlushCause flush_causes[] = {FlushCause::window, FlushCause::entries, FlushCause::payload,
                                              FlushCause::release};
inline constexpr int num_flush_causes = 4;
constexpr const char* name_of(FlushCause cause) {
  constexpr const char* names[] = {"window", "entries", "payload", "release"};
  return names[static_cast<int>(cause)];
}

/// One packet of FinePack: sub-headers and data behind each other, or a plain store.
struct StorePacket {
  std::uint64_t base = 0;  ///< address that offsets count from, or the address of the plain store
  bool is_plain = false;
  int stores = 0;      ///< sub-packets
  int data_bytes = 0;  ///< without sub-headers
  std::vector<std::uint8_t> payload;
};

struct FinePackOptions {
  int subheader_bytes = 5;
  int entries = 64;                ///< lines for each destination
  bool sends_single_plain = true;  ///< a packet of one store goes as a plain store, which is shorter
};

/// The stores of one device for one destination.
/// @source [Muthukrishnan 2022], §5.3.2
class FinePackQueue {
 public:
  using Sink = std::function<void(StorePacket&& packet)>;
  /// @throws UsageError if the options cannot be used
  FinePackQueue(const FinePackOptions& options, const PacketFormat& packet);
  void add(const LineStore& store, const Sink& sink);
  void flush(FlushCause cause, const Sink& sink);
  std::int64_t stores() const { return stores_; }
  std::int64_t flushes(FlushCause cause) const { return flushes_[static_cast<int>(cause)]; }

 private:
  struct Entry {
    ByteMask mask;
    std::array<std::uint8_t, line_bytes> data;
  };
  int find(std::uint64_t line) const;
  void emit(StorePacket& packet, const Sink& sink);

  FinePackOptions options_;
  int max_payload_;
  std::uint64_t window_;
  std::uint64_t base_ = 0;
  int available_;  ///< payload register
  std::vector<std::uint64_t> lines_;
  std::vector<Entry> entries_;
  std::int64_t stores_ = 0;
  std::array<std::int64_t, num_flush_causes> flushes_{};
};

/// Call apply(address, bytes) for each store in a packet.
/// @throws UsageError if the payload is no sequence of sub-packets
void unpack(const StorePacket& packet, int subheader_bytes,
            const std::function<void(std::uint64_t address, std::span<const std::uint8_t> bytes)>& apply);

}  // namespace palmette::transfer
