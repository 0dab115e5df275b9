// Builds traces.
#include "palmette/transfer/trace_recorder.hpp"

#include <algorithm>

namespace palmette::transfer {

TraceRecorder::TraceRecorder(std::string name, int devices, int block_threads)
    : block_threads_(block_threads) {
  if (devices < 1 || devices > most_devices)
    throw UsageError("a trace has 1 to 16 devices, not " + std::to_string(devices));
  if (block_threads < 1 || block_threads % warp_lanes != 0)
    throw UsageError("threads of a block must be a multiple of 32, not " + std::to_string(block_threads));
  trace_.name = std::move(name);
  trace_.devices = devices;
}

TracedPhase& TraceRecorder::phase() {
  if (!is_open_) {
    trace_.phases.emplace_back();
    trace_.phases.back().kernels.resize(trace_.devices);
    for (TracedKernel& kernel : trace_.phases.back().kernels) kernel.block_threads = block_threads_;
    instructions_.assign(trace_.devices, {});
    is_open_ = true;
  }
  return trace_.phases.back();
}

void TraceRecorder::add(const TraceThread& who, AccessKind kind, const What& what) {
  if (who.device < 0 || who.device >= trace_.devices || what.owner < 0 || what.owner >= trace_.devices)
    throw UsageError("there is no device " + std::to_string(std::max(who.device, what.owner)));
  if (who.thread < 0 || who.thread >= block_threads_)
    throw UsageError("a block has " + std::to_string(block_threads_) + " threads, so there is no thread " +
                     std::to_string(who.thread));
  TracedKernel& kernel = phase().kernels[who.device];
  Access one;
  one.kind = kind;
  one.scope = what.scope;
  one.thread = static_cast<std::uint32_t>(who.block) * static_cast<std::uint32_t>(block_threads_) +
               static_cast<std::uint32_t>(who.thread);
  one.to = kind == AccessKind::store && what.owner != who.device ? only(what.owner) : DeviceSet{0};
  std::uint32_t& instruction = instructions_[who.device][one.thread];
  for (int done = 0; done == 0 || done < what.bytes; done += 8) {
    one.address = what.address + static_cast<std::uint64_t>(done);
    one.bytes = static_cast<std::uint8_t>(std::min(8, what.bytes - done));
    if (kind == AccessKind::store) one.value = ++next_value_ * 0x9E3779B97F4A7C15ull;
    one.instruction = instruction++;
    kernel.accesses.push_back(one);
    trace_.memory_bytes = std::max(trace_.memory_bytes, one.address + one.bytes);
  }
}

void TraceRecorder::work(int device, double bytes) {
  phase().kernels.at(device).work_bytes += bytes;
}

void TraceRecorder::copy(int device, const CopyRange& range) {
  phase().kernels.at(device).copies.push_back(range);
  trace_.memory_bytes = std::max(trace_.memory_bytes, range.end);
}

void TraceRecorder::end_phase() {
  is_open_ = false;
}

StoreTrace TraceRecorder::take() {
  for (TracedPhase& phase : trace_.phases)
    for (TracedKernel& kernel : phase.kernels) order_by_warp(kernel);
  check(trace_);
  is_open_ = false;
  StoreTrace taken = std::move(trace_);
  trace_ = StoreTrace{taken.name, taken.devices, 0, {}};
  return taken;
}

}  // namespace palmette::transfer
