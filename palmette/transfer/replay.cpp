// Phases: devices issue, links carry, and when all is delivered the next phase begins.
#include "palmette/transfer/replay.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::transfer {

Replay::Replay(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options)
    : trace_(trace), fabric_(fabric), options_(options), images_(trace) {
  result_.paradigm = options.paradigm;
  devices_.resize(trace.devices);
  for (Device& device : devices_) {
    device.lines = std::make_unique<LineQueue>(options.gps.queue_entries);
    device.tlb = std::make_unique<PageTlb>(options.gps.tlb_entries, options.gps.tlb_ways);
    for (int other = 0; other < trace.devices; ++other)
      device.packing.emplace_back(options.finepack, fabric.packet);
  }
  page_subscribers_ = tracked_subscribers(trace);
  home_.assign(page_subscribers_.size(), -1);
  owner_.assign(trace.memory_bytes / 4 + 1, -1);
}

bool Replay::sends_lines() const {
  return options_.paradigm == Paradigm::gps || options_.paradigm == Paradigm::broadcast;
}

bool Replay::sends_stores() const {
  return options_.paradigm == Paradigm::peer_stores || options_.paradigm == Paradigm::finepack ||
         (options_.paradigm == Paradigm::proact && options_.proact.is_inline);
}

DeviceSet Replay::subscribers(std::uint64_t address, int device) const {
  const bool all = options_.paradigm == Paradigm::broadcast ||
                   phase_number_ < static_cast<std::size_t>(options_.gps.profile_phases);
  const DeviceSet who = all ? everyone(trace_.devices) : page_subscribers_[address / page_bytes];
  return static_cast<DeviceSet>(who & ~only(device));
}

DeviceSet Replay::promised(int device, const LineStore& store) const {
  if (sends_lines()) {
    const std::int8_t home = home_[store.address / page_bytes];
    return home < 0 ? subscribers(store.address, device) : only(home);
  }
  return sends_stores() ? static_cast<DeviceSet>(store.to & ~only(device)) : DeviceSet{0};
}

void Replay::read_deliveries(const TracedPhase& phase) {
  for (int device = 0; device < trace_.devices; ++device)
    for (const Access& one : phase.kernels[device].accesses)
      if (one.kind == AccessKind::load) images_.load(device, one.address, one.bytes);
}

void Replay::begin_kernel(int number, const TracedKernel& kernel) {
  Device& device = devices_[number];
  const bool tracks = options_.paradigm == Paradigm::proact && !options_.proact.is_inline;
  double seconds = kernel.work_bytes / (options_.device.work_gbs * 1e9);
  if (tracks) seconds *= 1 + options_.proact.tracking;
  device.issue = WarpIssue(kernel, options_.order, options_.device.resident_warps);
  const std::int64_t instructions = device.issue.num_instructions();
  device.step = instructions > 0 ? seconds / static_cast<double>(instructions) : 0;
  device.clock = instructions > 0 ? 0 : seconds;
  device.waits_for_link = device.engine_waits = device.waits_for_loads = false;
  device.is_flushed = device.is_finished = false;
  device.outstanding = 0;
  device.fetched.clear();
  device.agents.assign(options_.proact.agents, 0);
  device.walkers.assign(options_.device.page_walkers, 0);
  if (!tracks) return;
  const std::uint64_t chunk = static_cast<std::uint64_t>(options_.proact.chunk_bytes);
  device.stores_left.assign(trace_.memory_bytes / chunk + 1, 0);
  for (const Access& one : kernel.accesses)
    if (one.kind == AccessKind::store)
      device.stores_left[one.address / chunk] += static_cast<std::uint32_t>(one.bytes);
}

