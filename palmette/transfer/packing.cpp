// Coalescer, FinePack's queue, packetizer and depacketizer.
#include "palmette/transfer/packing.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace palmette::transfer {

void ByteMask::set(int from, int bytes) {
  for (int word = 0; word < 2; ++word) {
    const int begin = std::max(from, 64 * word), end = std::min(from + bytes, 64 * word + 64);
    if (begin >= end) continue;
    const std::uint64_t ones =
        end - begin == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (end - begin)) - 1;
    words[word] |= ones << (begin - 64 * word);
  }
}

int ByteMask::runs() const {
  const std::uint64_t after_first = words[1] << 1 | words[0] >> 63;
  return std::popcount(words[0] & ~(words[0] << 1)) + std::popcount(words[1] & ~after_first);
}

int ByteMask::next(int from, bool value) const {
  for (int word = from / 64; word < 2; ++word) {
    const std::uint64_t bits = (value ? words[word] : ~words[word]) >> (from - 64 * word);
    if (bits != 0) return from + std::countr_zero(bits);
    from = 64 * word + 64;
  }
  return line_bytes;
}

void coalesce(std::span<const Access> accesses, std::vector<LineStore>& stores) {
  const std::size_t first = stores.size();
  for (const Access& one : accesses) {
    if (one.kind != AccessKind::store) continue;
    // A store of up to 8 bytes may cross a line.
    for (int done = 0; done < one.bytes;) {
      const std::uint64_t at = one.address + done;
      const int part = std::min<int>(one.bytes - done, line_bytes - static_cast<int>(at % line_bytes));
      LineStore* last = stores.size() > first ? &stores.back() : nullptr;
      const bool continues = last != nullptr && last->to == one.to && last->scope == one.scope &&
                             at == last->address + last->bytes && at % line_bytes != 0;
      if (!continues) {
        stores.emplace_back();
        last = &stores.back();
        last->address = at;
        last->bytes = 0;
        last->to = one.to;
        last->scope = one.scope;
      }
      std::memcpy(last->data.data() + last->bytes, reinterpret_cast<const char*>(&one.value) + done, part);
      last->bytes += part;
      done += part;
    }
  }
  if (stores.size() - first < 2) return;
  // Lanes in another order than their addresses: sort, then join what overlaps or touches.
  std::stable_sort(stores.begin() + first, stores.end(), [](const LineStore& a, const LineStore& b) {
    return std::tuple(a.scope, a.to, a.address / line_bytes, a.address) <
           std::tuple(b.scope, b.to, b.address / line_bytes, b.address);
  });
  std::size_t kept = first;
  for (std::size_t k = first + 1; k < stores.size(); ++k) {
    LineStore& last = stores[kept];
    const LineStore& one = stores[k];
    const bool joins = one.scope == last.scope && one.to == last.to &&
                       one.address / line_bytes == last.address / line_bytes &&
                       one.address <= last.address + last.bytes;
    if (!joins) {
      if (++kept != k) stores[kept] = one;
      continue;
    }
    const int offset = static_cast<int>(one.address - last.address);
    std::memcpy(last.data.data() + offset, one.data.data(), one.bytes);
    last.bytes = std::max(last.bytes, offset + one.bytes);
  }
  stores.resize(kept + 1);
}

FinePackQueue::FinePackQueue(const FinePackOptions& options, const PacketFormat& packet)
    : options_(options),
      max_payload_(packet.max_payload_bytes),
      window_(static_cast<std::uint64_t>(packet_window_bytes(options.subheader_bytes))),
      available_(packet.max_payload_bytes) {
  if (options.entries < 1)
    throw UsageError("FinePack's queue needs at least one entry, not " + std::to_string(options.entries));
  if (packet.max_payload_bytes < line_bytes + options.subheader_bytes)
    throw UsageError("a packet must hold a line and its sub-header");
}

int FinePackQueue::find(std::uint64_t line) const {
  for (std::size_t k = 0; k < lines_.size(); ++k)
    if (lines_[k] == line) return static_cast<int>(k);
  return -1;
}

