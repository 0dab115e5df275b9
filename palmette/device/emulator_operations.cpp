// What kernels call: barriers, collectives, atomic accesses, fences, and the network between devices.
#include "palmette/device/emulator_state.hpp"

namespace palmette::emulate {

bool deliver() {
  World& w = *world;
  if (w.network.empty()) return false;
  auto put = w.network.begin();
  std::advance(put, static_cast<std::ptrdiff_t>(w.draw(w.network.size())));
  if (put->left > 0) {  // one word, any of those left
    std::size_t k = w.draw(static_cast<std::size_t>(put->left));
    int word = 0;
    for (;; ++word)
      if (!put->done[word] && k-- == 0) break;
    put->done[word] = true;
    --put->left;
    std::memcpy(put->target + 8 * word, put->source + 8 * word, 8);
    w.devices[put->to].delayed.forget(put->target + 8 * word, 8);
    wake_range(put->target + 8 * word, 8);
    return true;
  }
  if (put->signal != nullptr) {
    std::memcpy(put->signal, &put->value, 8);
    if (w.options.find_races)
      w.contributions[put->signal].push_back({put->from, -1, Scope::system, put->clock});
    wake(put->signal);
  }
  if (--put->lane->in_flight == 0 && put->lane->state == State::quiet) make_runnable(*put->lane);
  w.network.erase(put);
  return true;
}
namespace {
void converge(Lane& lane) {
  ++lane.epoch;
  lane.count.clear();
}
void join_all(const std::vector<Lane*>& lanes) {
  if (world->options.find_races) {
    Vector all;
    for (Lane* l : lanes) join(all, l->clock);
    for (Lane* l : lanes) {
      join(l->clock, all);
      ++l->clock[l->id];
    }
  }
}
}  // namespace
void block_barrier(Where where) {
  Lane& lane = *world->current;
  Block& block = *lane.block;
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
void finish_warp_collective(Block& block, int warp, Lane& arrived) {
  const Waiting& call = arrived.waiting;
  std::vector<Lane*> all;
  for (int k = 0; k < 32; ++k) {
    if (!(call.mask >> k & 1)) continue;
    const int index = warp * 32 + k;
    if (index >= static_cast<int>(block.lanes.size())) continue;
    Lane& l = block.lanes[index];
    if (l.state == State::finished) continue;
    if (l.state != State::warp) return;  // not yet
    if (l.waiting.kind != call.kind || l.waiting.mask != call.mask ||
        l.waiting.where.number != call.where.number) {
      if (l.waiting.mask >> (arrived.index & 31) & 1)
        world->error("divergent warp collective: " + place(call.where) + " and " + place(l.waiting.where) +
                     " are executed by lanes that name each other");
      return;
    }
    all.push_back(&l);
  }
  unsigned votes = 0;
  for (Lane* l : all) votes |= static_cast<unsigned>(l->waiting.bits & 1) << (l->index & 31);
  for (Lane* l : all) {
    if (call.kind == 'b')
      l->waiting.result = votes;
    else if (call.kind != 'w') {
      const int source = warp * 32 + l->waiting.from;
      const bool there = std::any_of(all.begin(), all.end(), [&](Lane* o) { return o->index == source; });
      if (!there)
        world->error("shuffle at " + place(call.where) + " reads from lane " +
                     std::to_string(l->waiting.from) + ", which does not take part");
      else
        l->waiting.result = block.lanes[source].waiting.bits;
    }
  }
  if (call.kind == 'w') join_all(all);  // shuffles and votes order no memory; only the warp barrier does
  for (Lane* l : all) {
    if (call.mask == 0xffffffffu) converge(*l);
    make_runnable(*l);
  }
}

std::uint64_t exchange(unsigned mask, std::uint64_t bits, int from, char kind, Where where) {
  Lane& lane = *world->current;
  ++world->report.collectives;
  if (!(mask >> (lane.index & 31) & 1))
    world->error("a lane that its mask does not name calls the warp collective " + place(where));
  if (kind == 'w') publish(lane, Scope::block);
  lane.waiting = {kind, mask, bits, from, where, 0};
  lane.state = State::warp;
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
    if (std::memcmp(seen.at, &seen.value, seen.bytes) != 0) {
      lane.watched.clear();
      return yield_runnable();
    }  // changed since it was read
  for (const Watched& seen : lane.watched) world->parked[seen.at].push_back(&lane);
  lane.state = State::parked;
  yield();
}
void pause() {
  park(*world->current);
}
void before_atomic(const AtomicAccess& access) {
  const auto [p, bytes, order, scope, kind] = access;
  Lane& lane = *world->current;
  ++world->report.atomics;
  yield_runnable();  // any other thread may come first
  if (order == Order::release) publish(lane, scope);
  if (kind != 'l') {
    lane.delayed.forget(static_cast<const char*>(p), bytes);
    lane.block->delayed.forget(static_cast<const char*>(p), bytes);
    world->devices[lane.block->device].delayed.forget(static_cast<const char*>(p), bytes);
  }
  if (!world->options.find_races) return;
  check_race(lane, {p, bytes, kind != 'l', true, scope}, "an atomic access");
  if (kind != 'l') {
    auto& list = world->contributions[p];
    if (kind == 's') list.clear();
    const auto& [device, serial] = world->place_of[lane.id];
    const auto contribute = [&, device = device, serial = serial](Scope s, const Vector& clock) {
      if (clock.empty()) return;
      for (auto& c : list)
        if (c.device == device && c.block == serial && c.scope == s) return join(c.clock, clock);
      list.push_back({device, serial, s, clock});
    };
    if (order == Order::release)
      contribute(scope, lane.clock), tick(lane);
    else
      for (int s = 0; s <= static_cast<int>(scope); ++s) contribute(static_cast<Scope>(s), lane.released[s]);
  }
}
void after_atomic(const AtomicAccess& access, bool changed) {
  const auto [p, bytes, order, scope, kind] = access;
  Lane& lane = *world->current;
  if (kind == 'l') {
    std::uint64_t value = 0;
    std::memcpy(&value, p, bytes);
    std::erase_if(lane.watched, [at = access.at](const Watched& seen) { return seen.at == at; });
    if (lane.watched.size() < 64) lane.watched.push_back({p, bytes, value});
    lane.repeats = lane.last_load == p && lane.last_value == value ? lane.repeats + 1 : 0;
    lane.last_load = p;
    lane.last_value = value;
    if (world->options.find_races) {
      const auto found = world->contributions.find(p);
      if (found != world->contributions.end())
        for (auto& c : found->second) {
          const auto& [device, serial] = world->place_of[lane.id];
          const int d = c.device != device ? 2 : c.block != serial ? 1 : 0;
          if (d > static_cast<int>(c.scope) || d > static_cast<int>(scope)) continue;
          join(order == Order::acquire ? lane.clock : lane.acquired[d], c.clock);
        }
    }
    if (lane.repeats > 32) {
      lane.repeats = 0;
      park(lane);
    }  // a loop that spins without pause
  } else {
    lane.watched.clear();
    if (changed) wake(p);
  }
}
void put_signal_block(double* to, const double* from, int count, Signal* signal, Signal value, int pe) {
  Lane& lane = *world->current;
  block_barrier();  // all threads call it; the last word is thread 0's
  if (lane.index == 0) {
    World& w = *world;
    ++w.report.puts;
    w.report.put_bytes += 8u * static_cast<unsigned>(count);
    if (w.options.find_races) {
      for (int k = 0; k < count; ++k)
        check_race(lane, {from + k, 8, false, false, Scope::block}, "the source of a put");
      for (int k = 0; k < count; ++k)
        check_race(lane, {on_device(to + k, pe - lane.block->device), 8, true, false, Scope::block},
                   "the target of a put");
    }
    publish(lane, Scope::system);
    ++lane.in_flight;
    ++w.open_puts;
    lane.put_sources.emplace_back(reinterpret_cast<const char*>(from), 8 * count);
    w.network.push_back({lane.block->device, pe,
                         reinterpret_cast<char*>(on_device(to, pe - lane.block->device)),
                         reinterpret_cast<const char*>(from), 8 * count,
                         reinterpret_cast<char*>(on_device(signal, pe - lane.block->device)), value, &lane,
                         lane.clock, w.next_put++, count, std::vector<bool>(count)});
    tick(lane);
  }
  block_barrier();
}
void wait_signal(Signal* signal, Signal value) {
  while (load(signal, Order::acquire, Scope::system) != value) pause();
}
void quiet() {
  Lane& lane = *world->current;
  if (lane.in_flight > 0) {
    lane.state = State::quiet;
    yield();
  }
  world->open_puts -= static_cast<int>(lane.put_sources.size());
  lane.put_sources.clear();
}
template <class T>
T get_from(const T* from, int pe) {
  ++world->report.remote_gets;
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
