// The scheduler of the emulator: fibers, resident blocks, priorities that change by seed, deadlocks.
#include <algorithm>
#include <numeric>

#include "palmette/base/base.hpp"
#include "palmette/device/emulator_state.hpp"

// Fibers switch stacks by hand, which sanitizers do not understand, and the hooks of the thread sanitizer are
// the emulator's own here: under a sanitizer, and on other processors, runs are refused.
#if defined(__x86_64__) && !defined(PALMETTE_SANITIZED)
#define PALMETTE_FIBERS 1
// Saves the callee-saved registers on the old stack and takes up those of the new one.
asm(R"(
.text
.globl palmette_emulator_switch
palmette_emulator_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
)");
extern "C" void palmette_emulator_switch(void** save, void* load);
#else
#define PALMETTE_FIBERS 0
static void palmette_emulator_switch(void**, void*) {}
#endif

namespace palmette::emulate {

void yield() {
  Lane& lane = *world->current;
  leave(lane);
  palmette_emulator_switch(&lane.stack_pointer, world->scheduler);
  enter(lane);
}
void yield_runnable() {
  world->runnable.push_back({world->current, world->current->priority});
  yield();
}


namespace {

void fiber_main() {
  Lane& lane = *world->current;
  enter(lane);
  world->launches[lane.block->launch].kernel();
  if (!lane.open_puts.empty())
    world->error("a thread ends without quiet behind what it has put");
  // The end of a kernel publishes; for this thread that is early, which only hides mistakes.
  publish(lane, Scope::system);
  lane.state = State::finished;
  yield();
  __builtin_unreachable();
}

void draw_priorities(Block& block);

/// A stack whose first switch enters fiber_main.
void prepare_stack(Lane& lane) {
  if (free_stacks.empty()) free_stacks.push_back(reserve(stack_bytes));
  lane.stack = free_stacks.back();
  free_stacks.pop_back();
  constexpr int registers = 6;  // that a switch restores
  // Stacks begin in different lines of the caches: threads switch often, and touch little in between.
  constexpr std::size_t shift = 4 * 64, shifts = 16;
  const std::size_t number = reinterpret_cast<std::uintptr_t>(lane.stack) / stack_bytes;
  char* const end = lane.stack + stack_bytes - number % shifts * shift;
  void** const top = reinterpret_cast<void**>(end) - 8;
  std::fill_n(top, registers, nullptr);
  top[registers] = reinterpret_cast<void*>(&fiber_main);
  top[registers + 1] = nullptr;
  lane.stack_pointer = top;
}

void make_lanes(Block& block) {
  World& w = *world;
  const int first_id = w.next_id;
  for (int index = 0; index < block.live; ++index) {
    Lane& lane = block.lanes[index];
    lane.block = &block;
    lane.index = index;
    lane.id = w.next_id++;
    block.warps[index / 32].exist |= 1u << (index & 31);
    w.place_of.push_back({block.device, first_id});
    if (w.options.find_races) {
      lane.clock.assign(w.threads_in_all, 0);
      lane.clock[lane.id] = 1;
    }
    prepare_stack(lane);
    make_runnable(lane);
  }
}

/// Not zero, so that a kernel that relies on zeros is found out.
void fill_shared_memory(Block& block, std::size_t bytes) {
  block.shared = memory.shared + block.slot * block_shared_bytes;
  std::memset(block.shared, 0xCB, bytes);
  std::memset(static_cast<void*>(shadow_of(block.shared)), 0, bytes / 4 * sizeof(Shadow));
}

/// One block that waits becomes resident, if there is room. @returns whether one did
bool start_block() {
  World& w = *world;
  std::vector<int> candidates;
  for (int launch = 0; launch < static_cast<int>(w.launches.size()); ++launch)
    if (!w.to_start[launch].empty() &&
        w.devices[w.launches[launch].device].resident < w.options.resident_blocks)
      candidates.push_back(launch);
  if (candidates.empty() || w.free_slots.empty()) return false;
  Block& block = w.blocks.emplace_back();
  block.launch = candidates[w.draw(candidates.size())];
  const Launch& launch = w.launches[block.launch];
  auto& rest = w.to_start[block.launch];
  const std::size_t which = w.options.any_block_order ? w.draw(rest.size()) : 0;
  block.number = rest[which];
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(which));
  block.device = launch.device;
  block.slot = w.free_slots.back();
  w.free_slots.pop_back();
  fill_shared_memory(block, launch.shared_bytes);
  ++w.devices[block.device].resident;
  block.live = launch.threads;
  block.lanes.resize(block.live);
  block.warps.resize((block.live + 31) / 32);
  make_lanes(block);
  draw_priorities(block);
  return true;
}

/// The others may have waited for this one only.
void go_on_without(Lane& lane) {
  Block& block = *lane.block;
  if (block.waiting == block.live) {
    block.waiting = 0;
    for (Lane& other : block.lanes)
      if (other.state == State::block_barrier) make_runnable(other);
  }
  const int warp = lane.index / 32;
  // Each, since lanes of one warp may have come to different collectives.
  for (Lane& other : block.lanes)
    if (other.state == State::warp && other.index / 32 == warp) finish_warp_collective(block, warp, other);
}

void end_block(Block& block, const Lane& last) {
  World& w = *world;
  for (const Lane& other : block.lanes)
    if (other.barriers != last.barriers)
      w.error("barriers of unequal counts: " + name(other) + " came to " + std::to_string(other.barriers) +
              ", " + name(last) + " to " + std::to_string(last.barriers));
  block.delayed.show();
  pass_on(block.delayed, nullptr, everything);
  for (const Warp& warp : block.warps)
    for (const auto& [request, sectors] : warp.requests) {
      Site& site = (request.write ? w.report.stores : w.report.loads)[request.site];
      ++site.requests;
      site.sectors += sectors.size();
    }
  --w.devices[block.device].resident;
  w.has_room = true;
  w.free_slots.push_back(block.slot);
  w.blocks.remove_if([&](const Block& one) { return &one == &block; });
}

/// What the thread did not wait for arrives all the same, for nobody: fiber_main has reported it.
void give_up_puts(Lane& lane) {
  if (lane.in_flight == 0) return;
  for (Put& put : world->network)
    if (put.lane == &lane) put.lane = nullptr;
}

void end_lane(Lane& lane) {
  Block& block = *lane.block;
  ++world->events.waits_ended;
  give_up_puts(lane);
  hide_delayed_stores();
  free_stacks.push_back(lane.stack);
  block.warps[lane.index / 32].ended |= 1u << (lane.index & 31);
  if (--block.live > 0) go_on_without(lane);
  else end_block(block, lane);
}

/// A lane at the barrier, or at another warp collective, whom a warp collective of others names.
void report_divergence(const Block& block) {
  for (const Lane& lane : block.lanes)
    for (const Lane& other : block.lanes) {
      if (other.state != State::warp || other.index / 32 != lane.index / 32) continue;
      if (lane.state == State::warp) report_different_calls(other, lane);
      if (lane.state == State::block_barrier && (other.waiting.mask >> (lane.index & 31) & 1) != 0)
        world->error("divergent warp collective: " + place(other.waiting.where) +
                     " names a lane that is at the barrier " + place(lane.waiting.where));
    }
}

/// Who waits for what; of each kind of waiting the first few.
void describe_deadlock() {
  World& w = *world;
  std::size_t parked = 0, barrier = 0, warp = 0, held = 0, waiting_blocks = 0;
  std::string examples;
  for (const auto& rest : w.to_start) waiting_blocks += rest.size();
  for (const Block& block : w.blocks)
    for (const Lane& lane : block.lanes) {
      if (lane.state == State::parked && parked++ < 3)
        examples += "; " + name(lane) + " spins on " + place(lane.last_load);
      if (lane.state == State::block_barrier && barrier++ < 1)
        examples += "; " + name(lane) + " is at the barrier " + place(lane.waiting.where);
      if (lane.state == State::warp && warp++ < 1)
        examples += "; " + name(lane) + " is at the warp collective " + place(lane.waiting.where);
      if (lane.state == State::held && held++ < 1)
        examples += "; " + name(lane) + " stands still, since others of its wavefront wait";
    }
  for (const Block& block : w.blocks) report_divergence(block);
  w.error("deadlock: " + std::to_string(parked) + " threads spin, " + std::to_string(barrier) +
          " wait at barriers, " + std::to_string(warp) + " at warp collectives, " +
          std::to_string(waiting_blocks) + " blocks are not resident" + examples);
}

/// Favours some blocks, warps and threads over others, differently from time to time: threads drawn with
/// equal chances all advance at about the same speed and hardly ever overtake each other. After Burckhardt et
/// al., probabilistic concurrency testing (ASPLOS 2010).
void draw_priorities(Block& block) {
  const double of_block = world->chance();
  double of_warp = 0;
  for (auto& lane : block.lanes) {
    if (lane.index % 32 == 0) of_warp = world->chance();
    lane.priority = 0.7 * of_block + 0.2 * of_warp + 0.1 * world->chance();
  }
  for (Runnable& one : world->runnable) one.priority = one.lane->priority;
}
/// A runnable thread: one that is drawn, or the one of highest priority among several, by seed.
std::size_t draw_lane() {
  World& w = *world;
  static constexpr int rounds_of_four[] = {0, 2, 16};
  if (w.draw(1024) == 0) draw_priorities(*w.runnable[w.draw(w.runnable.size())].lane->block);
  const std::size_t size = w.runnable.size();
  const Runnable* const all = w.runnable.data();
  const auto higher = [all](std::size_t a, std::size_t b) {
    return all[b].priority > all[a].priority ? b : a;
  };
  std::size_t best = w.draw(size);
  // Most of what switches cost: four are drawn at a time, and contend in pairs, which processors overlap.
  for (int round = 0; round < rounds_of_four[w.options.seed % 3]; ++round) {
    const std::uint64_t bits = w.draws.bits();
    const auto contestant = [&](int k) { return (bits >> 16 * k & 0xffff) * size >> 16; };
    best = higher(best, higher(higher(contestant(0), contestant(1)), higher(contestant(2), contestant(3))));
  }
  return best;
}

/// When nothing else can happen, delayed stores become visible. @returns whether that lets a thread go on
bool reveal_delayed_stores() {
  World& w = *world;
  hide_delayed_stores();
  bool hidden = false;
  const auto reveal = [&](Delayed& delayed) {
    hidden |= !delayed.entries.empty();
    delayed.show();
    pass_on(delayed, nullptr, everything);
  };
  for (Device& device : w.devices) reveal(device.delayed);
  for (Block& block : w.blocks) reveal(block.delayed);
  for (Block& block : w.blocks)
    for (Lane& lane : block.lanes) reveal(lane.delayed);
  return hidden && !w.runnable.empty();
}

/// Parked threads of which `may_go_on` is true look again. @returns whether there is one
template <class MayGoOn>
bool wake_parked(const MayGoOn& may_go_on) {
  std::vector<Lane*> found;
  for (Block& block : world->blocks)
    for (Lane& lane : block.lanes)
      if (lane.state == State::parked && may_go_on(lane)) found.push_back(&lane);
  for (Lane* const lane : found) unpark(*lane);
  return !found.empty();
}

/// Those for whom memory holds something else than they have seen. Stores wake who waits for exactly their
/// bytes; after this, nobody waits for a change that has happened.
bool wake_who_would_see_a_change() {
  return wake_parked([](const Lane& lane) {
    return std::any_of(lane.watched.begin(), lane.watched.end(), [](const Watched& seen) {
      return std::memcmp(seen.at, seen.value.data(), static_cast<std::size_t>(seen.bytes)) != 0;
    });
  });
}

/// A thread that polls more places than it remembers may have been parked although one of them changed: it
/// looks again, as long as something was written since the last time.
bool wake_the_forgetful() {
  World& w = *world;
  if (w.events.writes == w.writes_when_woken) return false;
  w.writes_when_woken = w.events.writes;
  return wake_parked([](const Lane& lane) { return lane.forgot; });
}

/// Those that only seem to wait, since they have loaded one value many times without a pause, go on: between
/// the loads they may have done what they had to do. Each time that nothing has happened since the last one,
/// they may load twice as often before they seem to wait again: 2,000 times in all. What happens is that a
/// store or an end lets a thread go on. Writes and meetings count for so many doubts only: a loop that waits
/// for nothing may count its turns, or vote in each.
bool wake_who_seem_to_wait() {
  constexpr int most_repeats = 1 << 10;
  World& w = *world;
  if (w.events.waits_ended != w.when_doubted.waits_ended) w.doubts_left = World::most_doubts;
  if (w.events != w.when_doubted && w.doubts_left > 0) {
    --w.doubts_left;
    w.repeats_of_a_spin = World::fewest_repeats;
  }
  if (w.repeats_of_a_spin >= most_repeats) return false;
  w.repeats_of_a_spin *= 2;
  const bool woken = wake_parked([](const Lane& lane) { return lane.seems_to_wait; });
  w.when_doubted = w.events;
  return woken;
}

/// All that wait look once more, while the options allow it.
bool let_all_look_again() {
  if (world->options.last_looks-- <= 0) return false;
  return wake_parked([](const Lane&) { return true; });
}

/// When no thread can go on. @returns whether there is one after all
bool find_who_can_go_on() {
  return reveal_delayed_stores() || wake_who_would_see_a_change() || wake_the_forgetful() ||
         wake_who_seem_to_wait() || let_all_look_again();
}

void run_lane() {
  World& w = *world;
  const std::size_t which = draw_lane();
  Lane& lane = *w.runnable[which].lane;
  w.runnable[which] = w.runnable.back();
  w.runnable.pop_back();
  if (is_held(lane)) {
    lane.state = State::held;
    return;
  }
  w.current = &lane;
  ++w.report.switches;
  palmette_emulator_switch(&w.scheduler, lane.stack_pointer);
  w.current = nullptr;
  if (lane.state == State::finished) end_lane(lane);
}

/// Until all threads have ended, none can go on, or there are too many errors.
void schedule() {
  World& w = *world;
  for (;;) {
    while (w.has_room) w.has_room = start_block();
    if (w.stop) return;
    if (!w.network.empty() && (w.runnable.empty() || w.chance() < 0.25)) {
      deliver();
    } else if (!w.runnable.empty()) {
      run_lane();
    } else if (w.blocks.empty()) {
      return;
    } else if (!find_who_can_go_on()) {
      return describe_deadlock();
    }
  }
}

}  // namespace

