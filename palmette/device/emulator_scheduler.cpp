// The scheduler of the emulator: fibers, resident blocks, priorities that change by seed, deadlocks.
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
  world->runnable.push_back(world->current);
  yield();
}

namespace {
void fiber_main() {
  Lane& lane = *world->current;
  enter(lane);
  world->launches[lane.block->launch].kernel();
  publish(lane,
          Scope::system);  // the end of a kernel publishes; early for this thread, which only hides mistakes
  lane.state = State::finished;
  yield();
  __builtin_unreachable();
}

void draw_priorities(Block& block);
bool start_block() {
  World& w = *world;
  std::vector<int> candidates;
  for (int k = 0; k < static_cast<int>(w.launches.size()); ++k)
    if (!w.to_start[k].empty() && w.devices[w.launches[k].device].resident < w.options.resident_blocks)
      candidates.push_back(k);
  if (candidates.empty() || w.free_slots.empty()) return false;
  const int k = candidates[w.draw(candidates.size())];
  auto& rest = w.to_start[k];
  const std::size_t which = w.options.any_block_order ? w.draw(rest.size()) : 0;
  Block& block = w.blocks.emplace_back();
  block.number = rest[which];
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(which));
  block.launch = k;
  block.device = w.launches[k].device;
  block.slot = w.free_slots.back();
  w.free_slots.pop_back();
  block.shared = memory.shared + block.slot * shared_room;
  std::memset(block.shared, 0xCB, w.launches[k].shared_bytes);  // not zero: whoever relies on it is found out
  std::memset(static_cast<void*>(shadow_of(block.shared)), 0,
              w.launches[k].shared_bytes / 4 * sizeof(Shadow));
  ++w.devices[block.device].resident;
  block.live = w.launches[k].threads;
  block.lanes.resize(block.live);
  block.warps.resize((block.live + 31) / 32);
  const int serial = w.next_id;
  for (int i = 0; i < block.live; ++i) {
    Lane& lane = block.lanes[i];
    lane.block = &block;
    lane.index = i;
    lane.id = w.next_id++;
    w.place_of.push_back({block.device, serial});
    if (w.options.find_races) {
      lane.clock.assign(w.threads_in_all, 0);
      lane.clock[lane.id] = 1;
    }
    if (free_stacks.empty()) free_stacks.push_back(reserve(stack_bytes));
    lane.stack = free_stacks.back();
    free_stacks.pop_back();
    void** top = reinterpret_cast<void**>(lane.stack + stack_bytes) - 8;
    top[6] = reinterpret_cast<void*>(&fiber_main);
    top[7] = nullptr;
    for (int r = 0; r < 6; ++r) top[r] = nullptr;
    lane.stack_pointer = top;
    make_runnable(lane);
  }
  draw_priorities(block);
  return true;
}

void end_lane(Lane& lane) {
  Block& block = *lane.block;
  World& w = *world;
  --block.live;
  free_stacks.push_back(lane.stack);
  if (block.live > 0) {
    if (block.waiting == block.live) {  // the others wait at a barrier for those who have not ended
      block.waiting = 0;
      for (auto& other : block.lanes)
        if (other.state == State::block_barrier) make_runnable(other);
    }
    for (auto& other : block.lanes)
      if (other.state == State::warp && other.index / 32 == lane.index / 32) {
        finish_warp_collective(block, lane.index / 32, other);
        break;
      }
    return;
  }
  for (const Lane& other : block.lanes)
    if (other.barriers != lane.barriers)
      w.error("barriers of unequal counts: " + name(other) + " came to " + std::to_string(other.barriers) +
              ", " + name(lane) + " to " + std::to_string(lane.barriers));
  block.delayed.show();
  pass_on(block.delayed, nullptr, everything);
  for (auto& warp : block.warps)
    for (auto& [request, sectors] : warp.requests) {
      Site& site = (request.write ? w.report.stores : w.report.loads)[request.site];
      ++site.requests;
      site.sectors += sectors.size();
    }
  --w.devices[block.device].resident;
  w.free_slots.push_back(block.slot);
  w.blocks.remove_if([&](const Block& b) { return &b == &block; });
}

