// Sums by phase, and the trace as text.
#include "palmette/transport/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

namespace palmette {

std::string_view name_of(SweepPhase phase) {
  switch (phase) {
    case SweepPhase::none: return "none";
    case SweepPhase::forward: return "forward";
    case SweepPhase::between: return "between";
    case SweepPhase::backward: return "backward";
  }
  return "";
}

PhaseTimes& PhaseTimes::operator+=(const PhaseTimes& other) {
  work += other.work;
  messages += other.messages;
  waiting += other.waiting;
  return *this;
}
PhaseTimes& PhaseTimes::operator-=(const PhaseTimes& other) {
  work -= other.work;
  messages -= other.messages;
  waiting -= other.waiting;
  return *this;
}

PhaseTimes RankTimes::total() const {
  PhaseTimes all;
  for (const PhaseTimes& one : phase) all += one;
  return all;
}

RankTimes operator-(const RankTimes& later, const RankTimes& earlier) {
  RankTimes between = later;
  for (std::size_t phase = 0; phase < between.phase.size(); ++phase)
    between.phase[phase] -= earlier.phase[phase];
  return between;
}

struct RankRecord::State {
  struct Member {
    RankTimes times;
    double since = 0;    // the end of the last task
    double handled = 0;  // spent on messages since then: belongs to the phase of the next task
    SweepPhase phase = SweepPhase::none;
    std::vector<TimedTask> tasks;
  };
  bool keeps_timeline = false;
  std::vector<Member> threads;
  std::mutex mutex;
  std::vector<TimedMessage> messages;
  std::atomic<double> sending{0};

  Member& of(int thread) { return threads[thread]; }
};

RankRecord::RankRecord(int threads, bool keeps_timeline) : state_(std::make_unique<State>()) {
  if (threads < 1)
    throw UsageError("a record of " + std::to_string(threads) + " threads; there must be at least 1");
  state_->keeps_timeline = keeps_timeline;
  state_->threads.resize(threads);
}
RankRecord::~RankRecord() = default;
RankRecord::RankRecord(RankRecord&&) noexcept = default;

void RankRecord::start(int thread, double now) {
  State::Member& mine = state_->of(thread);
  mine.since = now;
  mine.handled = 0;
}

void RankRecord::task(int thread, const TaskNote& note, double begin, double end, double sending) {
  State::Member& mine = state_->of(thread);
  PhaseTimes& times = mine.times.of(note.phase);
  times.work += end - begin - sending;
  times.messages += sending + mine.handled;
  times.waiting += std::max(0.0, begin - mine.since - mine.handled);
  mine.since = end;
  mine.handled = 0;
  mine.phase = note.phase;
  if (state_->keeps_timeline) mine.tasks.push_back({begin, end, note.name, note.phase, note.number, thread});
}

void RankRecord::handled(int thread, double seconds) { state_->of(thread).handled += seconds; }

void RankRecord::finish(int thread, double now) {
  State::Member& mine = state_->of(thread);
  PhaseTimes& times = mine.times.of(mine.phase);
  times.messages += mine.handled;
  times.waiting += std::max(0.0, now - mine.since - mine.handled);
  mine.since = now;
  mine.handled = 0;
}

void RankRecord::message(const TimedMessage& message) {
  const std::lock_guard lock(state_->mutex);
  state_->messages.push_back(message);
}

double RankRecord::sending() const { return state_->sending.load(std::memory_order_relaxed); }
void RankRecord::add_sending(double seconds) {
  double before = state_->sending.load(std::memory_order_relaxed);
  while (!state_->sending.compare_exchange_weak(before, before + seconds, std::memory_order_relaxed))
    continue;
}

bool RankRecord::keeps_timeline() const { return state_->keeps_timeline; }

RankTimes RankRecord::times() const {
  RankTimes all;
  for (const State::Member& thread : state_->threads)
    for (std::size_t phase = 0; phase < all.phase.size(); ++phase)
      all.phase[phase] += thread.times.phase[phase];
  return all;
}

RankTimeline RankRecord::timeline() const {
  RankTimeline line;
  for (const State::Member& thread : state_->threads)
    line.tasks.insert(line.tasks.end(), thread.tasks.begin(), thread.tasks.end());
  line.messages = state_->messages;
  return line;
}

void SendClock::send(index_t destination, std::int64_t tag, SharedBytes payload) {
  const std::size_t bytes = payload.size();
  const double begin = clock_seconds();
  inner_.send(destination, tag, std::move(payload));
  record_.add_sending(clock_seconds() - begin);
  if (record_.keeps_timeline()) record_.message({begin, true, destination, tag, bytes});
}

namespace {

/// Microseconds since the first event of all, as the format requires.
class TraceText {
 public:
  explicit TraceText(std::span<const RankTimeline> ranks) {
    bool any = false;
    const auto look = [&](double seconds) {
      if (!any || seconds < begin_) begin_ = seconds;
      any = true;
    };
    for (const RankTimeline& rank : ranks) {
      for (const TimedTask& task : rank.tasks) look(task.begin);
      for (const TimedMessage& message : rank.messages) look(message.seconds);
    }
  }

  void rank(std::size_t number) {
    event();
    write("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%zu,\"args\":{\"name\":\"rank %zu\"}}", number,
          number);
  }
  void task(std::size_t rank, const TimedTask& task) {
    event();
    write(
        "{\"ph\":\"X\",\"name\":\"%.*s\",\"cat\":\"%s\",\"pid\":%zu,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
        "\"args\":{\"number\":%lld}}",
        static_cast<int>(task.name.size()), task.name.data(), std::string(name_of(task.phase)).c_str(), rank,
        task.thread, microseconds(task.begin), 1e6 * (task.end - task.begin),
        static_cast<long long>(task.number));
  }
  /// An arrow begins with "s" where the message leaves and ends with "f" where it is received; both have the
  /// same id.
  void message(std::size_t rank, const TimedMessage& one) {
    const auto other = static_cast<std::size_t>(one.other);
    const std::size_t source = one.is_sent ? rank : other, destination = one.is_sent ? other : rank;
    event();
    write(
        "{\"ph\":\"%s\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":\"%zu-%zu-%lld\","
        "\"pid\":%zu,\"tid\":0,\"ts\":%.3f,"
        "\"args\":{\"bytes\":%zu}}",
        one.is_sent ? "s" : "f", source, destination, static_cast<long long>(one.tag), rank,
        microseconds(one.seconds), one.bytes);
  }
  std::string finished() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n"; }

 private:
  double microseconds(double seconds) const { return 1e6 * (seconds - begin_); }
  void event() {
    if (!text_.empty()) text_ += ",\n";
  }
  template <class... Values>
  void write(const char* format, Values... values) {
    char line[400];
    const int length = std::snprintf(line, sizeof line, format, values...);
    text_.append(line, static_cast<std::size_t>(std::min<int>(std::max(0, length), sizeof line - 1)));
  }
  double begin_ = 0;
  std::string text_;
};

}  // namespace

std::string chrome_trace(std::span<const RankTimeline> ranks) {
  TraceText text(ranks);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    text.rank(rank);
    for (const TimedTask& task : ranks[rank].tasks) text.task(rank, task);
    for (const TimedMessage& message : ranks[rank].messages) text.message(rank, message);
  }
  return text.finished();
}

}  // namespace palmette
