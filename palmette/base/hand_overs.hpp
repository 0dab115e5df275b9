// Decides how many threads to use: fewer while handing work to other threads is slow, as on processors that
// are busy with other processes. There a thread that holds a piece of work may be suspended for milliseconds
// while all others wait for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace palmette {

/// Figures of one run of a team.
struct RunFigures {
  int threads = 1;               ///< number of threads that were called
  int disturbed = 0;             ///< of these, threads that lost their processor or were woken late
  std::int64_t wall_ns = 0;      ///< from the call to its return
  std::int64_t caller_ns = 0;    ///< part of it during which the caller had a processor
  bool in_pieces = false;        ///< threads took pieces of work that were not all there at first
};

/// Decides by the figures of earlier runs. Its size is constant; thread-safe.
///
/// If threads were disturbed in a short run and the caller was idle for a large part of it, as many threads
/// as were disturbed are paused, for a time in proportion to the time lost. So the total loss stays small,
/// however long the processors stay busy. After the pause all threads are called again; if that fails at
/// once, the next pause is twice as long in proportion. Of one run at most 10 ms count as lost. A loss that
/// undisturbed runs before it outweigh causes no pause: on a machine that is disturbed now and then, all
/// threads remain the faster choice. Two kinds of disturbed runs are not judged: long ones, since they
/// distribute many tasks, and suspended threads delay only their own; and those in pieces, since a caller may
/// wait for a piece that is not there yet.
class HandOvers {
 public:
  /// Threads to call for the next run, of a team of `size`; 1 ≤ it ≤ size.
  int threads(int size, std::int64_t now_ns) const;
  void ran(const RunFigures& figures, std::int64_t now_ns);
  /// For measurements and tests that need all threads at any cost: from now on no thread is paused.
  void call_all() { calls_all_.store(true, std::memory_order_relaxed); }
  /// Pause threads in advance, because this number of processors is known to be busy.
  void expect_busy(int processors, std::int64_t now_ns);

  static constexpr std::int64_t longest_judged_ns = 100'000'000;
  static constexpr std::int64_t longest_pause_ns = 2'000'000'000;
  static constexpr int least_pause_factor = 16;
  /// Undisturbed time that is remembered: a processor that becomes busy is noticed when runs have lost a
  /// seventh of it, as far as their losses count.
  static constexpr std::int64_t most_credit_ns = 200'000'000;
  /// More than this does not count of one run: a virtual processor may be stopped once for tens of
  /// milliseconds, but beside busy processes run after run loses some.
  static constexpr std::int64_t most_counted_loss_ns = 10'000'000;

 private:
  void add_undisturbed(std::int64_t ns);
  bool outweighed(std::int64_t lost_ns);

  std::atomic<int> withheld_{0};
  std::atomic<std::int64_t> until_ns_{0};
  std::atomic<std::int64_t> clean_ns_{0};     // undisturbed, with all threads, since the last pause
  std::atomic<std::int64_t> credit_ns_{0};    // undisturbed, less what losses since then have used up
  std::atomic<std::int64_t> pause_ns_{0};     // of the last pause
  std::atomic<int> factor_{least_pause_factor};
  std::atomic<bool> calls_all_{false};
};

/// The instance of this process, which all teams share, since they share its processors.
HandOvers& hand_overs_of_process();

}  // namespace palmette
