// Inside `predict`: the packets of a rank in a schedule. They hold edges of the task graph instead of bytes.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

struct Packet {
  std::vector<offset_t> edges;
  std::size_t bytes = 0;
  std::int64_t number = 0;  ///< among all packets of the rank
};

/// Packets that still grow, by destination.
class OpenPackets {
 public:
  /// @returns the bytes of the packet, this edge included
  std::size_t add(index_t destination, offset_t edge, std::size_t bytes) {
    Packet& packet = open_[destination];
    if (packet.edges.empty()) {
      packet.number = opened_++;
      ages_.push_back({destination, packet.number, turns_});
    }
    packet.edges.push_back(edge);
    return packet.bytes += bytes;
  }
  Packet take(index_t destination) {
    Packet packet = std::move(open_[destination]);
    open_.erase(destination);
    return packet;
  }
  std::vector<index_t> destinations() const {
    std::vector<index_t> all;
    for (const auto& [destination, packet] : open_) all.push_back(destination);
    return all;
  }
  /// A task begins. @returns the destinations of packets that have grown for `max_age` tasks; none if it is 0
  std::vector<index_t> next_turn(std::int64_t max_age) {
    std::vector<index_t> old;
    ++turns_;
    for (; max_age > 0 && !ages_.empty() && turns_ - ages_.front().turn >= max_age; ages_.pop_front()) {
      const auto found = open_.find(ages_.front().destination);
      if (found != open_.end() && found->second.number == ages_.front().number) old.push_back(found->first);
    }
    return old;
  }

 private:
  struct Age {
    index_t destination = 0;
    std::int64_t number = 0;
    std::int64_t turn = 0;
  };
  std::map<index_t, Packet> open_;
  std::deque<Age> ages_;  // by time of opening; some packets have left
  std::int64_t opened_ = 0, turns_ = 0;
};

}  // namespace palmette
