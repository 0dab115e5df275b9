// Part of the door of `transfer`: the messages of rank programs as stores of devices, so that what a
// message-driven solve sends can be replayed like any other program.
#pragma once

#include <span>
#include <string>

#include "palmette/transfer/store_trace.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::transfer {

struct MessageTraceOptions {
  bool releases = true;   ///< a release after each message, without which its receiver may not use it
  double work_gbs = 296;  ///< a second of a rank's tasks counts as so much local memory, 10⁹ bytes
};

/// Ranks become devices. Each message has a place of its own in shared memory, ordered by sender and
/// receiver, to which one warp stores its bytes, eight for each thread and instruction, in the order in which
/// the rank sent its messages. In a second phase the receivers load what they received.
///
/// Replays keep each rank's order of messages, but not what a rank waits for: all messages of a rank are sent
/// while it computes. So bytes and packets are those of the program, and times are lower bounds.
/// @param ranks  by rank, with messages kept (RankRecord with keeps_timeline)
/// @throws UsageError unless there are 1 to 16 ranks, and every message goes to one of them
StoreTrace message_trace(const std::string& name, std::span<const RankTimeline> ranks,
                         const MessageTraceOptions& options = {});

}  // namespace palmette::transfer
