// Memory as emulated threads see it: allocations, delayed stores, and the race detector with scopes.
#include <sys/mman.h>

#include <cstdio>
#include <new>

#include "palmette/base/base.hpp"
#include "palmette/device/emulator_state.hpp"

namespace palmette::emulate {

char* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(p);
}

/// Stores that only their owner (a thread, its block, its device) sees. Applied to memory while the owner
/// runs.
std::string name(const Lane& lane) {
  char text[96];
  std::snprintf(text, sizeof text, "device %d block %d thread %d", lane.block->device, lane.block->number,
                lane.index);
  return text;
}
std::string place(const Where& where) {
  const std::string file = where.file;
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.number);
}
std::string place(const void* site) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", site);
  return text;
}

Shadow* shadow_of(const void* p) {
  return shadow + (static_cast<const char*>(p) - memory.base) / 4;
}

namespace {
int distance(int a, int b) {  // 0: same block, 1: same device, 2: other
  const auto& x = world->place_of[a];
  const auto& y = world->place_of[b];
  return x.first != y.first ? 2 : x.second != y.second ? 1 : 0;
}
}  // namespace

void check_race(Lane& lane, const Access& access, const std::string& where) {
  const auto [p, bytes, write, atomic, scope] = access;
  const auto clock_of = [&](int id) { return id < static_cast<int>(lane.clock.size()) ? lane.clock[id] : 0; };
  Shadow* first = shadow_of(p);
  for (int g = 0; g < (bytes + 3) / 4; ++g) {
    Shadow& s = first[g];
    if (s.wrote && s.writer != lane.id && s.wrote > clock_of(s.writer)) {
      const int d = distance(s.writer, lane.id);
      const bool strong = atomic && s.atomic && d <= static_cast<int>(scope) && d <= s.scope;
      if (!strong)
        world->error(std::string("race: ") + (atomic ? "atomic " : "") + (write ? "store" : "load") + " at " +
                     where + " is not ordered after " + (s.atomic ? "an atomic" : "a") +
                     " store by another thread (" +
                     (d == 0   ? "same block"
                      : d == 1 ? "same device"
                               : "other device") +
                     ")" + (atomic && s.atomic ? ": scope too narrow" : ""));
    }
    if (write)
      for (int k = 0; k < 2; ++k)
        if (s.read[k] && s.reader[k] != lane.id && s.read[k] > clock_of(s.reader[k]) && !atomic)
          world->error(std::string("race: store at ") + where +
                       " is not ordered after a load by another thread");
    const Clock now = lane.clock[lane.id];
    if (write)
      s.wrote = now, s.writer = lane.id, s.atomic = atomic, s.scope = static_cast<std::uint8_t>(scope),
      s.read[0] = s.read[1] = 0;
    else if (!atomic) {
      const int k = s.read[0] == 0 || s.reader[0] == lane.id   ? 0
                    : s.read[1] == 0 || s.reader[1] == lane.id ? 1
                                                               : static_cast<int>(world->draw(2));
      s.read[k] = now, s.reader[k] = lane.id;
    }
  }
}

void make_runnable(Lane& lane) {
  lane.state = State::runnable;
  world->runnable.push_back(&lane);
}
void wake(const void* p) {
  const auto found = world->parked.find(p);
  if (found == world->parked.end()) return;
  for (Lane* lane : found->second)
    if (lane->state == State::parked) {
      lane->watched.clear();
      make_runnable(*lane);
    }
  world->parked.erase(found);
}
void wake_range(const char* p, int bytes) {
  for (int k = 0; k < bytes; k += 4) wake(p + k);
}

/// Some stores of an owner reach the next wider owner (or all).
void pass_on(Delayed& from, Delayed* wider, int one_of) {
  std::vector<Delayed::Entry> kept;
  for (auto& e : from.entries) {
    if (one_of > 1 && world->random() % one_of != 0) {
      kept.push_back(e);
      continue;
    }
    if (wider != nullptr && !wider->covers(e.at, e.bytes))
      wider->entries.push_back(e);
    else if (wider == nullptr)
      wake_range(e.at, e.bytes);
  }
  from.entries.swap(kept);
}
/// The running thread publishes at a scope: its own stores and those handed to it by its block or device.
void publish(Lane& lane, Scope scope) {
  Block& block = *lane.block;
  Device& device = world->devices[block.device];
  pass_on(lane.delayed, &block.delayed, everything);
  if (scope >= Scope::device)
    pass_on(block.delayed, world->options.devices > 1 ? &device.delayed : nullptr, everything);
  if (scope >= Scope::system) pass_on(device.delayed, nullptr, everything);
}

