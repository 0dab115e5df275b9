// Memory as emulated threads see it: allocations, delayed stores, and the race detector with scopes.
#include <sys/mman.h>

#include <cstdio>
#include <new>
#include <utility>

#include "palmette/base/base.hpp"
#include "palmette/device/emulator_state.hpp"

namespace palmette::emulate {

char* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(p);
}

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
std::string place(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}
std::string Accessor::text() const {
  if (site == nullptr) return name;
  const auto& name_of_site = world->launches[world->current->block->launch].name_of_site;
  return name_of_site ? name_of_site(site) : place(site);
}

Shadow* shadow_of(const void* p) {
  return shadow + (static_cast<const char*>(p) - memory.base) / 4;
}

namespace {

/// Between two threads: 0 in one block, 1 on one device, 2 on two.
int distance(int a, int b) {
  const auto& x = world->place_of[a];
  const auto& y = world->place_of[b];
  return x.first != y.first ? 2 : x.second != y.second ? 1 : 0;
}

std::string distance_text(int distance) {
  return distance == 0 ? "same block" : distance == 1 ? "same device" : "other device";
}

/// Whether the thread's access is ordered after what another thread did at this time of its own.
bool has_seen(const Lane& lane, std::uint16_t other, Clock time) {
  if (time == 0 || other == lane.id) return true;
  return other < lane.clock.size() && time <= lane.clock[other];
}

void check_after_store(const Lane& lane, const Access& access, const Shadow& known,
                       const Accessor& where) {
  if (has_seen(lane, known.writer, known.wrote)) return;
  const int far = distance(known.writer, lane.id);
  const bool both_atomic = access.atomic && known.atomic != 0;
  if (both_atomic && far <= static_cast<int>(access.scope) && far <= known.scope) return;
  world->error(std::string("race: ") + (access.atomic ? "atomic " : "") + (access.write ? "store" : "load") +
               " at " + where.text() + " is not ordered after " + (known.atomic != 0 ? "an atomic" : "a") +
               " store by another thread (" + distance_text(far) + ")" +
               (both_atomic ? ": scope too narrow" : ""));
}

void check_after_loads(const Lane& lane, const Shadow& known, const Accessor& where) {
  for (int k = 0; k < 2; ++k)
    if (!has_seen(lane, known.reader[k], known.read[k]))
      world->error("race: store at " + where.text() + " is not ordered after a load by another thread");
}

void remember(const Lane& lane, const Access& access, Shadow& known) {
  const Clock now = lane.clock[lane.id];
  const auto id = static_cast<std::uint16_t>(lane.id);
  if (access.write) {
    known = {now, id, access.atomic, static_cast<std::uint8_t>(access.scope), {}, {}};
  } else if (!access.atomic) {
    // In its own place, a free one, or that of one of the two.
    int place = static_cast<int>(known.read[0] == 0 || known.reader[0] == id   ? 0
                                 : known.read[1] == 0 || known.reader[1] == id ? 1
                                                                               : world->draw(2));
    known.read[place] = now;
    known.reader[place] = id;
  }
}

}  // namespace

void tell_observer(const Lane& lane, Observed::What what, const void* at, int bytes, Scope scope) {
  if (!world->options.observe) return;
  const int device = lane.block->device;
  Observed seen{what, device, lane.block->number, lane.index, device, 0, bytes, scope};
  if (what != Observed::release) {
    if (!memory.is_device(at)) return;
    seen.owner = memory.device_of(at);
    seen.offset = static_cast<std::uint64_t>(static_cast<const char*>(at) - memory.base) % device_bytes;
  }
  world->options.observe(seen);
}

void check_race(Lane& lane, const Access& access, const Accessor& where) {
  Shadow* const first = shadow_of(access.at);
  for (int word = 0; word < (access.bytes + 3) / 4; ++word) {
    check_after_store(lane, access, first[word], where);
    if (access.write && !access.atomic) check_after_loads(lane, first[word], where);
    remember(lane, access, first[word]);
  }
}

