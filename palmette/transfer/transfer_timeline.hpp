// Part of the door of `transfer`: when devices computed and stalled and links were busy in a simulation, and
// the same as a trace that ui.perfetto.dev and chrome://tracing show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace palmette::transfer {

struct TransferInterval {
  enum What : std::uint8_t {
    launch,     ///< of a kernel
    kernel,     ///< a device computes and issues stores, stalls included
    stall,      ///< a device cannot issue, because its link is full
    copying,    ///< all kernels have ended: the host's copies travel
    send,       ///< a device's link out of it is busy
    receive,    ///< its link into it
    group_up,   ///< the link from a group's switch to the root
    group_down  ///< the link back
  } what = kernel;
  int place = 0;  ///< device or group
  int phase = 0;
  double begin = 0, end = 0;      ///< simulated seconds since the program began
  std::int64_t packets = 0;       ///< that the link carried
  std::int64_t packet_bytes = 0;  ///< headers included
};

/// Packets that follow each other on a link within this time are one interval.
inline constexpr double joined_gap_seconds = 0.2e-6;

/// One program under one paradigm.
struct TransferTimeline {
  std::string name;
  std::vector<TransferInterval> intervals;
};

/// JSON in Chrome's trace format: a process for each timeline, a thread for each device's computing and for
/// each link. Its times are simulated microseconds.
std::string chrome_trace(std::span<const TransferTimeline> timelines);

}  // namespace palmette::transfer
