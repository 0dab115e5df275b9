// Queues of messages in remote memory: each rank has one region for each rank that sends to it, sized when
// the plan is made, so that every message has its place without a handshake. Any directed acyclic graph of
// tasks can use them. Source: [Ding et al. 2020], section 5; how a message is published is our own, since a
// local flush orders nothing.
#pragma once

#include <optional>
#include <vector>

#include "palmette/transport/remote_memory.hpp"

namespace palmette {

/// How the receiver learns that a message is complete.
enum class Publication {
  checksum,  ///< one put of header, payload and their checksum: read again until it fits
  counter,   ///< put, flush, then increment a counter of the receiver
};
inline constexpr Publication publications[] = {Publication::checksum, Publication::counter};
std::string_view name_of(Publication publication);
/// @throws UsageError listing the names
Publication publication(std::string_view name);

/// The most that one rank receives in one run.
struct Inbound {
  index_t source = 0;
  std::int64_t messages = 0;
  std::int64_t payload_bytes = 0;  ///< sum over the messages
};
/// What the ranks of a run exchange: inbound[r] by ascending source, each source at most once. The same on
/// every rank.
struct TransportPlan {
  std::vector<std::vector<Inbound>> inbound;  ///< length num_ranks
  /// by rank: all that it offers, each offer rounded up to whole lines of 64 bytes; empty: nothing
  std::vector<std::int64_t> offered_bytes{};
};

/// The plan for exactly these messages.
TransportPlan transport_plan(const Traffic& traffic);
/// The plan for as many signals with an offer each, and the bytes that are offered.
TransportPlan pulled_plan(const Traffic& traffic, std::vector<std::int64_t> offered_bytes);
constexpr std::int64_t offer_line_bytes = 64;  ///< to which offered_bytes are rounded
/// The same, and one message from each rank to each other, of payload_bytes[source] bytes: what
/// gather_from_all sends.
TransportPlan with_gather(const TransportPlan& plan, std::span<const std::int64_t> payload_bytes);

namespace transport_detail {

/// Where the regions lie. Computed from the plan alone, so that sender and receiver agree without
/// communication.
class QueueLayout {
 public:
  QueueLayout() = default;
  explicit QueueLayout(const TransportPlan& plan);

  struct Region {
    index_t source = 0;
    std::size_t counter = 0;   ///< offset of its counter
    std::size_t begin = 0;     ///< offset of its first message
    std::size_t end = 0;
  };
  /// Regions of a receiver, by ascending source.
  std::span<const Region> regions(index_t receiver) const {
    return regions_[receiver];
  }
  /// @throws UsageError if the plan lets source send nothing to receiver
  const Region& region(index_t receiver, index_t source) const;
  /// Bytes of a rank's window.
  std::size_t window_bytes(index_t rank) const { return bytes_[rank]; }

 private:
  std::vector<std::vector<Region>> regions_;
  std::vector<std::size_t> bytes_;
};

/// One rank's queues. One thread at a time. Runs have the same numbers on all ranks; between two runs every
/// rank must know that every other has finished the earlier one (a barrier).
class OneSidedQueue {
 public:
  OneSidedQueue(RemoteMemory& memory, const TransportPlan& plan, Publication publication);
  virtual ~OneSidedQueue() = default;

  /// Begin run number `run` ≥ 1, larger than the one before: regions are filled again from their beginning.
  void begin(std::uint32_t run);
  /// @throws UsageError if the plan has no room for this message
  void send(index_t destination, std::int64_t tag, const SharedBytes& payload);
  /// The next complete message of any source; sources take turns.
  bool poll(Message& message);
  void flush();
  /// "message 3 of rank 5 has not come whole" for sources whose messages are incomplete; for the watchdog.
  std::string state() const;

 protected:
  /// Make a record known to its receiver; overridden by tests that show what fails with less.
  virtual void publish(index_t destination, const QueueLayout::Region& region, std::size_t offset,
                       std::span<const std::byte> record);
  /// Is a payload with this checksum the one that was sent? Overridden by the same tests.
  virtual bool intact(std::uint64_t expected, std::uint64_t found) const { return expected == found; }
  /// May message `number` of this region be read?
  virtual bool announced(const QueueLayout::Region& region, std::int64_t number);
  RemoteMemory& memory() { return memory_; }
  Publication publication() const { return publication_; }

 private:
  struct Sending {
    std::size_t next = 0;
    std::int64_t sent = 0;
  };
  struct Receiving {
    std::size_t next = 0;
    std::int64_t received = 0;
    std::uint64_t counted_before = 0;  ///< the counter's value when the run began
  };
  bool take(const QueueLayout::Region& region, Receiving& from, Message& message);

  RemoteMemory& memory_;
  QueueLayout layout_;
  Publication publication_;
  std::uint32_t run_ = 0;
  std::vector<Sending> sending_;      // by destination
  std::vector<Receiving> receiving_;  // by own region
  std::size_t turn_ = 0;
  BytePool pool_;
  std::vector<SharedBytes> in_flight_;  // origins of puts not yet flushed
  std::size_t in_flight_bytes_ = 0;
};

}  // namespace transport_detail
}  // namespace palmette
