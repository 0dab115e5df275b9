// Medians and roofline fractions.
#include "palmette/solver/timed_solve.hpp"

#include <algorithm>

#include "palmette/solver/device_bandwidth.hpp"

namespace palmette {

TimedSolve time_solves(int repeat, const std::function<SolveTrace()>& solve_once) {
  if (repeat < 1)
    throw UsageError("a solve must be repeated at least once, not " + std::to_string(repeat) + " times");
  TimedSolve timed;
  if (repeat > 1) solve_once();
  std::vector<double> seconds;
  for (int run = 0; run < repeat; ++run) {
    const Stopwatch watch;
    timed.trace = solve_once();
    seconds.push_back(watch.seconds());
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  timed.seconds = *middle;
  return timed;
}

const Machine& BandwidthMemory::machine_with(int threads, double faster_than_gbs) {
  const auto place =
      std::find_if(known_.begin(), known_.end(), [&](const Machine& m) { return m.threads == threads; });
  if (place != known_.end() && place->stream_bandwidth_gbs >= faster_than_gbs) return *place;
  MeasureOptions options;
  options.threads = threads;
  options.cache_folder = cache_folder_;
  options.faster_than_gbs = faster_than_gbs;
  const Machine measured = measure_machine(options);
  if (place == known_.end()) return known_.emplace_back(measured);
  place->stream_bandwidth_gbs = std::max(place->stream_bandwidth_gbs, measured.stream_bandwidth_gbs);
  return *place;
}

double BandwidthMemory::stream_gbs(int threads, const SolveCost& cost, double seconds) {
  if (!measure_) return 0;
  const std::lock_guard lock(mutex_);
  const Machine& machine = machine_with(threads, 0);
  const double achieved_gbs = seconds > 0 ? cost.bytes / seconds / 1e9 : 0;
  const bool beyond_cache = cost.bytes > 8.0 * double(machine.last_level_cache_bytes);
  if (doubted_ || !beyond_cache || achieved_gbs <= 1.05 * machine.stream_bandwidth_gbs)
    return machine.stream_bandwidth_gbs;
  doubted_ = true;
  return machine_with(threads, achieved_gbs).stream_bandwidth_gbs;
}

double BandwidthMemory::device_gbs(const std::shared_ptr<Device>& device) {
  if (!measure_) return 0;
  const std::lock_guard lock(mutex_);
  const std::string address = device->info().address();
  const auto known = device_gbs_.find(address);
  if (known != device_gbs_.end()) return known->second;
  return device_gbs_[address] = measured_device_gbs(device);
}

DeviceReport device_report(const Device& device, const DeviceCounts& counts) {
  const DeviceInfo& info = device.info();
  return {info.address(), info.name, info.kind == "emulated", device.bytes_in_use(), counts};
}

DeviceReport device_report(const DeviceWorld& world, const DeviceCounts& counts) {
  const DeviceInfo& first = world.element(0)->info();
  offset_t bytes = 0;
  for (int e = 0; e < world.size(); ++e) bytes += world.element(e)->bytes_in_use();
  return {first.kind + " x " + std::to_string(world.size()), first.name, first.kind == "emulated", bytes,
          counts};
}

SolveReport solve_report(const TimedSolve& timed, const SolveCost& cost, index_t num_rhs, double stream_gbs) {
  SolveReport report;
  report.method = timed.trace.method;
  report.threads = timed.trace.threads;
  report.num_rhs = num_rhs;
  report.seconds = timed.seconds;
  report.bytes = cost.bytes;
  if (timed.seconds > 0) report.bandwidth_gbs = cost.bytes / timed.seconds / 1e9;
  report.stream_gbs = stream_gbs;
  if (stream_gbs > 0) {
    report.roofline_fraction = report.bandwidth_gbs / stream_gbs;
    report.critical_path_seconds = cost.critical_path_bytes / (stream_gbs * 1e9);
  }
  return report;
}

}  // namespace palmette
