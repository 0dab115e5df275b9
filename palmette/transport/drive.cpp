// The driver of one rank: threads run tasks while there are any and check for messages in between.
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "palmette/base/base.hpp"
#include "palmette/transport/timeline.hpp"

namespace palmette {
namespace {

constexpr int turns_before_sleep = 2000;
constexpr auto longest_sleep = std::chrono::microseconds(200);

/// Ends the run when nothing happens for too long.
class Watchdog {
 public:
  Watchdog(const RankProgram& program, Transport& transport, double seconds)
      : program_(program), transport_(transport), seconds_(seconds) {}
  void something_happened() { quiet_ = false; }
  void nothing_happened() {
    if (seconds_ <= 0) return;
    if (!quiet_) since_.restart();
    quiet_ = true;
    if (since_.seconds() < seconds_) return;
    const std::string why = "rank " + std::to_string(transport_.rank()) + " of " +
                            std::to_string(transport_.num_ranks()) + " has waited " +
                            text_of_seconds(seconds_) + " for " + program_.waiting_for();
    transport_.abandon(why);
    throw BrokenRun(why);
  }

 private:
  const RankProgram& program_;
  Transport& transport_;
  double seconds_;
  bool quiet_ = false;
  Stopwatch since_;
};

bool take_messages(RankProgram& program, Transport& transport, RankRecord* record) {
  Message message;
  bool any = false;
  while (transport.poll(message)) {
    if (record != nullptr && record->keeps_timeline())
      record->message({clock_seconds(), false, message.source, message.tag, message.payload.size()});
    program.on_message(message);
    message = {};
    any = true;
  }
  return any;
}

/// One turn of a thread, timed.
class TimedTurn {
 public:
  TimedTurn(RankProgram& program, Transport& transport, RankRecord& record, int thread)
      : program_(program), transport_(transport), record_(record), thread_(thread) {
    record.start(thread, clock_seconds());
  }
  bool run() {
    bool worked = false;
    double begin = clock_seconds();
    if (thread_ == 0 && take_messages(program_, transport_, &record_)) {
      const double end = clock_seconds();
      record_.handled(thread_, end - begin);
      begin = end;
      worked = true;
    }
    const double sending = record_.sending();
    if (!program_.run_one_task(thread_)) return worked;
    record_.task(thread_, program_.last_task(thread_), begin, clock_seconds(), record_.sending() - sending);
    return true;
  }
  void finish() { record_.finish(thread_, clock_seconds()); }

 private:
  RankProgram& program_;
  Transport& transport_;
  RankRecord& record_;
  int thread_;
};

}  // namespace

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void check_rank(index_t rank, index_t num_ranks) {
  if (rank < 0 || rank >= num_ranks)
    throw UsageError("rank " + std::to_string(rank) + " does not exist: there are " +
                     std::to_string(num_ranks) + " ranks, from 0");
}

void check_num_ranks(index_t num_ranks) {
  if (num_ranks < 1)
    throw UsageError("a world of " + std::to_string(num_ranks) + " ranks; there must be at least 1");
}

void wait_politely(int turns) {
  if (turns < turns_before_sleep) {
    processor_pause();
    if (turns % 16 == 15) std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(longest_sleep);
  }
}

Offer Transport::offer(std::int64_t, SharedBytes) {
  throw UsageError("this transport holds nothing ready to be fetched: send it");
}
void Transport::get(index_t, const Offer&) {
  throw UsageError("this transport cannot fetch: let the owner send");
}

void Transport::rest(int turns) { wait_politely(turns); }

int drive(RankProgram& program, Transport& transport, ThreadTeam& team, const DriveOptions& options) {
  const InMode mode(program.mode());
  program.start();
  std::atomic<bool> failed{false};
  Doorbell bell;
  // The thread that polls for messages rests at the transport, and the one that watches the time does not
  // sleep; the others sleep until a task has been run.
  const bool first_sleeps = transport.num_ranks() == 1 && options.watchdog_seconds <= 0;
  const auto drive_member = [&](int thread) {
    Watchdog watchdog(program, transport, thread == 0 ? options.watchdog_seconds : 0);
    int turns = 0;
    std::optional<TimedTurn> timed;
    if (options.record != nullptr) timed.emplace(program, transport, *options.record, thread);
    const auto turn = [&] {
      if (timed) return timed->run();
      const bool taken = thread == 0 && take_messages(program, transport, nullptr);
      return program.run_one_task(thread) || taken;
    };
    try {
      const auto over = [&] { return failed.load(std::memory_order_relaxed) || program.done(); };
      while (!over()) {
        bool worked = turn();
        if (!worked && (thread > 0 || first_sleeps)) bell.wait([&] { return over() || (worked = turn()); });
        if (worked) {
          turns = 0;
          bell.ring();
          watchdog.something_happened();
          continue;
        }
        watchdog.nothing_happened();
        if (thread == 0 && !first_sleeps) transport.rest(turns++);
      }
      if (timed) timed->finish();
    } catch (...) {
      failed.store(true);
      bell.ring();
      throw;
    }
    bell.ring();
  };
  // By reference, so that nothing is allocated.
  const int threads = team.share(std::ref(drive_member), options.called);
  transport.flush();
  return threads;
}

}  // namespace palmette
