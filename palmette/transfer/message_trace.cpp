// Messages get places by sender and receiver, so that a version with copies has one copy for each pair.
#include "palmette/transfer/message_trace.hpp"

#include <algorithm>

namespace palmette::transfer {
namespace {

constexpr std::uint64_t word_bytes = 8;

struct SentMessage {
  double seconds = 0;
  int to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< where its receiver finds it
};

std::vector<SentMessage> sent_by(const RankTimeline& rank, int own, int devices) {
  std::vector<SentMessage> sent;
  for (const TimedMessage& one : rank.messages) {
    if (!one.is_sent || one.other == own) continue;
    if (one.other < 0 || one.other >= devices)
      throw UsageError("rank " + std::to_string(own) + " sends to rank " + std::to_string(one.other) +
                       ", but there are " + std::to_string(devices) + " ranks");
    sent.push_back({one.seconds, one.other, one.bytes, 0});
  }
  std::stable_sort(sent.begin(), sent.end(),
                   [](const SentMessage& a, const SentMessage& b) { return a.seconds < b.seconds; });
  return sent;
}

/// One warp for each message; lane k takes words k, k + 32, … . `to` is empty for loads.
void add_message(TracedKernel& kernel, const SentMessage& message, std::uint32_t warp, DeviceSet to) {
  Access one;
  one.kind = to != 0 ? AccessKind::store : AccessKind::load;
  one.to = to;
  for (std::uint64_t done = 0; done < message.bytes; done += word_bytes) {
    const auto word = static_cast<std::uint32_t>(done / word_bytes);
    one.thread = warp * warp_lanes + word % warp_lanes;
    one.instruction = word / warp_lanes;
    one.address = message.address + done;
    one.bytes = static_cast<std::uint8_t>(std::min(word_bytes, message.bytes - done));
    if (to != 0) one.value = (one.address + 1) * 0x9E3779B97F4A7C15ull;
    kernel.accesses.push_back(one);
  }
}

void add_release(TracedKernel& kernel, const SentMessage& message, std::uint32_t warp) {
  Access one;
  one.kind = AccessKind::release;
  one.scope = AccessScope::system;
  one.thread = warp * warp_lanes;
  one.instruction = static_cast<std::uint32_t>(message.bytes / (word_bytes * warp_lanes) + 1);
  kernel.accesses.push_back(one);
}

double seconds_of_tasks(const RankTimeline& rank) {
  double seconds = 0;
  for (const TimedTask& task : rank.tasks) seconds += task.end - task.begin;
  return seconds;
}

}  // namespace

StoreTrace message_trace(const std::string& name, std::span<const RankTimeline> ranks,
                         const MessageTraceOptions& options) {
  if (ranks.empty() || ranks.size() > most_devices)
    throw UsageError("stores of messages are written for 1 to 16 ranks, not " + std::to_string(ranks.size()));
  const int devices = static_cast<int>(ranks.size());
  StoreTrace trace{name, devices, 0, std::vector<TracedPhase>(2)};
  for (TracedPhase& phase : trace.phases) {
    phase.kernels.resize(ranks.size());
    for (TracedKernel& kernel : phase.kernels) kernel.block_threads = warp_lanes;
  }
  std::vector<std::uint32_t> received(ranks.size());  // messages: the next warp that loads
  for (int source = 0; source < devices; ++source) {
    TracedKernel& kernel = trace.phases[0].kernels[source];
    kernel.work_bytes = seconds_of_tasks(ranks[source]) * options.work_gbs * 1e9;
    std::vector<SentMessage> sent = sent_by(ranks[source], source, devices);
    for (int to = 0; to < devices; ++to) {
      const std::uint64_t begin = trace.memory_bytes;
      for (SentMessage& one : sent) {
        if (one.to != to) continue;
        one.address = trace.memory_bytes;
        trace.memory_bytes += (one.bytes + word_bytes - 1) / word_bytes * word_bytes;
        add_message(trace.phases[1].kernels[to], one, received[to]++, DeviceSet{0});
      }
      if (trace.memory_bytes > begin) kernel.copies.push_back({begin, trace.memory_bytes, only(to)});
    }
    for (std::uint32_t warp = 0; warp < sent.size(); ++warp) {
      add_message(kernel, sent[warp], warp, only(sent[warp].to));
      if (options.releases) add_release(kernel, sent[warp], warp);
    }
    order_by_warp(kernel);
  }
  for (TracedKernel& kernel : trace.phases[1].kernels) order_by_warp(kernel);
  check(trace);
  return trace;
}

}  // namespace palmette::transfer
