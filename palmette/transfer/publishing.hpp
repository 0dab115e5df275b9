// Part of the door of `transfer`: the structures of GPS. Its queue of whole lines, its TLB, and which devices
// subscribe to which pages.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "palmette/transfer/packing.hpp"

namespace palmette::transfer {

struct GpsOptions {
  int queue_entries = 64;
  int tlb_entries = 32;
  int tlb_ways = 4;
  /// Phases in which all devices subscribe to all pages, while loads are tracked.
  int profile_phases = 0;
};

/// A line that leaves the queue. All of it travels, since an entry has no room for byte enables; only the
/// stored bytes are written at the other end, so that devices may share a line.
struct PublishedLine {
  std::uint64_t line = 0;
  ByteMask mask;
  std::array<std::uint8_t, line_bytes> data;
};

/// Stores of one device wait here for others to the same line. The least recently added line leaves when all
/// entries but one are taken.
/// @source [Muthukrishnan 2022], §4.5.2
class LineQueue {
 public:
  using Sink = std::function<void(const PublishedLine& line)>;
  /// @throws UsageError if entries < 2
  explicit LineQueue(int entries);
  void add(const LineStore& store, const Sink& sink);
  void drain(const Sink& sink);
  std::int64_t stores() const { return stores_; }
  std::int64_t hits() const { return hits_; }

 private:
  std::vector<PublishedLine> ring_;  ///< of all entries
  std::vector<std::uint64_t> held_;  ///< by place of the ring: its line, for a fast search
  std::size_t first_ = 0, count_ = 0;
  std::int64_t stores_ = 0, hits_ = 0;
};

/// Translations of pages, set-associative; the least recently used one of a set leaves.
class PageTlb {
 public:
  /// @throws UsageError unless entries is a positive multiple of ways
  PageTlb(int entries, int ways);
  /// @returns whether the page was there; afterwards it is
  bool look_up(std::uint64_t page);
  std::int64_t lookups() const { return lookups_; }
  std::int64_t hits() const { return hits_; }

 private:
  struct Way {
    std::uint64_t page = ~std::uint64_t{0};
    std::int64_t used = 0;
  };
  int ways_;
  std::vector<Way> table_;  ///< by set and way
  std::int64_t lookups_ = 0, hits_ = 0;
};

/// By page of 64 KB: the devices that load it, or store into it, in any phase.
std::vector<DeviceSet> tracked_subscribers(const StoreTrace& trace);

}  // namespace palmette::transfer