void FinePackQueue::add(const LineStore& store, const Sink& sink) {
  ++stores_;
  // A window may be narrower than a line: its start is then part of what an entry must match.
  const std::uint64_t line = store.address / line_bytes, base = store.address / window_ * window_;
  const int offset = static_cast<int>(store.address % line_bytes);
  const bool crosses = store.address + store.bytes > base + window_;
  if (crosses) {  // of a window of 64 bytes: the two halves are two stores
    LineStore half = store;
    half.bytes = static_cast<int>(base + window_ - store.address);
    --stores_;
    add(half, sink);
    half.address = base + window_;
    half.bytes = store.bytes - half.bytes;
    std::memmove(half.data.data(), store.data.data() + (store.bytes - half.bytes), half.bytes);
    return add(half, sink);
  }
  int entry = lines_.empty() ? -1 : find(line);
  const int added_for_new = options_.subheader_bytes + store.bytes;
  if (!lines_.empty()) {
    if (base != base_)
      flush(FlushCause::window, sink), entry = -1;
    else if (entry < 0 && static_cast<int>(lines_.size()) == options_.entries)
      flush(FlushCause::entries, sink);
    else if (entry < 0 && available_ < added_for_new)
      flush(FlushCause::payload, sink);
  }
  if (lines_.empty()) base_ = base;
  if (entry < 0) {
    entry = static_cast<int>(lines_.size());
    lines_.push_back(line);
    entries_.emplace_back();
  }
  Entry& into = entries_[entry];
  // The register counts what the packetizer will send: data, and a sub-header for each run of bytes.
  const auto payload = [&] { return into.mask.count() + options_.subheader_bytes * into.mask.runs(); };
  const int before = payload();
  into.mask.set(offset, store.bytes);
  std::memcpy(into.data.data() + offset, store.data.data(), store.bytes);
  available_ -= payload() - before;
  if (available_ < 0) flush(FlushCause::payload, sink);
}

void FinePackQueue::emit(StorePacket& packet, const Sink& sink) {
  if (packet.stores == 0) return;
  if (packet.stores == 1 && options_.sends_single_plain) {
    const int h = options_.subheader_bytes;
    std::uint64_t header = 0;
    std::memcpy(&header, packet.payload.data(), h);
    packet.base += header >> length_bits;
    packet.payload.erase(packet.payload.begin(), packet.payload.begin() + h);
    packet.is_plain = true;
  }
  sink(std::move(packet));
  packet = StorePacket{base_, false, 0, 0, {}};
}

void FinePackQueue::flush(FlushCause cause, const Sink& sink) {
  if (lines_.empty()) return;
  ++flushes_[static_cast<int>(cause)];
  StorePacket packet{base_, false, 0, 0, {}};
  const int h = options_.subheader_bytes;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    const Entry& entry = entries_[k];
    for (int from = entry.mask.next(0, true); from < line_bytes;) {
      const int end = entry.mask.next(from, false), bytes = end - from;
      if (static_cast<int>(packet.payload.size()) + h + bytes > max_payload_) emit(packet, sink);
      const std::uint64_t address = lines_[k] * line_bytes + from;
      const std::uint64_t header = (address - base_) << length_bits | static_cast<std::uint64_t>(bytes);
      const auto* const raw = reinterpret_cast<const std::uint8_t*>(&header);
      packet.payload.insert(packet.payload.end(), raw, raw + h);
      packet.payload.insert(packet.payload.end(), entry.data.begin() + from, entry.data.begin() + end);
      packet.data_bytes += bytes;
      ++packet.stores;
      from = entry.mask.next(end, true);
    }
  }
  emit(packet, sink);
  lines_.clear();
  entries_.clear();
  available_ = max_payload_;
}

void unpack(const StorePacket& packet, int subheader_bytes,
            const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& apply) {
  const std::span<const std::uint8_t> payload(packet.payload);
  if (packet.is_plain) return apply(packet.base, payload);
  for (std::size_t at = 0; at < payload.size();) {
    std::uint64_t header = 0;
    if (at + subheader_bytes > payload.size())
      throw UsageError("a packet of FinePack ends within a sub-header");
    std::memcpy(&header, payload.data() + at, subheader_bytes);
    at += subheader_bytes;
    const std::size_t bytes = header & ((1u << length_bits) - 1);
    if (bytes == 0 || at + bytes > payload.size())
      throw UsageError("a sub-header of FinePack counts more bytes than the packet has");
    apply(packet.base + (header >> length_bits), payload.subspan(at, bytes));
    at += bytes;
  }
}

}  // namespace palmette::transfer
