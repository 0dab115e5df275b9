// Managed memory: one address for all devices. A page is on one device at a time and moves to whoever touches
// it; here only the moves are counted.
#include "palmette/device/emulator_state.hpp"

namespace palmette::emulate {

void* allocate_managed(std::size_t bytes) {
  char* const memory_of_first = static_cast<char*>(allocate(bytes));
  memory.managed[memory_of_first] = memory_of_first + bytes;
  return memory_of_first;
}

namespace {

/// The page of a managed byte; null for others.
const char* page_of(const char* p) {
  const auto after = memory.managed.upper_bound(p);
  if (after == memory.managed.begin()) return nullptr;
  const auto& [begin, end] = *std::prev(after);
  return p < end ? begin + (p - begin) / bytes_of_page * bytes_of_page : nullptr;
}

}  // namespace

void touch_managed(const Lane& lane, const void* p) {
  if (memory.managed.empty()) return;
  const char* const page = page_of(static_cast<const char*>(p));
  if (page == nullptr) return;
  const int device = lane.block->device;
  const auto [owner, was_on_host] = world->page_owner.try_emplace(page, device);
  if (!was_on_host && owner->second == device) return;
  owner->second = device;
  ++world->report.page_moves[device];
}

bool is_remote(const Lane& lane, const void* p) {
  return memory.is_device(p) && memory.device_of(p) != lane.block->device &&
         page_of(static_cast<const char*>(p)) == nullptr;
}

}  // namespace palmette::emulate
