// Chrome's trace format: one event on each line.
#include "palmette/transfer/transfer_timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace palmette::transfer {
namespace {

constexpr const char* event_names[] = {"launch", "kernel",  "stall", "copying",
                                       "send",   "receive", "up",    "down"};
constexpr const char* lane_names[] = {"kernels of device", "link out of device", "link into device",
                                      "link up from group", "link down to group"};

/// Computing, stalls and copying share a line; each link has its own.
int lane_of(const TransferInterval& one) {
  return one.what < TransferInterval::send ? 0 : one.what - TransferInterval::send + 1;
}
int thread_of(const TransferInterval& one) {
  return 1 + 8 * one.place + lane_of(one);
}

class TraceText {
 public:
  void timeline(std::size_t number, const TransferTimeline& timeline) {
    metadata("process_name", number, 0, timeline.name + " (simulated)");
    std::set<int> named;
    for (const TransferInterval& one : timeline.intervals) {
      if (named.insert(thread_of(one)).second)
        metadata("thread_name", number, thread_of(one),
                 std::string(lane_names[lane_of(one)]) + " " + std::to_string(one.place));
      interval(number, one);
    }
  }
  std::string finished() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n"; }

 private:
  void metadata(const char* what, std::size_t process, int thread, const std::string& name) {
    begin_event();
    text_ += std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(process) +
             ",\"tid\":" + std::to_string(thread) + ",\"args\":{\"name\":\"" + escaped(name) + "\"}}";
  }
  void interval(std::size_t process, const TransferInterval& one) {
    begin_event();
    char line[256];
    std::snprintf(line, sizeof line,
                  "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%zu,\"tid\":%d,\"ts\":%.4f,\"dur\":%.4f,"
                  "\"args\":{\"phase\":%d",
                  event_names[one.what], process, thread_of(one), 1e6 * one.begin,
                  1e6 * std::max(0.0, one.end - one.begin), one.phase);
    text_ += line;
    if (one.packets > 0) {
      std::snprintf(line, sizeof line, ",\"packets\":%lld,\"bytes\":%lld",
                    static_cast<long long>(one.packets), static_cast<long long>(one.packet_bytes));
      text_ += line;
    }
    text_ += "}}";
  }
  /// Names of traces come from files.
  static std::string escaped(const std::string& name) {
    std::string text;
    for (const char letter : name) {
      if (letter == '"' || letter == '\\') text += '\\';
      text += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
    return text;
  }
  void begin_event() {
    if (!text_.empty()) text_ += ",\n";
  }
  std::string text_;
};

}  // namespace

std::string chrome_trace(std::span<const TransferTimeline> timelines) {
  TraceText text;
  for (std::size_t number = 0; number < timelines.size(); ++number) text.timeline(number, timelines[number]);
  return text.finished();
}

}  // namespace palmette::transfer
