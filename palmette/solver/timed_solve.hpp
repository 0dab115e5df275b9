// Timing of solves, and comparison with the machine's bandwidth.
#pragma once

#include <functional>
#include <map>

#include "palmette/machine/machine.hpp"
#include "palmette/solver/report.hpp"

namespace palmette {

struct TimedSolve {
  SolveTrace trace;
  double seconds = 0;
};

/// Run solve_once `repeat` times (once more first, as a warm-up, if repeat > 1) and take the median.
TimedSolve time_solves(int repeat, const std::function<SolveTrace()>& solve_once);

/// Caches the stream bandwidth of this machine for each number of threads.
class BandwidthMemory {
 public:
  BandwidthMemory(bool measure, std::string cache_folder)
      : measure_(measure), cache_folder_(std::move(cache_folder)) {}
  /// The bandwidth in 10⁹ bytes/s; 0 if measuring is switched off. Thread-safe.
  ///
  /// If a solve that does not fit in the cache was clearly faster than the cached figure, that figure was
  /// measured on a busy machine, and is measured again, once.
  double stream_gbs(int threads, const SolveCost& cost, double seconds);
  /// The same of a device's memory, measured once; 0 for the emulated device too. Thread-safe.
  double device_gbs(const std::shared_ptr<Device>& device);

 private:
  const Machine& machine_with(int threads, double faster_than_gbs);  // with mutex_ held
  bool measure_;
  std::string cache_folder_;
  ProcessMutex mutex_;
  std::vector<Machine> known_;
  bool doubted_ = false;
  std::map<std::string, double> device_gbs_;  // by address
};

DeviceReport device_report(const Device& device, const DeviceCounts& counts);
/// Of all devices of a world together.
DeviceReport device_report(const DeviceWorld& world, const DeviceCounts& counts);
SolveReport solve_report(const TimedSolve& timed, const SolveCost& cost, index_t num_rhs, double stream_gbs);

}  // namespace palmette