void Replay::run_phase(const TracedPhase& phase) {
  phase_ = &phase;
  network_ = std::make_unique<Network>(fabric_, trace_.devices,
                                       options_.keeps_timeline ? &phase_timeline_ : nullptr);
  read_deliveries(phase);
  double compute = 0;
  for (int device = 0; device < trace_.devices; ++device) {
    begin_kernel(device, phase.kernels[device]);
    compute = std::max(compute, phase.kernels[device].work_bytes / (options_.device.work_gbs * 1e9));
    result_.events += static_cast<std::int64_t>(phase.kernels[device].accesses.size());
    network_->plan(0, device);
  }
  const auto on_wake = [this](int waiter, double now) { wake(waiter, now); };
  const auto on_arrival = [this](const Packet& packet, double now) { deliver(packet, now); };
  network_->run(on_wake, on_arrival);
  double computed = 0;
  for (Device& device : devices_) {
    device.kernel_end = device.clock;
    computed = std::max(computed, device.clock);
  }
  if (options_.paradigm == Paradigm::copies) {
    start_copies();
    network_->run(on_wake, on_arrival);
  }
  double end = network_->last_arrival();
  for (const Device& device : devices_) end = std::max(end, device.clock);
  const double launch = options_.device.launch_us * 1e-6;
  if (options_.keeps_timeline) keep_timeline(computed, end);
  result_.seconds += launch + end;
  result_.compute_seconds += launch + compute;
  result_.events += network_->hops();
  end_promises(phase);
  for (int device = 0; device < trace_.devices; ++device)
    for (const Access& one : phase.kernels[device].accesses)
      if (one.kind == AccessKind::store) owner_[one.address / 4] = static_cast<std::int8_t>(device);
  ++phase_number_;
}

void Replay::keep_timeline(double computed, double end) {
  const double launched = result_.seconds + options_.device.launch_us * 1e-6;
  const int phase = static_cast<int>(phase_number_);
  auto& to = result_.timeline;
  for (int device = 0; device < trace_.devices; ++device) {
    const double kernel_end = launched + devices_[device].kernel_end;
    to.push_back({TransferInterval::launch, device, phase, result_.seconds, launched});
    to.push_back({TransferInterval::kernel, device, phase, launched, kernel_end});
    if (end > computed && options_.paradigm == Paradigm::copies)
      to.push_back({TransferInterval::copying, device, phase, launched + computed, launched + end});
  }
  for (TransferInterval one : phase_timeline_) {
    one.phase = phase;
    one.begin += launched;
    one.end += launched;
    to.push_back(one);
  }
  phase_timeline_.clear();
}

void Replay::end_promises(const TracedPhase& phase) {
  const bool copies = options_.paradigm == Paradigm::copies ||
                      (options_.paradigm == Paradigm::proact && !options_.proact.is_inline);
  if (!copies) return;
  for (int source = 0; source < trace_.devices; ++source)
    for (const CopyRange& range : phase.kernels[source].copies)
      for (int other = 0; other < trace_.devices; ++other)
        if (other != source && has(range.to, other))
          images_.promise_copy(source, other, range.begin, range.end);
}

void Replay::wake(int waiter, double now) {
  const int device = waiter % trace_.devices;
  Device& of = devices_[device];
  switch (waiter / trace_.devices) {
    case 0:
      of.waits_for_link = false;
      return advance(device, now);
    case 1:
      of.engine_waits = false;
      return pump(device, now);
    default:
      of.jobs.push_back(of.started.front());
      of.started.pop_front();
      if (!of.engine_waits) pump(device, now);
  }
}

bool Replay::send_out(int number, double now) {
  Device& device = devices_[number];
  while (!device.out.empty()) {
    if (!network_->inject(device.out.front(), number, now)) {
      device.waits_for_link = true;
      return false;
    }
    device.out.pop_front();
  }
  return true;
}

void Replay::advance(int number, double now) {
  Device& device = devices_[number];
  if (device.waits_for_link || device.is_finished) return;
  while (true) {
    if (!device.out.empty()) {
      if (device.clock > now) return network_->plan(device.clock, number);
      if (!send_out(number, now)) return;
      result_.stall_seconds += now - device.clock;
      if (options_.keeps_timeline && now > device.clock)
        phase_timeline_.push_back({TransferInterval::stall, number, 0, device.clock, now});
      device.clock = now;
    }
    if (device.outstanding >= options_.device.outstanding_loads ||
        (device.issue.is_done() && device.outstanding > 0)) {
      device.waits_for_loads = true;
      return;
    }
    if (!device.issue.is_done()) {
      device.clock += device.step;
      issue(number);
    } else if (!device.is_flushed) {
      device.is_flushed = true;
      flush(number);
    } else {
      device.is_finished = true;
      return;
    }
  }
}

void Replay::start_copies() {
  double end = 0;
  for (const Device& device : devices_) end = std::max(end, device.clock);
  for (int source = 0; source < trace_.devices; ++source) {
    bool any = false;
    for (int turn = 1; turn < trace_.devices; ++turn) {  // each begins with its neighbour
      const int other = (source + turn) % trace_.devices;
      for (const CopyRange& range : phase_->kernels[source].copies)
        if (has(range.to, other) && range.begin < range.end) {
          devices_[source].jobs.push_back({PacketKind::bulk, range.begin, range.end - range.begin, other});
          any = true;
        }
    }
    devices_[source].clock = end;
    if (any) network_->plan(end + fabric_.copy_start_us * 1e-6, trace_.devices + source);
    devices_[source].engine_waits = any;
  }
}

