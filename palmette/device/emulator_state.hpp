// The state of one emulated run, shared by the emulator's files: what threads, blocks and devices hold, which
// stores are still delayed, and what the race detector remembers.
#pragma once

#include <algorithm>
#include <list>
#include <random>
#include <set>
#include <unordered_map>

#include "palmette/device/emulator.hpp"

namespace palmette::emulate {

using Clock = std::uint32_t;
using Vector = std::vector<Clock>;
inline void join(Vector& a, const Vector& b) {
  if (a.size() < b.size()) a.resize(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = std::max(a[i], b[i]);
}

constexpr std::size_t stride = std::size_t{256} << 20, shared_room = 256 << 10, stack_bytes = 32 << 10;
constexpr int max_devices = 16, max_slots = 4096;

struct Memory {
  char* base = nullptr;
  char* shared = nullptr;  // behind the devices
  std::size_t used = 0;
  std::map<std::size_t, std::size_t> allocations;  ///< begin → end, offsets within a device
  bool is_device(const void* p) const { return p >= base && p < shared; }
  /// Whether all bytes lie in one allocation; between allocations lie gaps that nobody may touch.
  bool is_allocated(const void* p, int bytes) const {
    const std::size_t from = static_cast<std::size_t>(static_cast<const char*>(p) - base) % stride;
    const auto after = allocations.upper_bound(from);
    return after != allocations.begin() && from + static_cast<std::size_t>(bytes) <= std::prev(after)->second;
  }
  bool is_tracked(const void* p) const { return p >= base && p < shared + max_slots * shared_room; }
  int device_of(const void* p) const {
    return static_cast<int>((static_cast<const char*>(p) - base) / stride);
  }
};
inline Memory memory;
char* reserve(std::size_t bytes);

/// Stores that only their owner (a thread, its block, its device) sees. Applied to memory while the owner
/// runs.
struct Delayed {
  struct Entry {
    char* at;
    int bytes;
    unsigned char other[16];
  };  // `other`: what memory holds for the others, or for the owner
  std::vector<Entry> entries;
  static void exchange(Entry& e) {
    std::swap_ranges(e.other, e.other + e.bytes, reinterpret_cast<unsigned char*>(e.at));
  }
  void hide() {
    for (auto e = entries.rbegin(); e != entries.rend(); ++e) exchange(*e);
  }
  void show() {
    for (auto& e : entries) exchange(e);
  }
  bool covers(const char* p, int bytes) const {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& e) { return p < e.at + e.bytes && e.at < p + bytes; });
  }
  void forget(const char* p, int bytes) {
    std::erase_if(entries, [&](const Entry& e) { return p < e.at + e.bytes && e.at < p + bytes; });
  }
};

struct Block;
struct Waiting {
  char kind = 0;
  unsigned mask = 0;
  std::uint64_t bits = 0;
  int from = 0;
  Where where;
  std::uint64_t result = 0;
};
struct Watched {
  const void* at;
  int bytes;
  std::uint64_t value;
};
enum class State { runnable, block_barrier, warp, parked, quiet, finished };

struct Lane {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  Block* block = nullptr;
  int index = 0, id = 0;
  double priority = 0;
  State state = State::runnable;
  Waiting waiting;
  Delayed delayed;
  std::vector<Watched> watched;  // loaded since the last pause
  const void* last_load = nullptr;
  std::uint64_t last_value = 0;
  int repeats = 0;
  int in_flight = 0;                                     // own puts
  int barriers = 0;                                      // of the block, passed so far
  std::vector<std::pair<const char*, int>> put_sources;  // may not be overwritten before quiet
  // race detector
  Vector clock, released[3], acquired[3];
  // sectors
  std::unordered_map<const void*, int> count;
  int epoch = 0;
};
struct Request {
  const void* site;
  int epoch, n;
  bool write;
  auto operator<=>(const Request&) const = default;
};
struct Warp {
  std::map<Request, std::set<std::uintptr_t>> requests;
};
struct Block {
  int device = 0, launch = 0, number = 0, slot = 0, live = 0, waiting = 0;
  std::vector<Lane> lanes;
  std::vector<Warp> warps;
  Delayed delayed;
  char* shared = nullptr;
  Where barrier;
};
struct Device {
  Delayed delayed;
  int resident = 0;
};
struct Put {
  int from, to;
  char* target;
  const char* source;
  int bytes;
  char* signal;
  Signal value;
  Lane* lane;
  Vector clock;
  int id;
  int left;
  std::vector<bool> done;
};

struct Shadow {
  Clock wrote = 0;
  std::uint16_t writer = 0;
  std::uint8_t atomic = 0, scope = 0;
  Clock read[2] = {};
  std::uint16_t reader[2] = {};
};
struct Contribution {
  int device, block;
  Scope scope;
  Vector clock;
};

struct World {
  Options options;
  Report report;
  std::mt19937_64 random;
  std::vector<Launch> launches;
  std::vector<std::vector<int>> to_start;
  std::vector<Device> devices;
  std::list<Block> blocks;
  std::vector<Lane*> runnable;
  std::unordered_map<const void*, std::vector<Lane*>> parked;
  std::vector<int> free_slots;
  std::list<Put> network;
  Lane* current = nullptr;
  void* scheduler = nullptr;
  int open_puts = 0;  // whose threads have not yet called quiet
  int next_id = 0, threads_in_all = 0, next_put = 0;
  std::vector<std::pair<int, int>> place_of;  // id → device, block serial
  std::unordered_map<const void*, std::vector<Contribution>> contributions;
  bool stop = false;
  std::set<std::string> seen;

  double chance() { return std::uniform_real_distribution<>()(random); }
  std::size_t draw(std::size_t n) { return n <= 1 ? 0 : random() % n; }
  void error(std::string text) {
    if (!seen.insert(text).second) return;
    report.errors.push_back(std::move(text));
    if (report.errors.size() >= 8) stop = true;
  }
};
inline World* world = nullptr;
inline std::vector<char*> free_stacks;  // kept from run to run
inline Shadow* shadow = nullptr;

std::string name(const Lane& lane);
std::string place(const Where& where);
std::string place(const void* site);
Shadow* shadow_of(const void* p);
/// One access that the race detector judges and remembers.
struct Access {
  const void* at;
  int bytes;
  bool write, atomic;
  Scope scope;
};
void check_race(Lane& lane, const Access& access, const std::string& where);
void make_runnable(Lane& lane);
void wake(const void* p);
void wake_range(const char* p, int bytes);
constexpr int everything = 1, some = 4, few = 64;  // one of so many
void pass_on(Delayed& from, Delayed* wider, int one_of);
void publish(Lane& lane, Scope scope);
void leave(Lane& lane);
void enter(Lane& lane);
void yield();
void yield_runnable();
void park(Lane& lane);
void tick(Lane& lane);
bool deliver();
void finish_warp_collective(Block& block, int warp, Lane& arrived);
void plain(const void* p, int bytes, bool write, const void* site);

}  // namespace palmette::emulate
