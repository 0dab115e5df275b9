// What one instruction of a warp sends, under each paradigm.
#include <algorithm>
#include <bit>
#include <cstring>

#include "palmette/transfer/replay.hpp"

namespace palmette::transfer {
namespace {

constexpr std::uint64_t sector_bytes = 32;

}  // namespace

void Replay::push(int device, Packet&& packet) {
  packet.source = device;
  result_.wire_bytes += packet.wire_bytes;
  ++result_.packets;
  devices_[device].out.push_back(std::move(packet));
}

void Replay::send_plain(int device, int destination, const LineStore& store) {
  Packet packet;
  packet.kind = PacketKind::store;
  packet.destination = destination;
  packet.address = store.address;
  packet.data.assign(store.data.begin(), store.data.begin() + store.bytes);
  packet.wire_bytes = static_cast<int>(store_wire_bytes(fabric_.packet, store.bytes));
  push(device, std::move(packet));
}

void Replay::send_packed(int device, int destination, StorePacket&& from) {
  Packet packet;
  packet.kind = PacketKind::packed;
  packet.destination = destination;
  packet.address = from.base;
  packet.is_plain = from.is_plain;
  result_.packed_runs += from.stores;
  const auto bytes = static_cast<std::int64_t>(from.payload.size());
  packet.wire_bytes = static_cast<int>(from.is_plain ? store_wire_bytes(fabric_.packet, bytes)
                                                     : wire_bytes(fabric_.packet, bytes));
  packet.data = std::move(from.payload);
  push(device, std::move(packet));
}

void Replay::publish(int number, const PublishedLine& line) {
  Device& device = devices_[number];
  const std::uint64_t address = line.line * line_bytes;
  const DeviceSet to = subscribers(address, number);
  if (!device.tlb->look_up(address / page_bytes)) {
    // The line waits for a walker; when all are busy, so does the device.
    double& walker = *std::min_element(device.walkers.begin(), device.walkers.end());
    device.clock = std::max(device.clock, walker);
    walker = device.clock + options_.device.page_walk_us * 1e-6;
  }
  for (int other = 0; other < trace_.devices; ++other) {
    if (!has(to, other)) continue;
    Packet packet;
    packet.kind = PacketKind::line;
    packet.destination = other;
    packet.address = address;
    packet.mask = line.mask;
    packet.data.assign(line.data.begin(), line.data.end());
    packet.wire_bytes = static_cast<int>(wire_bytes(fabric_.packet, line_bytes));
    push(number, std::move(packet));
  }
}

/// A store of system scope makes a page of GPS an ordinary one, which the device that stored keeps.
void Replay::collapse(int device, std::uint64_t page) {
  if (home_[page] >= 0) return;
  flush(device);
  home_[page] = static_cast<std::int8_t>(device);
}

void Replay::count_down(int number, const LineStore& store) {
  const std::uint64_t size = static_cast<std::uint64_t>(options_.proact.chunk_bytes);
  for (std::uint64_t at = store.address; at < store.address + store.bytes;) {
    const std::uint64_t chunk = at / size, end = std::min(store.address + store.bytes, (chunk + 1) * size);
    std::uint32_t& left = devices_[number].stores_left[chunk];
    left -= std::min(left, static_cast<std::uint32_t>(end - at));
    if (left == 0) start_chunk(number, chunk);
    at = end;
  }
}

void Replay::start_chunk(int number, std::uint64_t chunk) {
  Device& device = devices_[number];
  const std::uint64_t size = static_cast<std::uint64_t>(options_.proact.chunk_bytes);
  for (const CopyRange& range : phase_->kernels[number].copies) {
    const std::uint64_t begin = std::max(range.begin, chunk * size),
                        end = std::min(range.end, (chunk + 1) * size);
    if (begin >= end) continue;
    ++result_.chunks;
    double& agent = *std::min_element(device.agents.begin(), device.agents.end());
    const double start = std::max(device.clock, agent) + options_.proact.start_us * 1e-6;
    agent = start;
    for (int turn = 1; turn < trace_.devices; ++turn) {
      const int other = (number + turn) % trace_.devices;
      if (!has(range.to, other)) continue;
      agent += static_cast<double>(end - begin) / (fabric_.gbs * 1e9);
      device.started.push_back({PacketKind::bulk, begin, end - begin, other});
      network_->plan(start, 2 * trace_.devices + number);
    }
  }
}

void Replay::issue_store(int number, const LineStore& store) {
  Device& device = devices_[number];
  const DeviceSet to = promised(number, store);
  images_.store(number, to, store.address, {store.data.data(), static_cast<std::size_t>(store.bytes)});
  const int destinations = std::popcount(to);
  result_.stores += destinations;
  result_.store_bytes += std::int64_t{destinations} * store.bytes;
  result_.small_stores += store.bytes <= 32 ? destinations : 0;
  result_.stores_by_size[std::bit_width((static_cast<unsigned>(store.bytes) + 3) / 4 - 1)] += destinations;
  if (options_.paradigm == Paradigm::proact && !options_.proact.is_inline) return count_down(number, store);
  if (sends_lines()) {
    const std::int8_t home = home_[store.address / page_bytes];
    if (home >= 0) {
      if (home != number) send_plain(number, home, store);
    } else if (to != 0) {
      device.lines->add(store, [&](const PublishedLine& line) { publish(number, line); });
    }
    return;
  }
  if (!sends_stores()) return;
  for (int other = 0; other < trace_.devices; ++other) {
    if (!has(to, other)) continue;
    if (options_.paradigm != Paradigm::finepack)
      send_plain(number, other, store);
    else
      device.packing[other].add(store,
                                [&](StorePacket&& packet) { send_packed(number, other, std::move(packet)); });
  }
}

void Replay::flush(int number) {
  Device& device = devices_[number];
  if (sends_lines()) device.lines->drain([&](const PublishedLine& line) { publish(number, line); });
  if (options_.paradigm != Paradigm::finepack) return;
  for (int other = 0; other < trace_.devices; ++other)
    device.packing[other].flush(FlushCause::release,
                                [&](StorePacket&& packet) { send_packed(number, other, std::move(packet)); });
}

void Replay::issue_loads(int number, std::span<const Access> accesses) {
  Device& device = devices_[number];
  const auto block_threads = static_cast<std::uint32_t>(phase_->kernels[number].block_threads);
  std::uint64_t line = ~std::uint64_t{0};
  Packet* request = nullptr;
  for (const Access& one : accesses) {
    if (one.kind != AccessKind::load) continue;
    const std::int8_t home = sends_lines() ? home_[one.address / page_bytes] : owner_[one.address / 4];
    if (home < 0 || home == number) continue;
    const std::uint64_t sector = one.address / sector_bytes, block = one.thread / block_threads;
    if (!device.fetched.insert(block << 40 | sector).second) continue;
    // Sectors of one line that lanes ask for at once are one request.
    const bool joins = request != nullptr && line == one.address / line_bytes && request->destination == home;
    if (joins) {
      request->bytes += sector_bytes;
      continue;
    }
    Packet packet;
    packet.kind = PacketKind::request;
    packet.destination = home;
    packet.address = sector * sector_bytes;
    packet.bytes = sector_bytes;
    packet.wire_bytes = static_cast<int>(wire_bytes(fabric_.packet, 0));
    push(number, std::move(packet));
    request = &device.out.back();
    line = one.address / line_bytes;
    ++device.outstanding;
  }
}

void Replay::issue(int number) {
  const std::span<const Access> accesses = devices_[number].issue.next();
  coalesced_.clear();
  coalesce(accesses, coalesced_);
  for (const LineStore& store : coalesced_) {
    if (sends_lines() && store.scope == AccessScope::system) collapse(number, store.address / page_bytes);
    issue_store(number, store);
  }
  if (options_.paradigm == Paradigm::peer_loads || sends_lines()) issue_loads(number, accesses);
  for (const Access& one : accesses)
    if (one.kind == AccessKind::release && one.scope == AccessScope::system) {
      flush(number);
      break;
    }
}

}  // namespace palmette::transfer