void Replay::pump(int number, double now) {
  Device& device = devices_[number];
  while (!device.jobs.empty()) {
    Job& job = device.jobs.front();
    Packet packet;
    packet.kind = job.kind;
    packet.source = number;
    packet.destination = job.destination;
    packet.address = job.address;
    packet.bytes =
        std::min<std::uint64_t>(job.bytes, static_cast<std::uint64_t>(fabric_.packet.max_payload_bytes));
    packet.wire_bytes = static_cast<int>(wire_bytes(fabric_.packet, static_cast<std::int64_t>(packet.bytes)));
    const std::uint64_t bytes = packet.bytes;
    const int wire = packet.wire_bytes;
    if (!network_->inject(packet, trace_.devices + number, now)) {
      device.engine_waits = true;
      return;
    }
    result_.wire_bytes += wire;
    ++result_.packets;
    job.address += bytes;
    job.bytes -= bytes;
    if (job.bytes == 0) device.jobs.pop_front();
  }
}

void Replay::deliver(const Packet& packet, double now) {
  const int to = packet.destination;
  if (packet.kind == PacketKind::store) {
    images_.deliver(to, packet.address, packet.data);
  } else if (packet.kind == PacketKind::packed) {
    StorePacket unpacked{packet.address, packet.is_plain, 0, 0, packet.data};
    unpack(unpacked, options_.finepack.subheader_bytes,
           [&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
             images_.deliver(to, address, bytes);
           });
  } else if (packet.kind == PacketKind::line) {
    const std::span<const std::uint8_t> data(packet.data);
    for (int from = packet.mask.next(0, true); from < line_bytes;) {
      const int end = packet.mask.next(from, false);
      images_.deliver(to, packet.address + from, data.subspan(from, end - from));
      from = packet.mask.next(end, true);
    }
    result_.wasted_bytes += line_bytes - packet.mask.count();
  } else if (packet.kind == PacketKind::bulk) {
    images_.deliver_from(packet.source, to, packet.address, packet.bytes);
  } else if (packet.kind == PacketKind::request) {
    devices_[to].jobs.push_back({PacketKind::response, packet.address, packet.bytes, packet.source});
    if (!devices_[to].engine_waits) pump(to, now);
  } else {
    result_.useful_bytes += static_cast<std::int64_t>(packet.bytes);
    Device& device = devices_[to];
    --device.outstanding;
    if (!device.waits_for_loads) return;
    device.waits_for_loads = false;
    device.clock = std::max(device.clock, now);
    advance(to, now);
  }
}

void Replay::count_subscribers() {
  std::vector<bool> stored(page_subscribers_.size());
  for (const TracedPhase& phase : trace_.phases)
    for (const TracedKernel& kernel : phase.kernels)
      for (const Access& one : kernel.accesses)
        if (one.kind == AccessKind::store) stored[one.address / page_bytes] = true;
  result_.pages_by_subscribers.assign(trace_.devices + 1, 0);
  for (std::size_t page = 0; page < stored.size(); ++page)
    if (stored[page]) ++result_.pages_by_subscribers[std::popcount(page_subscribers_[page])];
}

TransferResult Replay::run() {
  for (const TracedPhase& phase : trace_.phases) run_phase(phase);
  images_.end();
  result_.useful_bytes += images_.useful();
  result_.wasted_bytes += images_.wasted();
  result_.overhead_bytes = result_.wire_bytes - result_.useful_bytes - result_.wasted_bytes;
  result_.compared_bytes = images_.compared_bytes();
  result_.different_bytes = images_.different_bytes();
  for (const Device& device : devices_) {
    result_.queue_stores += device.lines->stores();
    result_.queue_hits += device.lines->hits();
    result_.tlb_lookups += device.tlb->lookups();
    result_.tlb_hits += device.tlb->hits();
    for (const FinePackQueue& queue : device.packing)
      for (int cause = 0; cause < num_flush_causes; ++cause)
        result_.flushes[cause] += queue.flushes(static_cast<FlushCause>(cause));
  }
  if (sends_lines()) count_subscribers();
  return result_;
}

}  // namespace palmette::transfer
