// What kernels call: barriers, collectives, atomic accesses, fences, and the network between devices.
#include <span>

#include "palmette/device/emulator_state.hpp"

namespace palmette::emulate {

namespace {

/// What the network delivers at a time: the smallest scalar.
constexpr int bytes_of_word = 4;

void deliver_word(Put& put) {
  std::size_t skip = world->draw(static_cast<std::size_t>(put.left));
  int word = 0;
  while (put.done[word] || skip-- > 0) ++word;
  put.done[word] = true;
  --put.left;
  char* const target = put.target + bytes_of_word * word;
  std::memcpy(target, put.source + bytes_of_word * word, bytes_of_word);
  world->devices[put.to].delayed.forget(target, bytes_of_word);
  wake_range(target, bytes_of_word);
}

void deliver_signal(Put& put) {
  put.is_signalled = true;
  std::memcpy(put.signal, &put.value, 8);
  if (world->options.find_races)
    world->contributions[put.signal].push_back({put.from, of_network, Scope::system, put.clock});
  wake(put.signal);
}

using PutOnItsWay = std::list<Put>::iterator;

/// Takes a put off the network if all of it has arrived. @returns the next one
PutOnItsWay end_put(PutOnItsWay put) {
  if (put->left > 0 || !put->is_signalled) return std::next(put);
  Lane* const lane = put->lane;
  if (lane != nullptr && --lane->in_flight == 0 && lane->state == State::quiet) make_runnable(*lane);
  return world->network.erase(put);
}

/// What the network's own wait does behind a signal that has come: the words of its puts arrive.
void bring_words_behind(const Signal* signal) {
  hide_delayed_stores();
  for (auto put = world->network.begin(); put != world->network.end(); put = end_put(put))
    if (put->is_signalled && put->signal == reinterpret_cast<const char*>(signal))
      while (put->left > 0) deliver_word(*put);
  enter(*world->current);
}

/// The lanes of a warp have come together: later accesses are other requests.
void converge(Lane& lane) {
  ++lane.epoch;
  lane.count.clear();
}

/// Each has seen what all have seen.
void join_all(std::span<Lane* const> lanes) {
  if (!world->options.find_races) return;
  VectorClock all;
  for (const Lane* lane : lanes) join(all, lane->clock);
  for (Lane* lane : lanes) {
    join(lane->clock, all);
    ++lane->clock[lane->id];
  }
}

}  // namespace

bool deliver() {
  World& w = *world;
  if (w.network.empty()) return false;
  hide_delayed_stores();
  auto put = w.network.begin();
  std::advance(put, static_cast<std::ptrdiff_t>(w.draw(w.network.size())));
  if (put->is_late && put->is_signalled && !w.runnable.empty()) return true;
  const auto words = static_cast<std::size_t>(put->left);
  if (put->is_signalled || w.draw(words + 1) < words) deliver_word(*put);
  else deliver_signal(*put);
  end_put(put);
  return true;
}

void block_barrier(Where where) {
  Lane& lane = *world->current;
  Block& block = *lane.block;
  end_wait(lane);
  ++world->report.collectives;
  publish(lane, Scope::block);
  if (block.waiting > 0 && block.barrier.number != where.number)
    world->error("threads of a block are at different barriers: " + place(block.barrier) + " and " +
                 place(where));
  ++lane.barriers;
  block.barrier = lane.waiting.where = where;
  lane.state = State::block_barrier;
  if (++block.waiting < block.live) return yield();
  block.waiting = 0;
  std::vector<Lane*> all;
  for (auto& l : block.lanes)
    if (l.state == State::block_barrier) all.push_back(&l);
  join_all(all);
  for (Lane* l : all) {
    converge(*l);
    make_runnable(*l);
  }
  yield();
}

namespace {

bool same_call(const CollectiveCall& a, const CollectiveCall& b) {
  return a.kind == b.kind && a.mask == b.mask && a.where.number == b.where.number;
}

}  // namespace

void report_different_calls(const Lane& a, const Lane& b) {
  const auto names = [](const Lane& one, const Lane& other) {
    return (one.waiting.mask >> (other.index & 31) & 1) != 0;
  };
  if (same_call(a.waiting, b.waiting) || !names(a, b) || !names(b, a)) return;
  world->error("divergent warp collective: " + place(a.waiting.where) + " and " + place(b.waiting.where) +
               " are executed by lanes that name each other");
}

namespace {

/// Lanes of one warp, ascending: collectives are too many for memory of their own.
struct WarpLanes {
  std::array<Lane*, 32> lane;
  std::size_t count = 0;
  operator std::span<Lane* const>() const { return {lane.data(), count}; }
};

/// The lanes that the call names, if all have come to it; otherwise none.
WarpLanes lanes_of_call(Block& block, int warp, const Lane& arrived) {
  const CollectiveCall& call = arrived.waiting;
  const Warp& all = block.warps[warp];
  if ((call.mask & all.exist & ~all.ended & ~all.arrived) != 0) return {};
  WarpLanes lanes;
  for (int bit = 0; bit < 32; ++bit) {
    if (((call.mask & all.arrived) >> bit & 1) == 0) continue;
    Lane& lane = block.lanes[warp * 32 + bit];
    if (!same_call(lane.waiting, call)) {
      report_different_calls(arrived, lane);
      return {};
    }
    lanes.lane[lanes.count++] = &lane;
  }
  return lanes;
}

void vote(std::span<Lane* const> lanes) {
  unsigned votes = 0;
  for (const Lane* lane : lanes)
    votes |= static_cast<unsigned>(lane->waiting.bits & 1) << (lane->index & 31);
  for (Lane* lane : lanes) lane->waiting.result = votes;
}

void shuffle_bits(std::span<Lane* const> lanes) {
  std::array<const Lane*, 32> by_number{};
  for (const Lane* lane : lanes) by_number[lane->index & 31] = lane;
  for (Lane* lane : lanes) {
    const int number = lane->waiting.from;
    const bool exists = number >= 0 && number < 32;
    const Lane* const from = exists ? by_number[static_cast<std::size_t>(number)] : nullptr;
    if (from != nullptr) lane->waiting.result = from->waiting.bits;
    else
      world->error("shuffle at " + place(lane->waiting.where) + " reads from lane " +
                   std::to_string(lane->waiting.from) + ", which does not take part");
  }
}

}  // namespace

void finish_warp_collective(Block& block, int warp, Lane& arrived) {
  const WarpLanes found = lanes_of_call(block, warp, arrived);
  const std::span<Lane* const> lanes = found;
  if (lanes.empty()) return;
  // Shuffles and votes order no memory; only the warp barrier does.
  switch (arrived.waiting.kind) {
    case 'b': vote(lanes); break;
    case 'w': join_all(lanes); break;
    default: shuffle_bits(lanes);
  }
  const bool whole_warp = arrived.waiting.mask == 0xffffffffu;
  for (Lane* lane : lanes) {
    if (whole_warp) converge(*lane);
    block.warps[warp].arrived &= ~(1u << (lane->index & 31));
    make_runnable(*lane);
  }
}

std::uint64_t exchange(unsigned mask, std::uint64_t bits, int from, char kind, Where where) {
  Lane& lane = *world->current;
  ++world->report.collectives;
  end_wait(lane);
  if (!(mask >> (lane.index & 31) & 1))
    world->error("a lane that its mask does not name calls the warp collective " + place(where));
  if (kind == 'w') publish(lane, Scope::block);
  lane.waiting = {kind, mask, bits, from, where, 0};
  lane.state = State::warp;
  lane.block->warps[lane.index / 32].arrived |= 1u << (lane.index & 31);
  finish_warp_collective(*lane.block, lane.index / 32, lane);
  yield();
  return lane.waiting.result;
}
void warp_barrier(unsigned mask, Where where) {
  exchange(mask, 0, 0, 'w', where);
}
unsigned ballot(unsigned mask, bool p, Where where) {
  return static_cast<unsigned>(exchange(mask, p, 0, 'b', where));
}

void fence(Scope scope) {
  Lane& lane = *world->current;
  tell_observer(lane, Observed::release, nullptr, 0, scope);
  publish(lane, scope);
  if (!world->options.find_races) return;
  for (int s = 0; s <= static_cast<int>(scope); ++s) {
    join(lane.clock, lane.acquired[s]);
    lane.released[s] = lane.clock;
  }
  tick(lane);
}
void park(Lane& lane) {
  if (lane.watched.empty()) return yield_runnable();
  for (const Watched& seen : lane.watched)
    if (std::memcmp(seen.at, seen.value.data(), seen.bytes) != 0) {
      lane.watched.clear();
      return yield_runnable();
    }  // changed since it was read
  for (const Watched& seen : lane.watched) world->parked[seen.at].push_back(&lane);
  lane.state = State::parked;
  yield();
}
void pause() {
  world->current->waits = true;
  park(*world->current);
}

namespace {

/// Calls each(lane) for the lanes of its wavefront.
template <class Each>
void over_wave(const Lane& lane, Each&& each) {
  const int size = world->options.lanes_in_step;
  for (Lane& other : lane.block->lanes)
    if (other.index / size == lane.index / size) each(other);
}

}  // namespace

bool is_held(const Lane& lane) {
  if (world->options.lanes_in_step == 0 || lane.waits) return false;
  bool others_wait = false;
  over_wave(lane, [&](const Lane& other) { others_wait |= other.waits; });
  return others_wait;
}

void end_wait(Lane& lane) {
  if (!lane.waits) return;
  lane.waits = false;
  if (world->options.lanes_in_step == 0 || is_held(lane)) return;
  over_wave(lane, [](Lane& other) {
    if (other.state == State::held) make_runnable(other);
  });
}

namespace {

/// What is read or written atomically is no longer hidden from anybody.
void forget_delayed(Lane& lane, const void* at, int bytes) {
  const char* const first = static_cast<const char*>(at);
  lane.delayed.forget(first, bytes);
  lane.block->delayed.forget(first, bytes);
  world->devices[lane.block->device].delayed.forget(first, bytes);
}

/// The object hands this clock to those who acquire it at the scope.
void contribute(const Lane& lane, std::vector<Contribution>& list, Scope scope, const VectorClock& clock) {
  if (clock.empty()) return;
  const auto& [device, block] = world->place_of[lane.id];
  for (Contribution& one : list)
    if (one.device == device && one.block == block && one.scope == scope) return join(one.clock, clock);
  list.push_back({device, block, scope, clock});
}

/// A store begins a new list; an addition goes on with the old one.
void release(Lane& lane, const AtomicAccess& access) {
  std::vector<Contribution>& list = world->contributions[access.at];
  if (access.kind == 's') list.clear();
  if (access.order == Order::release) {
    contribute(lane, list, access.scope, lane.clock);
    return tick(lane);
  }
  for (int scope = 0; scope <= static_cast<int>(access.scope); ++scope)
    contribute(lane, list, static_cast<Scope>(scope), lane.released[scope]);
}

/// A relaxed load keeps what it could have acquired for a fence that may follow.
void acquire(Lane& lane, const AtomicAccess& access) {
  const auto found = world->contributions.find(access.at);
  if (found == world->contributions.end()) return;
  const auto& [device, block] = world->place_of[lane.id];
  for (const Contribution& one : found->second) {
    if (one.block == of_network) continue;
    const int distance = one.device != device ? 2 : one.block != block ? 1 : 0;
    if (distance > static_cast<int>(one.scope) || distance > static_cast<int>(access.scope)) continue;
    join(access.order == Order::acquire ? lane.clock : lane.acquired[distance], one.clock);
  }
}

void watch(Lane& lane, const AtomicAccess& access) {
  constexpr std::size_t most_watched = 64;
  AtomicBits value{};
  std::memcpy(value.data(), access.at, access.bytes);
  std::erase_if(lane.watched, [&](const Watched& seen) { return seen.at == access.at; });
  if (lane.watched.size() == most_watched) {
    lane.watched.erase(lane.watched.begin());
    lane.forgot = true;
  }
  lane.watched.push_back({access.at, access.bytes, value});
  lane.repeats = lane.last_load == access.at && lane.last_value == value ? lane.repeats + 1 : 0;
  lane.last_load = access.at;
  lane.last_value = value;
}

/// Wakes who watches what was stored, or 16 bytes of which it is a part.
void wake_watchers(const AtomicAccess& access) {
  const auto* const at = static_cast<const char*>(access.at);
  wake(at);
  if (access.bytes == 16) wake(at + 8);
  if (reinterpret_cast<std::uintptr_t>(at) % 16 == 8) wake(at - 8);
}

}  // namespace

namespace {

/// A load from another device, counted. What was stored with another size is not what its author meant.
void note_get(const Lane& lane, const AtomicAccess& access) {
  if (access.kind != 'l' || !is_remote(lane, access.at)) return;
  ++world->report.remote_gets;
  world->report.get_bytes += static_cast<unsigned>(access.bytes);
  const auto stored = world->stored_bytes.find(access.at);
  if (stored != world->stored_bytes.end() && stored->second != access.bytes)
    world->error("a load of " + std::to_string(access.bytes) + " bytes from another device, where " +
                 std::to_string(stored->second) + " were stored together");
}

}  // namespace

void before_atomic(const AtomicAccess& access) {
  Lane& lane = *world->current;
  ++world->report.atomics;
  if (access.order == Order::acquire) {
    ++world->report.acquires;
    end_wait(lane);
  }
  yield_runnable();  // any other thread may come first
  const bool writes = access.kind != 'l';
  touch_managed(lane, access.at);
  if (world->options.devices > 1) note_get(lane, access);
  if (access.order == Order::release) {
    tell_observer(lane, Observed::release, nullptr, 0, access.scope);
    publish(lane, access.scope);
  }
  tell_observer(lane, writes ? Observed::store : Observed::load, access.at, access.bytes, access.scope);
  if (writes) forget_delayed(lane, access.at, access.bytes);
  if (!world->options.find_races) return;
  if (writes && world->options.devices > 1) world->stored_bytes[access.at] = access.bytes;
  check_race(lane, {access.at, access.bytes, writes, true, access.scope}, {nullptr, "an atomic access"});
  if (writes) release(lane, access);
}

void after_atomic(const AtomicAccess& access, bool changed) {
  Lane& lane = *world->current;
  if (access.kind != 'l') {
    lane.watched.clear();
    lane.forgot = false;
    if (!changed) return;
    ++world->events.writes;
    wake_watchers(access);
    return;
  }
  watch(lane, access);
  if (world->options.find_races) acquire(lane, access);
  if (lane.repeats <= world->repeats_of_a_spin) return;
  lane.repeats = 0;
  lane.seems_to_wait = true;
  park(lane);  // a loop that spins without pause, or loads of what is known already
  lane.seems_to_wait = false;
}

namespace {

void check_put(Lane& lane, char* to, const char* from, int bytes) {
  if (!world->options.find_races) return;
  for (int at = 0; at < bytes; at += bytes_of_word)
    check_race(lane, {from + at, bytes_of_word, false, false, Scope::block},
               {nullptr, "the source of a put"});
  for (int at = 0; at < bytes; at += bytes_of_word)
    check_race(lane, {to + at, bytes_of_word, true, false, Scope::block}, {nullptr, "the target of a put"});
}

}  // namespace

void put_signal(void* to, const void* from, int bytes, Signal* signal, Signal value, int pe) {
  World& w = *world;
  Lane& lane = *w.current;
  const int away = pe - lane.block->device, words = bytes / bytes_of_word;
  ++w.report.puts;
  w.report.put_bytes += static_cast<unsigned>(bytes);
  char* const target = on_device(static_cast<char*>(to), away);
  const char* const source = static_cast<const char*>(from);
  const auto count = static_cast<std::size_t>(bytes);
  if (!memory.is_allocated(target, count) || !memory.is_allocated(source, count))
    w.error("a put of " + std::to_string(bytes) + " bytes outside device memory");
  check_put(lane, target, source, bytes);
  tell_observer(lane, Observed::store, target, bytes, Scope::block);
  tell_observer(lane, Observed::release, nullptr, 0, Scope::system);
  tell_observer(lane, Observed::store, on_device(signal, away), 8, Scope::system);
  publish(lane, Scope::system);
  ++lane.in_flight;
  lane.open_puts.push_back(w.open_puts.emplace(source, source + bytes));
  w.longest_put = std::max(w.longest_put, bytes);
  w.network.push_back({lane.block->device, pe, target, source, bytes,
                       reinterpret_cast<char*>(on_device(signal, away)), value, &lane, lane.clock,
                       w.next_put++, words, std::vector<bool>(words), w.draw(2) == 0});
  tick(lane);
}
void put_signal_block(void* to, const void* from, long long bytes, Signal* signal, Signal value, int pe) {
  block_barrier();  // all threads call it; the last word is thread 0's
  if (world->current->index == 0) put_signal(to, from, static_cast<int>(bytes), signal, value, pe);
  block_barrier();
}
void set_signal(Signal* signal, Signal value, int pe) {
  put_signal(signal, signal, 0, signal, value, pe);
}
void wait_signal(Signal* signal, Signal value) {
  while (load(signal, Order::acquire, Scope::system) != value) pause();
  bring_words_behind(signal);
  if (!world->options.find_races) return;
  for (const Contribution& one : world->contributions[signal])
    if (one.block == of_network) join(world->current->clock, one.clock);
}
void quiet() {
  Lane& lane = *world->current;
  if (lane.in_flight > 0) {
    lane.state = State::quiet;
    yield();
  }
  for (const auto& source : lane.open_puts) world->open_puts.erase(source);
  lane.open_puts.clear();
}
template <class T>
T get_from(const T* from, int pe) {
  return load(on_device(const_cast<T*>(from), pe - world->current->block->device), Order::relaxed,
              Scope::system);
}
double get(const double* from, int pe) {
  return get_from(from, pe);
}
int get(const int* from, int pe) {
  return get_from(from, pe);
}

}  // namespace palmette::emulate