bool emulator_is_available() {
  return PALMETTE_FIBERS != 0;
}

namespace {

void prepare(World& w, const std::vector<Launch>& launches, const Options& options) {
  w.options = options;
  w.draws = Draws(options.seed);
  w.launches = launches;
  w.devices.resize(options.devices);
  w.report.page_moves.resize(options.devices);
  for (int slot = 0; slot < max_slots; ++slot) w.free_slots.push_back(slot);
  for (const Launch& launch : launches) {
    w.to_start.emplace_back(launch.blocks);
    std::iota(w.to_start.back().begin(), w.to_start.back().end(), 0);
    w.threads_in_all += launch.blocks * launch.threads;
  }
  if (!options.find_races) return;
  if (w.threads_in_all > 60000) throw UsageError("the race detector knows 60000 threads at most");
  for (int device = 0; device < options.devices; ++device)
    std::memset(static_cast<void*>(shadow_of(memory.base + device * device_bytes)), 0,
                (memory.used / 4 + 1) * sizeof(Shadow));
}

/// Memory holds what has been stored, and the stacks of threads that did not end are kept.
void clean_up(World& w) {
  hide_delayed_stores();
  for (Device& device : w.devices) {
    device.delayed.show();
    device.delayed.entries.clear();
  }
  for (Block& block : w.blocks)
    for (Lane& lane : block.lanes)
      if (lane.state != State::finished) free_stacks.push_back(lane.stack);
}

}  // namespace

Report run(const std::vector<Launch>& launches, const Options& options) {
  if (!emulator_is_available()) throw UsageError("the emulator needs x86-64 and a build without sanitizers");
  World w;
  prepare(w, launches, options);
  world = &w;
  schedule();
  clean_up(w);
  world = nullptr;
  return w.report;
}

int thread() { return world->current->index; }
int threads() { return world->launches[world->current->block->launch].threads; }
int lane() { return world->current->index & 31; }
bool leads_wave() {
  const int size = world->options.lanes_in_step;
  return size == 0 || world->current->index % size < 32;
}
int block() { return world->current->block->number; }
int blocks() { return world->launches[world->current->block->launch].blocks; }
int my_pe() { return world->current->block->device; }
int num_pes() { return world->options.devices; }
unsigned char* shared_bytes() {
  return reinterpret_cast<unsigned char*>(world->current->block->shared);
}
}  // namespace palmette::emulate