void describe_deadlock() {
  World& w = *world;
  std::size_t parked = 0, barrier = 0, warp = 0, waiting_blocks = 0;
  std::string example;
  for (auto& rest : w.to_start) waiting_blocks += rest.size();
  for (auto& block : w.blocks)
    for (auto& lane : block.lanes) {
      if (lane.state == State::parked) {
        if (parked++ < 3) example += "; " + name(lane) + " spins on " + place(lane.last_load);
      }
      if (lane.state == State::block_barrier) {
        if (barrier++ < 1) example += "; " + name(lane) + " is at the barrier " + place(lane.waiting.where);
      }
      if (lane.state == State::warp) {
        if (warp++ < 1)
          example += "; " + name(lane) + " is at the warp collective " + place(lane.waiting.where);
      }
    }
  for (auto& block : w.blocks)
    for (auto& lane : block.lanes)
      if (lane.state == State::block_barrier)
        for (auto& other : block.lanes)
          if (other.state == State::warp && other.index / 32 == lane.index / 32 &&
              other.waiting.mask >> (lane.index & 31) & 1)
            w.error("divergent warp collective: " + place(other.waiting.where) +
                    " names a lane that is at the barrier " + place(lane.waiting.where));
  w.error("deadlock: " + std::to_string(parked) + " threads spin, " + std::to_string(barrier) +
          " wait at barriers, " + std::to_string(warp) + " at warp collectives, " +
          std::to_string(waiting_blocks) + " blocks are not resident" + example);
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
}
std::size_t draw_lane() {
  World& w = *world;
  static constexpr int contestants[] = {1, 8, 64};
  if (w.random() % 1024 == 0) draw_priorities(*w.runnable[w.draw(w.runnable.size())]->block);
  std::size_t best = w.draw(w.runnable.size());
  for (int k = 1; k < contestants[w.options.seed % 3]; ++k)
    if (const std::size_t other = w.draw(w.runnable.size());
        w.runnable[other]->priority > w.runnable[best]->priority)
      best = other;
  return best;
}

void schedule() {
  World& w = *world;
  for (;;) {
    while (start_block()) {}
    if (w.stop) return;
    if (!w.network.empty() && (w.runnable.empty() || w.chance() < 0.25)) {
      deliver();
      continue;
    }
    if (w.runnable.empty()) {
      if (w.blocks.empty()) return;
      bool hidden = false;  // delayed stores become visible in the end
      const auto reveal = [&](Delayed& delayed) {
        hidden |= !delayed.entries.empty();
        delayed.show();
        pass_on(delayed, nullptr, everything);
      };
      for (auto& device : w.devices) reveal(device.delayed);
      for (auto& block : w.blocks) reveal(block.delayed);
      for (auto& block : w.blocks)
        for (auto& lane : block.lanes) reveal(lane.delayed);
      if (hidden && !w.runnable.empty()) continue;
      describe_deadlock();
      return;
    }
    const std::size_t which = draw_lane();
    Lane& lane = *w.runnable[which];
    w.runnable[which] = w.runnable.back();
    w.runnable.pop_back();
    w.current = &lane;
    ++w.report.switches;
    palmette_emulator_switch(&w.scheduler, lane.stack_pointer);
    w.current = nullptr;
    if (lane.state == State::finished) end_lane(lane);
  }
}

}  // namespace

bool emulator_is_available() {
  return PALMETTE_FIBERS != 0;
}

Report run(const std::vector<Launch>& launches, const Options& options) {
  if (!emulator_is_available()) throw UsageError("the emulator needs x86-64 and a build without sanitizers");
  World w;
  world = &w;
  w.options = options;
  w.random.seed(options.seed);
  w.launches = launches;
  w.devices.resize(options.devices);
  for (int s = 0; s < max_slots; ++s) w.free_slots.push_back(s);
  for (const auto& launch : launches) {
    w.to_start.emplace_back(launch.blocks);
    for (int b = 0; b < launch.blocks; ++b) w.to_start.back()[b] = b;
    w.threads_in_all += launch.blocks * launch.threads;
  }
  if (options.find_races) {
    if (w.threads_in_all > 60000) throw UsageError("the race detector knows 60000 threads at most");
    for (int d = 0; d < options.devices; ++d)
      std::memset(static_cast<void*>(shadow_of(memory.base + d * stride)), 0,
                  (memory.used / 4 + 1) * sizeof(Shadow));
  }
  schedule();
  for (auto& device : w.devices) {
    device.delayed.show();
    device.delayed.entries.clear();
  }
  for (auto& block : w.blocks)
    for (auto& lane : block.lanes)
      if (lane.state != State::finished) free_stacks.push_back(lane.stack);
  world = nullptr;
  return w.report;
}
int thread() {
  return world->current->index;
}
int threads() {
  return world->launches[world->current->block->launch].threads;
}
int lane() {
  return world->current->index & 31;
}
int block() {
  return world->current->block->number;
}
int blocks() {
  return world->launches[world->current->block->launch].blocks;
}
int my_pe() {
  return world->current->block->device;
}
int num_pes() {
  return world->options.devices;
}
unsigned char* shared_bytes() {
  return reinterpret_cast<unsigned char*>(world->current->block->shared);
}
}  // namespace palmette::emulate
