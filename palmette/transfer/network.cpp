// Links with credits, over a crossbar or a tree.
#include "palmette/transfer/network.hpp"

#include <algorithm>

namespace palmette::transfer {

Network::Network(const Fabric& fabric, int devices, std::vector<TransferInterval>* timeline)
    : fabric_(fabric), devices_(devices), timeline_(timeline) {
  const bool has_groups = fabric.topology == Topology::tree && fabric.group > 0;
  groups_ = has_groups ? (devices + fabric.group - 1) / fabric.group : 0;
  links_.resize(static_cast<std::size_t>(2 * devices + 2 * groups_));
  for (std::size_t k = 0; k < links_.size(); ++k) {
    links_[k].gbs = k < static_cast<std::size_t>(2 * devices) ? fabric.gbs : fabric.root_gbs;
    links_[k].room = fabric.credit_bytes;
  }
}

int Network::num_hops(const Packet& packet) const {
  if (groups_ == 0 || packet.source / fabric_.group == packet.destination / fabric_.group) return 2;
  return 4;
}

int Network::link_at(const Packet& packet, int hop) const {
  if (hop == 0) return packet.source;
  if (hop == num_hops(packet) - 1) return devices_ + packet.destination;
  return 2 * devices_ +
         (hop == 1 ? packet.source / fabric_.group : groups_ + packet.destination / fabric_.group);
}

int Network::keep(Packet& packet) {
  int place = static_cast<int>(packets_.size());
  if (free_packets_.empty()) {
    packets_.emplace_back();
  } else {
    place = free_packets_.back();
    free_packets_.pop_back();
  }
  std::swap(packets_[place], packet);
  return place;
}

bool Network::inject(Packet& packet, int waiter, double now) {
  Link& link = links_[packet.source];
  if (link.room < packet.wire_bytes) {
    link.waiters.push_back(-1 - waiter);
    return false;
  }
  link.room -= packet.wire_bytes;
  packet.hop = 0;
  const int source = packet.source;
  link.queue.push_back(keep(packet));
  start(source, now);
  return true;
}

void Network::start(int at, double now) {
  Link& link = links_[at];
  if (link.is_busy || link.queue.empty()) return;
  Packet& packet = packets_[link.queue.front()];
  if (packet.hop + 1 < num_hops(packet)) {
    Link& next = links_[link_at(packet, packet.hop + 1)];
    if (next.room < packet.wire_bytes) {
      if (std::find(next.waiters.begin(), next.waiters.end(), at) == next.waiters.end())
        next.waiters.push_back(at);
      return;
    }
    next.room -= packet.wire_bytes;
  }
  link.is_busy = true;
  const double seconds = packet.wire_bytes / (link.gbs * 1e9);
  link.busy_seconds += seconds;
  if (timeline_ != nullptr) note(at, now, now + seconds, packet.wire_bytes);
  events_.plan(now + seconds, {Event::done, at, link.queue.front()});
}

void Network::note(int at, double begin, double end, int bytes) {
  Link& link = links_[at];
  if (link.last_interval < 0 || begin - (*timeline_)[link.last_interval].end > joined_gap_seconds) {
    const bool is_device = at < 2 * devices_;
    const int number = is_device ? at : at - 2 * devices_, count = is_device ? devices_ : groups_;
    const int what = (is_device ? TransferInterval::send : TransferInterval::group_up) + number / count;
    link.last_interval = static_cast<std::ptrdiff_t>(timeline_->size());
    timeline_->push_back({static_cast<TransferInterval::What>(what), number % count, 0, begin, end});
  }
  TransferInterval& last = (*timeline_)[link.last_interval];
  last.end = end;
  ++last.packets;
  last.packet_bytes += bytes;
}

void Network::free_room(int at, int bytes, double now, const Wake& wake) {
  links_[at].room += bytes;
  // Each waiter tries once; those that still find no room queue up again.
  for (std::size_t left = links_[at].waiters.size(); left > 0 && !links_[at].waiters.empty(); --left) {
    const int waiter = links_[at].waiters.front();
    links_[at].waiters.pop_front();
    if (waiter >= 0)
      start(waiter, now);
    else
      wake(-1 - waiter, now);
  }
}

void Network::finish(int at, int number, double now, const Wake& wake) {
  Link& link = links_[at];
  link.is_busy = false;
  link.queue.pop_front();
  ++hops_;
  Packet& packet = packets_[number];
  const int bytes = packet.wire_bytes;
  if (++packet.hop == num_hops(packet)) {
    events_.plan(now + fabric_.latency_us * 1e-6, {Event::arrive, at, number});
  } else {
    const int next = link_at(packet, packet.hop);
    links_[next].queue.push_back(number);
    start(next, now);
  }
  free_room(at, bytes, now, wake);
  start(at, now);
}

void Network::run(const Wake& wake, const Deliver& deliver) {
  events_.run([&](double now, const Event& event) {
    if (event.what == Event::wake) return wake(event.at, now);
    if (event.what == Event::done) return finish(event.at, event.packet, now, wake);
    last_arrival_ = std::max(last_arrival_, now);
    // `deliver` may inject packets, which may move the others.
    Packet packet;
    std::swap(packet, packets_[event.packet]);
    deliver(packet, now);
    std::swap(packet, packets_[event.packet]);
    free_packets_.push_back(event.packet);
  });
}

}  // namespace palmette::transfer
