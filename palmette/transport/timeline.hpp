// Part of the door of `transport`: where the time of a rank goes, and when each of its tasks and messages
// was. The same for real ranks, whose driver reads the clock, and for simulated ones.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/transport/wrappers.hpp"

namespace palmette {

std::string_view name_of(SweepPhase phase);

/// Seconds of one rank in one phase; with several threads, their sum.
struct PhaseTimes {
  double work = 0;      ///< in tasks
  double messages = 0;  ///< sending, receiving and passing on messages
  double waiting = 0;   ///< waiting for the input of the next task of this phase
  double total() const { return work + messages + waiting; }
  PhaseTimes& operator+=(const PhaseTimes& other);
  PhaseTimes& operator-=(const PhaseTimes& other);
};

/// By SweepPhase.
struct RankTimes {
  std::array<PhaseTimes, 4> phase{};
  PhaseTimes& of(SweepPhase which) { return phase[static_cast<std::size_t>(which)]; }
  const PhaseTimes& of(SweepPhase which) const { return phase[static_cast<std::size_t>(which)]; }
  PhaseTimes total() const;
};
/// What happened between two observations of the same rank.
RankTimes operator-(const RankTimes& later, const RankTimes& earlier);

struct TimedTask {
  double begin = 0, end = 0;  ///< seconds
  std::string_view name;      ///< a literal
  SweepPhase phase = SweepPhase::none;
  std::int64_t number = 0;
  int thread = 0;
};

/// A message leaves its sender, or its receiver takes it.
struct TimedMessage {
  double seconds = 0;
  bool is_sent = false;
  index_t other = 0;  ///< rank
  std::int64_t tag = 0;
  std::size_t bytes = 0;
};

struct RankTimeline {
  std::vector<TimedTask> tasks;
  std::vector<TimedMessage> messages;
};

/// The record of one rank while it runs. Each thread writes to its own part.
class RankRecord {
 public:
  /// @param keeps_timeline  every task and message, not only sums
  explicit RankRecord(int threads = 1, bool keeps_timeline = false);
  ~RankRecord();
  RankRecord(RankRecord&&) noexcept;
  /// A task ran from `begin` to `end`; `sending` seconds of it were spent on messages. The time since the
  /// thread's last task (or start), without the time spent on messages, counts as waiting.
  void task(int thread, const TaskNote& note, double begin, double end, double sending);
  void start(int thread, double now);
  /// Adds seconds spent on messages since the last task.
  void handled(int thread, double seconds);
  /// Ends the record.
  void finish(int thread, double now);
  /// From any thread.
  void message(const TimedMessage& message);
  /// Seconds that SendClock has seen so far.
  double sending() const;
  void add_sending(double seconds);

  bool keeps_timeline() const;
  RankTimes times() const;
  RankTimeline timeline() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Records when messages are sent, and how long that takes. For one thread of one rank (others may send;
/// their time counts as work).
class SendClock final : public TransportWrapper {
 public:
  SendClock(Transport& inner, RankRecord& record) : TransportWrapper(inner), record_(record) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;

 private:
  RankRecord& record_;
};

/// The timelines of all ranks, by rank, as a document of the Chrome trace format (Perfetto reads it too): a
/// process for each rank, an arrow for each message.
std::string chrome_trace(std::span<const RankTimeline> ranks);

}  // namespace palmette
