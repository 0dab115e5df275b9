// The paradigms that need no replay, and the choice among those that do.
#include "palmette/transfer/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/transfer/replay.hpp"
#include "palmette/transfer/unified_memory.hpp"

namespace palmette::transfer {
namespace {

void check(const ReplayOptions& options) {
  const DeviceModel& device = options.device;
  if (!(device.work_gbs > 0)) throw UsageError("work_gbs must be above 0");
  if (!(device.launch_us >= 0) || !(device.page_fault_us >= 0) || !(device.page_walk_us >= 0))
    throw UsageError("times of a device must be 0 or more");
  if (device.multiprocessors < 1 || device.resident_warps < 1 || device.outstanding_loads < 1 ||
      device.page_walkers < 1)
    throw UsageError("a device needs multiprocessors, resident warps, outstanding loads and page walkers");
  if (options.proact.chunk_bytes < line_bytes)
    throw UsageError("a chunk has at least 128 bytes, not " + std::to_string(options.proact.chunk_bytes));
  if (options.proact.agents < 1 || !(options.proact.start_us >= 0) || !(options.proact.tracking >= 0))
    throw UsageError("PROACT needs an agent, and times of 0 or more");
}

TransferResult without_network(const StoreTrace& trace, const ReplayOptions& options) {
  TransferResult result;
  result.paradigm = options.paradigm;
  const double launch = options.device.launch_us * 1e-6;
  for (std::size_t number = 0; number < trace.phases.size(); ++number) {
    const TracedPhase& phase = trace.phases[number];
    double work = 0;
    for (const TracedKernel& kernel : phase.kernels)
      work =
          options.paradigm == Paradigm::single ? work + kernel.work_bytes : std::max(work, kernel.work_bytes);
    const double begin = result.seconds + launch, rate = options.device.work_gbs * 1e9;
    result.seconds += launch + work / rate;
    if (!options.keeps_timeline) continue;
    const bool is_single = options.paradigm == Paradigm::single;
    for (int device = 0; device < (is_single ? 1 : trace.devices); ++device) {
      const double seconds = (is_single ? work : phase.kernels[device].work_bytes) / rate;
      const int in = static_cast<int>(number);
      result.timeline.push_back({TransferInterval::launch, device, in, begin - launch, begin});
      result.timeline.push_back({TransferInterval::kernel, device, in, begin, begin + seconds});
    }
  }
  result.compute_seconds = result.seconds;
  return result;
}

}  // namespace

const char* name_of(Paradigm paradigm) {
  static const char* const names[] = {"single",    "copies", "unified_memory", "peer_loads", "peer_stores",
                                      "broadcast", "gps",    "finepack",       "proact",     "infinite"};
  return names[static_cast<int>(paradigm)];
}

TransferResult simulate_transfers(const StoreTrace& trace, const Fabric& fabric,
                                  const ReplayOptions& options) {
  check(trace);
  check(fabric);
  check(options);
  if (options.paradigm == Paradigm::single || options.paradigm == Paradigm::infinite)
    return without_network(trace, options);
  if (options.paradigm == Paradigm::unified_memory) return simulate_unified_memory(trace, fabric, options);
  TransferResult result = Replay(trace, fabric, options).run();
  if (options.paradigm == Paradigm::proact && !options.proact.is_inline)
    result.chunk_bytes = options.proact.chunk_bytes;
  return result;
}

const std::vector<std::int64_t>& usual_chunks() {
  static const std::vector<std::int64_t> chunks = {16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20};
  return chunks;
}

TransferResult profile_proact(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options,
                              const std::vector<std::int64_t>& chunk_bytes) {
  ReplayOptions one = options;
  one.paradigm = Paradigm::proact;
  one.proact.is_inline = true;
  TransferResult best = simulate_transfers(trace, fabric, one);
  one.proact.is_inline = false;
  for (const std::int64_t bytes : chunk_bytes) {
    one.proact.chunk_bytes = bytes;
    TransferResult found = simulate_transfers(trace, fabric, one);
    if (found.seconds < best.seconds) best = std::move(found);
  }
  return best;
}

double calibrate_work_gbs(const std::vector<StoreTrace>& traces, const Fabric& fabric,
                          const ReplayOptions& options, double speedup) {
  // At rate w: launches + work / w for one device, launches + longest work / w + the rest for copies.
  struct Program {
    double launches, work, longest, rest;
  };
  std::vector<Program> programs;
  for (const StoreTrace& trace : traces) {
    ReplayOptions one = options;
    one.paradigm = Paradigm::copies;
    const TransferResult copies = simulate_transfers(trace, fabric, one);
    one.paradigm = Paradigm::single;
    const TransferResult single = simulate_transfers(trace, fabric, one);
    const double launches = static_cast<double>(trace.phases.size()) * options.device.launch_us * 1e-6;
    programs.push_back({launches, single.seconds - launches, copies.compute_seconds - launches,
                        copies.seconds - copies.compute_seconds});
  }
  const auto mean = [&](double slower) {
    double sum = 0;
    for (const Program& one : programs)
      sum += std::log((one.launches + slower * one.work) / (one.launches + slower * one.longest + one.rest));
    return std::exp(sum / static_cast<double>(programs.size()));
  };
  double least = 1e-6, most = 1e6;  // how much slower than at the given rate
  if (programs.empty() || !(mean(least) < speedup && speedup < mean(most)))
    throw UsageError("no rate of local memory makes copies " + std::to_string(speedup) + " times as fast");
  for (int step = 0; step < 200; ++step) {
    const double middle = std::sqrt(least * most);
    (mean(middle) < speedup ? least : most) = middle;
  }
  return options.device.work_gbs / most;
}

}  // namespace palmette::transfer
