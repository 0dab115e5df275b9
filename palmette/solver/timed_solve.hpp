// Timing of solves and what the figures mean against the machine's bandwidth.
#pragma once

#include <functional>

#include "palmette/machine/machine.hpp"
#include "palmette/solver/report.hpp"

namespace palmette {

struct TimedSolve {
  SolveTrace trace;
  double seconds = 0;
};

/// Run solve_once `repeat` times (once more first, as a warm-up, if repeat > 1) and take the median.
TimedSolve time_solves(int repeat, const std::function<SolveTrace()>& solve_once);

/// Remembers the stream bandwidth of this machine for each thread count that was asked for.
class BandwidthMemory {
 public:
  BandwidthMemory(bool measure, std::string cache_folder)
      : measure_(measure), cache_folder_(std::move(cache_folder)) {}
  /// 10⁹ bytes/s; 0 if measuring is switched off. Thread-safe.
  ///
  /// Where a solve that cannot live in the cache was clearly faster than the figure at hand, that figure was
  /// taken on a busy machine: it is measured anew, once.
  double stream_gbs(int threads, const SolveCost& cost, double seconds);

 private:
  const Machine& machine_with(int threads, double faster_than_gbs);  // with mutex_ held
  bool measure_;
  std::string cache_folder_;
  ProcessMutex mutex_;
  std::vector<Machine> known_;
  bool doubted_ = false;
};

SolveReport solve_report(const TimedSolve& timed, const SolveCost& cost, index_t num_rhs, double stream_gbs);

}  // namespace palmette
