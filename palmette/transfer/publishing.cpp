// The structures of GPS.
#include "palmette/transfer/publishing.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::transfer {

LineQueue::LineQueue(int entries) {
  if (entries < 2)
    throw UsageError("the queue of GPS needs at least 2 entries, not " + std::to_string(entries));
  ring_.resize(entries);
  held_.assign(ring_.size(), ~std::uint64_t{0});
}

void LineQueue::add(const LineStore& store, const Sink& sink) {
  ++stores_;
  const std::uint64_t line = store.address / line_bytes;
  const int offset = static_cast<int>(store.address % line_bytes);
  const auto found = std::find(held_.begin(), held_.end(), line);
  std::size_t place = static_cast<std::size_t>(found - held_.begin());
  if (found != held_.end()) {
    ++hits_;
  } else {
    place = (first_ + count_++) % ring_.size();
    held_[place] = line;
    ring_[place].line = line;
    ring_[place].mask = {};
  }
  ring_[place].mask.set(offset, store.bytes);
  std::memcpy(ring_[place].data.data() + offset, store.data.data(), store.bytes);
  if (count_ + 1 < ring_.size()) return;
  sink(ring_[first_]);
  held_[first_] = ~std::uint64_t{0};
  first_ = (first_ + 1) % ring_.size();
  --count_;
}

void LineQueue::drain(const Sink& sink) {
  for (; count_ > 0; --count_, first_ = (first_ + 1) % ring_.size()) {
    sink(ring_[first_]);
    held_[first_] = ~std::uint64_t{0};
  }
}

PageTlb::PageTlb(int entries, int ways) : ways_(ways) {
  if (ways < 1 || entries < ways || entries % ways != 0)
    throw UsageError("a TLB of " + std::to_string(entries) + " entries cannot have " + std::to_string(ways) +
                     " ways; give a multiple");
  table_.resize(entries);
}

bool PageTlb::look_up(std::uint64_t page) {
  const std::size_t sets = table_.size() / static_cast<std::size_t>(ways_);
  Way* const set = table_.data() + page % sets * static_cast<std::size_t>(ways_);
  Way* oldest = set;
  const std::int64_t now = ++lookups_;
  for (Way* way = set; way < set + ways_; ++way) {
    if (way->page == page) {
      way->used = now;
      ++hits_;
      return true;
    }
    if (way->used < oldest->used) oldest = way;
  }
  *oldest = {page, now};
  return false;
}

std::vector<DeviceSet> tracked_subscribers(const StoreTrace& trace) {
  std::vector<DeviceSet> pages((trace.memory_bytes + page_bytes - 1) / page_bytes);
  for (const TracedPhase& phase : trace.phases)
    for (int device = 0; device < trace.devices; ++device)
      for (const Access& one : phase.kernels[device].accesses) {
        if (one.kind == AccessKind::release) continue;
        for (const std::uint64_t at : {one.address, one.address + one.bytes - 1})
          pages[at / page_bytes] |= only(device);
      }
  return pages;
}

}  // namespace palmette::transfer