void leave(Lane& lane) {  // memory as others see it
  if (!world->options.delay_stores) return;
  pass_on(lane.delayed, &lane.block->delayed, some);
  pass_on(lane.block->delayed,
          world->options.devices > 1 ? &world->devices[lane.block->device].delayed : nullptr, few);
  if (auto& wide = world->devices[lane.block->device].delayed; wide.entries.size() > 256)
    pass_on(wide, nullptr, some);
  lane.delayed.hide();
  lane.block->delayed.hide();
  world->devices[lane.block->device].delayed.hide();
}
void enter(Lane& lane) {
  if (!world->options.delay_stores) return;
  world->devices[lane.block->device].delayed.show();
  lane.block->delayed.show();
  lane.delayed.show();
}

void tick(Lane& lane) {
  if (world->options.find_races) ++lane.clock[lane.id];
}

namespace {
/// The network may read the source of a put until its thread calls quiet: whoever stores there changes what
/// arrives.
void check_put_sources(const char* p, int bytes, const std::string& where) {
  for (const Block& block : world->blocks)
    for (const Lane& lane : block.lanes)
      for (const auto& [source, count] : lane.put_sources)
        if (p < source + count && source < p + bytes)
          world->error("store at " + where + " overwrites the source of a put before quiet");
}

}  // namespace

void plain(const void* p, int bytes, bool write, const void* site) {
  World* w = world;
  if (w == nullptr || w->current == nullptr) return;
  Lane& lane = *w->current;
  if (!memory.is_tracked(p)) {
    if (write && (p < lane.stack || p >= lane.stack + stack_bytes))
      w->error("store outside device memory at " + place(site));
    return;
  }
  ++w->report.plain_accesses;
  const bool device = memory.is_device(p);
  if (device && !memory.is_allocated(p, bytes)) {
    w->error(std::string(write ? "store" : "load") + " outside device memory at " + place(site));
    return;
  }
  if (write && device && w->open_puts > 0) check_put_sources(static_cast<const char*>(p), bytes, place(site));
  if (device && memory.device_of(p) != lane.block->device)
    w->error("plain access to another device's memory at " + place(site));
  if (w->options.find_races) check_race(lane, {p, bytes, write, false, Scope::block}, place(site));
  if (w->options.count_sectors && device) {
    Site& s = (write ? w->report.stores : w->report.loads)[site];
    ++s.accesses;
    s.bytes += bytes;
    auto& sectors =
        lane.block->warps[lane.index / 32].requests[{site, lane.epoch, lane.count[site]++, write}];
    for (auto a = reinterpret_cast<std::uintptr_t>(p) / 32;
         a <= (reinterpret_cast<std::uintptr_t>(p) + bytes - 1) / 32; ++a)
      sectors.insert(a);
  }
  if (write && w->options.delay_stores && device && bytes <= 16) {
    char* at = const_cast<char*>(static_cast<const char*>(p));
    if (!lane.delayed.covers(at, bytes)) {
      if (lane.delayed.entries.size() >= 16) pass_on(lane.delayed, &lane.block->delayed, some);
      if (lane.block->delayed.entries.size() >= 64)
        pass_on(lane.block->delayed,
                w->options.devices > 1 ? &w->devices[lane.block->device].delayed : nullptr, some);
      if (lane.delayed.entries.size() < 64) {
        Delayed::Entry e{at, bytes, {}};
        std::memcpy(e.other, at, bytes);
        lane.delayed.entries.push_back(e);
      }
    }
  }
  if (w->chance() < w->options.switch_chance) yield_runnable();
}

void touch(const void* p, int bytes, bool write, const void* site) {
  plain(p, bytes, write, site);
}

void reset_memory(int devices) {
  if (memory.base == nullptr) {
    const std::size_t all = max_devices * stride + max_slots * shared_room;
    memory.base = reserve(all);
    memory.shared = memory.base + max_devices * stride;
    shadow = reinterpret_cast<Shadow*>(reserve(all / 4 * sizeof(Shadow)));
  }
  for (int d = 0; d < devices; ++d) std::memset(memory.base + d * stride, 0, memory.used);
  memory.used = 0;
  memory.allocations.clear();
}
void* allocate(std::size_t bytes) {
  memory.used = (memory.used + 255) / 256 * 256 + 256;  // the gap catches what runs past an end
  void* p = memory.base + memory.used;
  memory.used += bytes;
  if (memory.used > stride) throw UsageError("the emulated device has 256 MiB of memory, which are full");
  memory.allocations[memory.used - bytes] = memory.used;
  return p;
}
std::ptrdiff_t device_stride() {
  return stride;
}

}  // namespace palmette::emulate
