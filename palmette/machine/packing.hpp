// Part of the door of `machine`: how small messages to one destination are sent together, for transports and
// for what predicts them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace palmette {

/// A packet is a sequence of records, one for each small message. It leaves when it is full, when it is old,
/// and when its rank has nothing to do.
struct Packing {
  std::size_t small_bytes = 1024;   ///< larger messages go alone
  std::size_t packet_bytes = 8192;  ///< a packet of this size leaves at once
  /// a packet leaves when its rank has begun this many tasks since its first message; 0: it may grow older
  std::int64_t max_age_tasks = 0;
  /// in predictions and simulations: packing a message, and unpacking it
  double record_us = 0.03;

  /// Of a message in a packet: tag, size, and the payload padded to 8 bytes.
  static constexpr std::size_t record_bytes(std::size_t payload) { return 16 + (payload + 7) / 8 * 8; }
};

}  // namespace palmette
