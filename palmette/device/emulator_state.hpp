// The state of one emulated run, shared by the emulator's files: what threads, blocks and devices hold, which
// stores are still delayed, and what the race detector remembers.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <set>
#include <unordered_map>

#include "palmette/device/emulator.hpp"

namespace palmette::emulate {

using Clock = std::uint32_t;
/// What a thread has seen of every thread's clock, by thread id.
using VectorClock = std::vector<Clock>;
inline void join(VectorClock& a, const VectorClock& b) {
  if (a.size() < b.size()) a.resize(b.size());
  for (std::size_t id = 0; id < b.size(); ++id) a[id] = std::max(a[id], b[id]);
}

constexpr std::size_t device_bytes = std::size_t{1} << 30;  // memory of a device
constexpr std::size_t block_shared_bytes = std::size_t{256} << 10;  // shared memory of a resident block
constexpr std::size_t stack_bytes = 36 << 10;                     // of a thread
constexpr int max_devices = 16;
constexpr int max_slots = 4096;                                   // blocks that are resident at a time

/// The memory of all devices, one after another, then the shared memory of blocks, by slot.
struct Memory {
  char* base = nullptr;
  char* shared = nullptr;  // behind the devices
  std::size_t used = 0;  ///< no allocation since the last reset lay behind
  std::array<std::size_t, max_devices> unclean{};  ///< the same since a reset last cleared the device
  std::map<std::size_t, std::size_t> allocations;  ///< begin → end, offsets within a device
  std::map<const char*, const char*> managed;      ///< those that are managed: begin → end
  bool is_device(const void* p) const { return p >= base && p < shared; }
  /// Whether all bytes lie in one allocation; between allocations lie gaps that nobody may touch.
  bool is_allocated(const void* p, std::size_t bytes) const {
    const std::size_t from = static_cast<std::size_t>(static_cast<const char*>(p) - base) % device_bytes;
    const auto after = allocations.upper_bound(from);
    return after != allocations.begin() && from + bytes <= std::prev(after)->second;
  }
  bool is_tracked(const void* p) const { return p >= base && p < shared + max_slots * block_shared_bytes; }
  int device_of(const void* p) const {
    return static_cast<int>((static_cast<const char*>(p) - base) / device_bytes);
  }
};
inline Memory memory;
char* reserve(std::size_t bytes);

/// Begin and end of what the network still reads: it may not be overwritten before quiet.
using PutSources = std::multimap<const char*, const char*>;

/// Stores that only their owner (a thread, its block, its device) sees. Applied to memory while the owner
/// runs.
struct Delayed {
  struct Entry {
    char* at;
    int bytes;
    unsigned char other[16];
  };  // `other`: what memory holds for the others, or for the owner
  std::vector<Entry> entries;
  template <int bytes>
  static void exchange_bytes(Entry& e) {
    unsigned char kept[bytes];
    std::memcpy(kept, e.at, bytes);
    std::memcpy(e.at, e.other, bytes);
    std::memcpy(e.other, kept, bytes);
  }
  /// Most of what an emulated run does, so the usual sizes are known to the compiler.
  static void exchange(Entry& e) {
    if (e.bytes == 4) exchange_bytes<4>(e);
    else if (e.bytes == 8) exchange_bytes<8>(e);
    else if (e.bytes == 16) exchange_bytes<16>(e);
    else std::swap_ranges(e.other, e.other + e.bytes, reinterpret_cast<unsigned char*>(e.at));
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

/// The collective that a thread has come to.
struct CollectiveCall {
  char kind = 0;              ///< 'w': warp barrier, 's', 'x': shuffle, 'b': ballot
  unsigned mask = 0;          ///< lanes that it names
  std::uint64_t bits = 0;     ///< what the lane brings
  int from = 0;               ///< lane that it reads from
  Where where;
  std::uint64_t result = 0;
};

/// The bits of an atomic access: at most 16 bytes, then zeros.
using AtomicBits = std::array<std::uint64_t, 2>;

/// A value that a thread has loaded and may be waiting to see changed.
struct Watched {
  const void* at;
  int bytes;
  AtomicBits value;
};

enum class State { runnable, block_barrier, warp, parked, quiet, held, finished };

/// One GPU thread, a fiber.
struct Lane {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  Block* block = nullptr;
  int index = 0;         ///< in its block
  int id = 0;            ///< in the whole run
  double priority = 0;
  State state = State::runnable;
  CollectiveCall waiting;
  Delayed delayed;
  std::vector<Watched> watched;  ///< loaded since the last pause, the last ones of many
  bool forgot = false;           ///< loaded more than that
  // A loop that loads one unchanged value again and again without a pause is parked as well.
  const void* last_load = nullptr;
  AtomicBits last_value{};
  int repeats = 0;
  bool seems_to_wait = false;    ///< parked for such a loop
  bool waits = false;            ///< in a loop with a pause, which it has not left
  int in_flight = 0;             ///< own puts that have not arrived
  int barriers = 0;              ///< of the block, passed so far
  std::vector<PutSources::iterator> open_puts;  ///< of this thread
  // Race detector: released and acquired by fences, by scope.
  VectorClock clock, released[3], acquired[3];
  // Sectors: how often each load or store was executed since the warp last came together.
  std::unordered_map<const void*, int> count;
  int epoch = 0;
};

/// The accesses that the lanes of a warp make together.
struct Request {
  const void* site;
  int epoch;   ///< of the lanes
  int n;       ///< number of the execution within the epoch
  bool write;
  auto operator<=>(const Request&) const = default;
};
struct Warp {
  std::map<Request, std::set<std::uintptr_t>> requests;  ///< sectors
  unsigned exist = 0;    ///< lanes, as a mask
  unsigned ended = 0;
  unsigned arrived = 0;  ///< at a collective
};

/// A resident block.
struct Block {
  int device = 0;
  int launch = 0;
  int number = 0;   ///< in its launch
  int slot = 0;
  int live = 0;     ///< threads that have not ended
  int waiting = 0;  ///< threads at the barrier
  std::vector<Lane> lanes;
  std::vector<Warp> warps;
  Delayed delayed;
  char* shared = nullptr;
  Where barrier;
};

struct Device {
  Delayed delayed;
  int resident = 0;  ///< blocks
};

/// A put that is on its way: its words and its signal arrive one at a time in any order.
struct Put {
  int from, to;  ///< devices
  char* target;
  const char* source;
  int bytes;
  char* signal;
  Signal value;
  Lane* lane;              ///< null: it has ended
  VectorClock clock;       ///< of the thread when it called put
  int id;
  int left;                ///< words that have not arrived
  std::vector<bool> done;  ///< by word
  bool is_late;  ///< the words left behind the signal stay away until somebody waits for them
  bool is_signalled = false;
};

/// What the race detector remembers of four bytes: the last store, and two threads that loaded since.
struct Shadow {
  Clock wrote = 0;
  std::uint16_t writer = 0;
  std::uint8_t atomic = 0, scope = 0;  ///< of the store
  Clock read[2] = {};
  std::uint16_t reader[2] = {};
};

/// What an atomic object hands to those who acquire it with sufficient scope.
struct Contribution {
  int device, block;  ///< block of_network: a signal of a put, which hands it to wait_signal alone
  Scope scope;
  VectorClock clock;
};

inline constexpr int of_network = -1;

/// A thread that may go on, with its priority beside it: many are compared for each switch.
struct Runnable {
  Lane* lane;
  double priority;
};

/// Lehmer's generator with 128 bits: a multiplication for each draw, of which a run makes several for each
/// switch.
class Draws {
 public:
  explicit Draws(std::uint64_t seed = 0) : state_((static_cast<Wide>(seed) << 64 | seed) * factor | 1) {
    for (int k = 0; k < 4; ++k) (void)bits();  // neighbouring seeds come apart
  }
  std::uint64_t bits() { return static_cast<std::uint64_t>((state_ *= factor) >> 64); }
  /// Uniform in [0, 1).
  double fraction() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Uniform in 0 … n − 1, to within 2⁻³²·n; 0 for n = 0.
  std::size_t below(std::size_t n) { return (bits() >> 32) * n >> 32; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t factor = 0xda942042e4dd58b5;
  Wide state_;
};

/// What has happened in a run, counted.
struct Events {
  std::int64_t writes = 0;       ///< atomic stores and additions that changed a value
  std::int64_t meetings = 0;     ///< threads that a barrier or anything else let go on
  std::int64_t waits_ended = 0;  ///< by a store, or by the end of a thread
  bool operator==(const Events&) const = default;
};

/// Everything that one run changes.
struct World {
  Options options;
  Report report;
  Draws draws;
  std::vector<Launch> launches;
  std::vector<std::vector<int>> to_start;  ///< by launch: blocks
  std::vector<Device> devices;
  std::list<Block> blocks;
  std::vector<Runnable> runnable;
  std::unordered_map<const void*, std::vector<Lane*>> parked;  ///< by what they wait to see changed
  Events events;
  std::int64_t writes_when_woken = -1;   ///< when the forgetful were last woken
  static constexpr int fewest_repeats = 32;
  int repeats_of_a_spin = fewest_repeats;  ///< loads of one value, without a pause, that seem to be a wait
  Events when_doubted;                     ///< when those that seemed to wait were last woken
  static constexpr int most_doubts = 1000;
  int doubts_left = most_doubts;           ///< while threads write or meet, but nobody's wait ends
  std::vector<int> free_slots;
  bool has_room = true;  ///< a block may become resident
  std::list<Put> network;
  Lane* current = nullptr;
  Lane* seen_by = nullptr;  ///< memory looks as this thread sees it; null: as everybody does
  void* scheduler = nullptr;  ///< stack pointer
  PutSources open_puts;       ///< whose threads have not yet called quiet
  int longest_put = 0;        ///< of those so far, in bytes
  int next_id = 0, threads_in_all = 0, next_put = 0;
  std::vector<std::pair<int, int>> place_of;  ///< by thread id: device, first id of its block
  std::unordered_map<const void*, std::vector<Contribution>> contributions;
  std::unordered_map<const void*, int> stored_bytes;      ///< of objects that were stored to atomically
  std::unordered_map<const char*, int> page_owner;        ///< of managed memory; absent: on the host
  bool stop = false;
  std::set<std::string> seen;  ///< errors, each reported once

  double chance() { return draws.fraction(); }
  std::size_t draw(std::size_t n) { return n <= 1 ? 0 : draws.below(n); }
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
std::string place(const void* address);
Shadow* shadow_of(const void* p);
/// If the byte is managed, its page comes to the lane's device.
void touch_managed(const Lane& lane, const void* p);
/// Whether the byte lies on another device, and is not managed.
bool is_remote(const Lane& lane, const void* p);
/// One access that the race detector judges and remembers.
struct Access {
  const void* at;
  int bytes;
  bool write, atomic;
  Scope scope;
};
/// The load or store of a kernel that makes an access, or what makes it otherwise. Its text takes long to
/// find, so it is found for reports only.
struct Accessor {
  const void* site = nullptr;
  const char* name = "";
  std::string text() const;
};
/// Tells the observer, if there is one, what the thread does to device memory; nothing of other memory.
void tell_observer(const Lane& lane, Observed::What what, const void* at, int bytes, Scope scope);
void check_race(Lane& lane, const Access& access, const Accessor& where);
void make_runnable(Lane& lane);
/// Threads that wait to see these bytes changed may look again.
void unpark(Lane& lane);
void wake(const void* p);
void wake_range(const char* p, int bytes);
/// Some delayed stores become visible one level further out; null: to all. One of `one_of`, drawn.
void pass_on(Delayed& from, Delayed* wider, int one_of);
constexpr int everything = 1, some = 4, few = 64;
/// All delayed stores that the thread has made or seen become visible at the scope.
void publish(Lane& lane, Scope scope);
/// Before another thread runs, some of the delayed stores of this one are passed on. Memory goes on to look
/// as this thread sees it until another is entered: with those of its own block and device it shares most.
void leave(Lane& lane);
void enter(Lane& lane);
/// Memory looks as everybody sees it: before anything but a thread reads or writes it, and before a thread
/// or block ends.
void hide_delayed_stores();
/// Let others run: until something makes this thread runnable, or as one of those that are.
void yield();
void yield_runnable();
/// Until something that the thread has loaded changes.
void park(Lane& lane);
/// Whether another thread of the wavefront waits and this one does not.
bool is_held(const Lane& lane);
/// The thread has left the loop in which it waited, if there was one.
void end_wait(Lane& lane);
/// The thread's clock goes on: later accesses are not covered by what was released.
void tick(Lane& lane);
/// One word or signal of a put arrives, whichever is drawn, or none if it is late. @returns whether there was
/// one on its way
bool deliver();
/// Reports lanes of a warp that are at different collectives, each of which names the other lane.
void report_different_calls(const Lane& a, const Lane& b);
/// Lets the warp go on if all lanes that the call names have come.
void finish_warp_collective(Block& block, int warp, Lane& arrived);

}  // namespace palmette::emulate
