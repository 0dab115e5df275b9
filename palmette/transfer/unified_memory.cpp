// Faults of a phase are counted, not scheduled: a fault stalls its multiprocessor for a fixed time, the
// multiprocessors of a device stall side by side, and pages share the device's link.
#include "palmette/transfer/unified_memory.hpp"

#include <algorithm>

#include "palmette/transfer/memory_images.hpp"

namespace palmette::transfer {
namespace {

class PageFaults {
 public:
  PageFaults(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options)
      : trace_(trace), fabric_(fabric), options_(options), images_(trace) {
    valid_.assign((trace.memory_bytes + page_bytes - 1) / page_bytes, everyone(trace.devices));
  }

  TransferResult run() {
    result_.paradigm = Paradigm::unified_memory;
    for (const TracedPhase& phase : trace_.phases) run_phase(phase);
    images_.end();
    result_.useful_bytes = images_.useful();
    result_.wasted_bytes = images_.wasted();
    result_.overhead_bytes = result_.wire_bytes - result_.useful_bytes - result_.wasted_bytes;
    return result_;
  }

 private:
  void migrate(int device, std::uint64_t page) {
    const std::uint64_t begin = page * page_bytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(page_bytes, trace_.memory_bytes - begin);
    result_.wire_bytes += wire_bytes(fabric_.packet, static_cast<std::int64_t>(bytes));
    ++result_.packets;
    images_.deliver_from(device, device, begin, bytes);
    migrated_bytes_[device] += static_cast<double>(bytes);
  }
  void fault(int device, const Access& access) {
    ++result_.page_faults;
    const std::uint32_t block =
        access.thread / static_cast<std::uint32_t>(phase_->kernels[device].block_threads);
    stalls_[device][block % stalls_[device].size()] += options_.device.page_fault_us * 1e-6;
  }
  /// Of a page that devices share, only the first fault of each device, for loads and for stores, counts in a
  /// phase: how often it would really go back and forth depends on times that are not known here.
  void load(int device, const Access& access) {
    const std::uint64_t page = access.address / page_bytes;
    const bool is_first = !has(loaded_[page], device);
    loaded_[page] |= only(device);
    if (is_first && !has(valid_[page], device)) {
      fault(device, access);
      migrate(device, page);
    }
    if (is_first) valid_[page] = options_.has_page_hints ? valid_[page] | only(device) : only(device);
    images_.load(device, access.address, access.bytes);
  }
  void store(int device, const Access& access) {
    const std::uint64_t page = access.address / page_bytes;
    const bool is_first = !has(stored_[page], device);
    stored_[page] |= only(device);
    if (!is_first || valid_[page] == only(device)) return;
    fault(device, access);
    if (!has(valid_[page], device)) migrate(device, page);
    valid_[page] = only(device);
  }
  /// Devices take turns, one access each; loads come first, since they read what earlier phases stored.
  void visit(AccessKind kind) {
    std::size_t longest = 0;
    for (const TracedKernel& kernel : phase_->kernels) longest = std::max(longest, kernel.accesses.size());
    for (std::size_t k = 0; k < longest; ++k)
      for (int device = 0; device < trace_.devices; ++device) {
        const auto& accesses = phase_->kernels[device].accesses;
        if (k >= accesses.size() || accesses[k].kind != kind) continue;
        if (kind == AccessKind::load)
          load(device, accesses[k]);
        else
          store(device, accesses[k]);
      }
  }
  void run_phase(const TracedPhase& phase) {
    phase_ = &phase;
    const auto devices = static_cast<std::size_t>(trace_.devices);
    stalls_.assign(devices, std::vector<double>(static_cast<std::size_t>(options_.device.multiprocessors)));
    migrated_bytes_.assign(devices, 0);
    loaded_.assign(valid_.size(), 0);
    stored_ = loaded_;
    visit(AccessKind::load);
    visit(AccessKind::store);
    double end = 0, compute = 0;
    for (std::size_t device = 0; device < devices; ++device) {
      const double work = phase.kernels[device].work_bytes / (options_.device.work_gbs * 1e9);
      const double stall = *std::max_element(stalls_[device].begin(), stalls_[device].end());
      end = std::max(end, work + std::max(stall, migrated_bytes_[device] / (fabric_.gbs * 1e9)));
      compute = std::max(compute, work);
      result_.stall_seconds += stall;
      result_.events += static_cast<std::int64_t>(phase.kernels[device].accesses.size());
      if (!options_.keeps_timeline) continue;
      const double begin = result_.seconds + options_.device.launch_us * 1e-6;
      const int at = static_cast<int>(device), in = static_cast<int>(&phase - trace_.phases.data());
      result_.timeline.push_back({TransferInterval::launch, at, in, result_.seconds, begin});
      result_.timeline.push_back({TransferInterval::kernel, at, in, begin, begin + work + stall});
    }
    result_.seconds += options_.device.launch_us * 1e-6 + end;
    result_.compute_seconds += options_.device.launch_us * 1e-6 + compute;
  }

  const StoreTrace& trace_;
  const Fabric& fabric_;
  const ReplayOptions& options_;
  MemoryImages images_;
  TransferResult result_;
  const TracedPhase* phase_ = nullptr;
  std::vector<DeviceSet> valid_;             ///< by page: who has it
  std::vector<std::vector<double>> stalls_;  ///< by device and multiprocessor, seconds
  std::vector<DeviceSet> loaded_, stored_;   ///< by page: who did, in this phase
  std::vector<double> migrated_bytes_;
};

}  // namespace

TransferResult simulate_unified_memory(const StoreTrace& trace, const Fabric& fabric,
                                       const ReplayOptions& options) {
  return PageFaults(trace, fabric, options).run();
}

}  // namespace palmette::transfer
