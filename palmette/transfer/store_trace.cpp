// Order and soundness of traces.
#include "palmette/transfer/store_trace.hpp"

#include <algorithm>
#include <tuple>

namespace palmette::transfer {
namespace {

[[noreturn]] void refuse(std::size_t phase, std::size_t device, const std::string& what) {
  throw UsageError("phase " + std::to_string(phase) + ", device " + std::to_string(device) + ": " + what);
}

std::string fault_of(const StoreTrace& trace, const Access& access) {
  if (access.kind == AccessKind::release) return "";
  if (access.bytes < 1 || access.bytes > 8)
    return "an access has 1 to 8 bytes, not " + std::to_string(access.bytes);
  if (access.address + access.bytes > trace.memory_bytes || access.address + access.bytes < access.address)
    return "address " + std::to_string(access.address) + " lies outside " +
           std::to_string(trace.memory_bytes) + " bytes of shared memory";
  if ((access.to & ~everyone(trace.devices)) != 0) return "a store goes to a device that there is not";
  return "";
}

}  // namespace

std::int64_t StoreTrace::num_accesses() const {
  std::int64_t count = 0;
  for (const TracedPhase& phase : phases)
    for (const TracedKernel& kernel : phase.kernels)
      count += static_cast<std::int64_t>(kernel.accesses.size());
  return count;
}

void order_by_warp(TracedKernel& kernel) {
  const auto key = [](const Access& one) {
    return std::tuple(one.thread / warp_lanes, one.instruction, one.thread);
  };
  std::stable_sort(kernel.accesses.begin(), kernel.accesses.end(),
                   [&](const Access& a, const Access& b) { return key(a) < key(b); });
}

void check(const StoreTrace& trace) {
  if (trace.devices < 1 || trace.devices > most_devices)
    throw UsageError("a trace has 1 to 16 devices, not " + std::to_string(trace.devices));
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    const auto& kernels = trace.phases[phase].kernels;
    if (kernels.size() != static_cast<std::size_t>(trace.devices))
      refuse(phase, kernels.size(), "every phase needs one kernel for each device");
    for (std::size_t device = 0; device < kernels.size(); ++device) {
      const TracedKernel& kernel = kernels[device];
      if (kernel.block_threads < 1 || kernel.block_threads % warp_lanes != 0)
        refuse(phase, device, "threads of a block must be a multiple of 32");
      if (!(kernel.work_bytes >= 0)) refuse(phase, device, "work must be 0 or more");
      for (const Access& access : kernel.accesses)
        if (const std::string fault = fault_of(trace, access); !fault.empty()) refuse(phase, device, fault);
      for (const CopyRange& copy : kernel.copies)
        if (copy.begin > copy.end || copy.end > trace.memory_bytes ||
            (copy.to & ~everyone(trace.devices)) != 0)
          refuse(phase, device, "a copy lies outside shared memory, or goes to a device that there is not");
    }
  }
}

}  // namespace palmette::transfer