void make_runnable(Lane& lane) {
  ++world->events.meetings;
  lane.state = State::runnable;
  world->runnable.push_back({&lane, lane.priority});
}
void unpark(Lane& lane) {
  // From every list: the lane may end before the other places change.
  for (const Watched& seen : lane.watched) {
    const auto found = world->parked.find(seen.at);
    if (found == world->parked.end()) continue;
    std::erase(found->second, &lane);
    if (found->second.empty()) world->parked.erase(found);
  }
  lane.watched.clear();
  lane.forgot = false;
  make_runnable(lane);
}
void wake(const void* p) {
  const auto found = world->parked.find(p);
  if (found == world->parked.end()) return;
  const std::vector<Lane*> lanes = found->second;
  world->events.waits_ended += static_cast<std::int64_t>(lanes.size());
  for (Lane* const lane : lanes) unpark(*lane);
}
void wake_range(const char* p, int bytes) {
  if (world->parked.empty()) return;
  for (int k = 0; k < bytes; k += 4) wake(p + k);
}

/// Some stores of an owner reach the next wider owner (or all).
void pass_on(Delayed& from, Delayed* wider, int one_of) {
  const auto stays = [&](const Delayed::Entry& e) {
    if (world->draw(static_cast<std::size_t>(one_of)) != 0) return true;
    if (wider == nullptr) wake_range(e.at, e.bytes);
    else if (!wider->covers(e.at, e.bytes)) wider->entries.push_back(e);
    return false;
  };
  auto& entries = from.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const auto& e) { return !stays(e); }),
                entries.end());
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

namespace {
/// Of the thread as which memory looks: its own stores, and those of its block and of its device where the
/// next thread has others.
void hide_what_differs(bool same_block, bool same_device) {
  Lane* const lane = world->seen_by;
  if (lane == nullptr) return;
  lane->delayed.hide();
  if (!same_block) lane->block->delayed.hide();
  if (!same_device) world->devices[lane->block->device].delayed.hide();
}
}  // namespace

void leave(Lane& lane) {
  if (!world->options.delay_stores) return;
  Delayed& wide = world->devices[lane.block->device].delayed;
  pass_on(lane.delayed, &lane.block->delayed, some);
  pass_on(lane.block->delayed, world->options.devices > 1 ? &wide : nullptr, few);
  if (wide.entries.size() > 256) pass_on(wide, nullptr, some);
}
void enter(Lane& lane) {
  if (!world->options.delay_stores) return;
  const Lane* const before = world->seen_by;
  if (before == &lane) return;
  const bool same_block = before != nullptr && before->block == lane.block;
  const bool same_device = before != nullptr && before->block->device == lane.block->device;
  hide_what_differs(same_block, same_device);
  if (!same_device) world->devices[lane.block->device].delayed.show();
  if (!same_block) lane.block->delayed.show();
  lane.delayed.show();
  world->seen_by = &lane;
}
void hide_delayed_stores() {
  hide_what_differs(false, false);
  world->seen_by = nullptr;
}

void tick(Lane& lane) {
  if (world->options.find_races) ++lane.clock[lane.id];
}

namespace {
/// The network may read the source of a put until its thread calls quiet: whoever stores there changes what
/// arrives.
void check_put_sources(const char* p, int bytes, const Accessor& where) {
  auto open = world->open_puts.lower_bound(p + bytes);
  while (open != world->open_puts.begin() && (--open)->first + world->longest_put > p)
    if (p < open->second)
      return world->error("store at " + where.text() + " overwrites the source of a put before quiet");
}

void count_sectors(Lane& lane, const Access& access, const void* site) {
  Site& figures = (access.write ? world->report.stores : world->report.loads)[site];
  ++figures.accesses;
  figures.bytes += access.bytes;
  auto& sectors = lane.block->warps[lane.index / 32].requests[{site, lane.epoch, lane.count[site]++,
                                                               access.write}];
  const auto at = reinterpret_cast<std::uintptr_t>(access.at);
  for (std::uintptr_t sector = at / 32; sector <= (at + access.bytes - 1) / 32; ++sector)
    sectors.insert(sector);
}

/// The store is hidden from others until it is passed on. Long lists are shortened first.
void delay_store(Lane& lane, const Access& access) {
  constexpr std::size_t longest_of_lane = 16, longest_of_block = 64, most = 64;
  char* const at = const_cast<char*>(static_cast<const char*>(access.at));
  if (lane.delayed.covers(at, access.bytes)) return;
  Delayed& of_block = lane.block->delayed;
  if (lane.delayed.entries.size() >= longest_of_lane) pass_on(lane.delayed, &of_block, some);
  if (of_block.entries.size() >= longest_of_block)
    pass_on(of_block, world->options.devices > 1 ? &world->devices[lane.block->device].delayed : nullptr,
            some);
  if (lane.delayed.entries.size() >= most) return;
  Delayed::Entry entry{at, access.bytes, {}};
  std::memcpy(entry.other, at, access.bytes);
  lane.delayed.entries.push_back(entry);
}

/// Outside device memory only the thread's own stack may be written. @returns whether to go on with it
bool is_tracked(const Lane& lane, const Access& access, const void* site) {
  if (!memory.is_tracked(access.at)) {
    if (access.write && (access.at < lane.stack || access.at >= lane.stack + stack_bytes))
      world->error("store outside device memory at " + Accessor{site}.text());
    return false;
  }
  ++world->report.plain_accesses;
  const auto bytes = static_cast<std::size_t>(access.bytes);
  if (!memory.is_device(access.at) || memory.is_allocated(access.at, bytes)) return true;
  const std::string what = access.write ? "store" : "load";
  world->error(what + " outside device memory at " + Accessor{site}.text());
  return false;
}

}  // namespace

