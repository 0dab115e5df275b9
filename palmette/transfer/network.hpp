// Inside `transfer`: packets on the links of a fabric, with credits. A link starts a packet only if the
// buffer at its end has room for it, so a full buffer holds up what is behind it, back to the device.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "palmette/simulate/simulate.hpp"
#include "palmette/transfer/packing.hpp"
#include "palmette/transfer/transfer_timeline.hpp"

namespace palmette::transfer {

/// What a packet does where it arrives.
enum class PacketKind : std::uint8_t { store, packed, line, bulk, request, response };

struct Packet {
  PacketKind kind = PacketKind::store;
  int source = 0, destination = 0;
  int wire_bytes = 0;
  int hop = 0;
  std::uint64_t address = 0;  ///< of the data; of `packed`: base
  std::uint64_t bytes = 0;    ///< of bulk data and responses, which carry no copy of it
  bool is_plain = false;      ///< of `packed`
  ByteMask mask;              ///< of `line`
  std::vector<std::uint8_t> data;
};

/// One phase of packets. Times are seconds from its beginning.
class Network {
 public:
  /// Something that waits: for its time, or for room on its device's link.
  using Wake = std::function<void(int waiter, double now)>;
  using Deliver = std::function<void(const Packet& packet, double now)>;

  /// @param timeline  gets the times when links are busy, seconds since the phase began; null: not wanted
  Network(const Fabric& fabric, int devices, std::vector<TransferInterval>* timeline = nullptr);
  /// Call wake(waiter) at this time.
  void plan(double seconds, int waiter) { events_.plan(seconds, {Event::wake, waiter, -1}); }
  /// A packet enters its source's link, if that has room. @returns false if not: `waiter` is called when it
  /// has
  bool inject(Packet& packet, int waiter, double now);
  /// Until nothing is left to do. `deliver` sees a packet's arrival at its destination.
  void run(const Wake& wake, const Deliver& deliver);
  /// Of the last arrival.
  double last_arrival() const { return last_arrival_; }
  std::int64_t hops() const { return hops_; }
  double link_seconds(int link) const { return links_[link].busy_seconds; }

 private:
  struct Event {
    enum What : std::uint8_t { wake, done, arrive } what;
    int at;  ///< waiter, or link
    int packet;
  };
  struct Link {
    double gbs = 0;
    int room = 0;  ///< bytes that its input buffer can still take
    bool is_busy = false;
    double busy_seconds = 0;
    std::ptrdiff_t last_interval = -1;
    std::deque<int> queue;    ///< packets
    std::deque<int> waiters;  ///< links (≥ 0), or −1 − waiter
  };
  int link_at(const Packet& packet, int hop) const;
  int num_hops(const Packet& packet) const;
  void start(int link, double now);
  void note(int link, double begin, double end, int bytes);
  void finish(int link, int packet, double now, const Wake& wake);
  void free_room(int link, int bytes, double now, const Wake& wake);
  int keep(Packet& packet);

  const Fabric& fabric_;
  int devices_, groups_;
  EventLoop<Event> events_;
  std::vector<Link> links_;  ///< out of devices, into devices, up from groups, down to groups
  std::vector<Packet> packets_;
  std::vector<int> free_packets_;
  double last_arrival_ = 0;
  std::int64_t hops_ = 0;
  std::vector<TransferInterval>* timeline_;
};

}  // namespace palmette::transfer
