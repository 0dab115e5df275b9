// How many threads are worth calling: fewer while handing work over to other threads is slow, as it is on
// processors that other processes keep busy. There a thread that holds a piece of work may stand still for
// milliseconds, and all others wait for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace palmette {

/// What one run of a team shows of its hand-overs.
struct RunFigures {
  int threads = 1;               ///< that were called
  int disturbed = 0;             ///< of them, those that lost their processor, or were woken late
  std::int64_t wall_ns = 0;      ///< from the call to its return
  std::int64_t caller_ns = 0;    ///< of it, what the caller had a processor for
};

/// Decides from what earlier runs have shown. Its size is constant; any thread may ask and tell at any time.
///
/// A short run in which threads were disturbed and its caller stood still for a large part of the time
/// withholds as many threads as were disturbed, for a time in proportion to what was lost: so little is lost
/// on the whole, however long the processors stay busy. When the time is over all threads are called again;
/// if that goes badly at once, the next pause is twice as long in proportion. Long runs are not judged: they
/// deal out many tasks, and threads that stand still delay only their own.
class HandOvers {
 public:
  /// Threads to call for the next run, of a team of `size`; 1 ≤ it ≤ size.
  int threads(int size, std::int64_t now_ns) const;
  void ran(const RunFigures& figures, std::int64_t now_ns);
  /// For measurements and tests, which want all threads whatever that costs: from now on none is withheld.
  void call_all() { calls_all_.store(true, std::memory_order_relaxed); }
  /// Hold threads back before anything was lost, since so many processors are known to be busy.
  void expect_busy(int processors, std::int64_t now_ns);

  static constexpr std::int64_t longest_judged_ns = 100'000'000;
  static constexpr std::int64_t longest_pause_ns = 2'000'000'000;
  static constexpr int least_pause_factor = 16;

 private:
  std::atomic<int> withheld_{0};
  std::atomic<std::int64_t> until_ns_{0};
  std::atomic<std::int64_t> clean_ns_{0};     // well spent with all threads since the last pause
  std::atomic<std::int64_t> pause_ns_{0};     // the last one
  std::atomic<int> factor_{least_pause_factor};
  std::atomic<bool> calls_all_{false};
};

/// The one of this process: whether its processors are free is no matter of a single team.
HandOvers& hand_overs_of_process();

}  // namespace palmette