void plain(const void* p, int bytes, bool write, const void* site) {
  if (world == nullptr || world->current == nullptr) return;
  Lane& lane = *world->current;
  const Options& options = world->options;
  const Access access{p, bytes, write, false, Scope::block};
  if (!is_tracked(lane, access, site)) return;
  const bool device = memory.is_device(p);
  tell_observer(lane, write ? Observed::store : Observed::load, p, bytes, Scope::block);
  touch_managed(lane, p);
  if (write && device && !world->open_puts.empty())
    check_put_sources(static_cast<const char*>(p), bytes, {site});
  if (device && !options.peer_access && is_remote(lane, p))
    world->error("plain access to another device's memory at " + Accessor{site}.text());
  if (options.find_races) check_race(lane, access, {site});
  if (options.count_sectors && device) count_sectors(lane, access, site);
  if (write && options.delay_stores && device && bytes <= 16) delay_store(lane, access);
  if (world->chance() < options.switch_chance) yield_runnable();
}

void prepare_memory() {
  if (memory.base != nullptr) return;
  const std::size_t all = max_devices * device_bytes + max_slots * block_shared_bytes;
  memory.base = reserve(all);
  memory.shared = memory.base + max_devices * device_bytes;
  shadow = reinterpret_cast<Shadow*>(reserve(all / 4 * sizeof(Shadow)));
}
void reset_memory(int devices) {
  prepare_memory();
  for (std::size_t& unclean : memory.unclean) unclean = std::max(unclean, memory.used);
  for (int d = 0; d < devices; ++d)
    std::memset(memory.base + d * device_bytes, 0, std::exchange(memory.unclean[d], 0));
  memory.used = 0;
  memory.allocations.clear();
  memory.managed.clear();
}
void* allocate(std::size_t bytes) {
  constexpr std::size_t gap = 256;  // catches what runs past an end
  std::size_t from = gap;
  for (const auto& [begin, end] : memory.allocations) {
    if (from + bytes + gap <= begin) break;
    from = (end + gap - 1) / gap * gap + gap;
  }
  if (from + bytes > device_bytes)
    throw MemoryError("the emulated device has " + std::to_string(device_bytes >> 20) +
                          " MiB of memory, of which too little is free for " + std::to_string(bytes) +
                          " bytes",
                      static_cast<std::int64_t>(bytes));
  memory.allocations[from] = from + bytes;
  memory.used = std::max(memory.used, from + bytes);
  return memory.base + from;
}
void release(void* p) {
  memory.managed.erase(static_cast<const char*>(p));
  memory.allocations.erase(static_cast<std::size_t>(static_cast<char*>(p) - memory.base));
}
int most_devices() { return max_devices; }
bool is_allocated(const void* p, std::size_t bytes, int device) {
  return memory.is_device(p) && memory.device_of(p) == device &&
         memory.is_allocated(p, bytes);
}
std::int64_t bytes_of_device() { return static_cast<std::int64_t>(device_bytes); }
std::ptrdiff_t device_stride() {
  return device_bytes;
}

}  // namespace palmette::emulate
