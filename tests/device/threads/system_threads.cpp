// The emulator's interface on threads of the system, one for each GPU thread, for the thread sanitizer: a
// second judge of the kernels that shares nothing with the emulator but the interface. All blocks are
// resident. It knows neither scopes nor late stores nor several devices, and a shuffle orders the memory of
// its warp.
#include <barrier>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "palmette/device/emulator.hpp"

namespace palmette::emulate {
namespace {

constexpr int lanes_of_warp = 32;

struct Warp {
  explicit Warp(int lanes) : barrier(lanes) {}
  std::barrier<> barrier;
  std::uint64_t brought[lanes_of_warp] = {};
};

struct Block {
  Block(int threads, std::size_t bytes) : barrier(threads), shared(bytes, 0xCB) {
    for (int first = 0; first < threads; first += lanes_of_warp)
      warps.push_back(std::make_unique<Warp>(std::min(lanes_of_warp, threads - first)));
  }
  std::barrier<> barrier;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<unsigned char> shared;
};

struct Here {
  Block* block = nullptr;
  int index = 0, number = 0, threads = 0, blocks = 0;
  Warp& warp() const { return *block->warps[static_cast<std::size_t>(index / lanes_of_warp)]; }
};
thread_local Here here;

std::vector<std::unique_ptr<unsigned char[]>> allocations;

[[noreturn]] void unavailable(const char* word) {
  std::cerr << "threads of the system have no " << word << "\n";
  std::abort();
}

void run_launch(const Launch& launch) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (int b = 0; b < launch.blocks; ++b)
    blocks.push_back(std::make_unique<Block>(launch.threads, launch.shared_bytes));
  std::vector<std::jthread> threads;
  for (int b = 0; b < launch.blocks; ++b)
    for (int t = 0; t < launch.threads; ++t)
      threads.emplace_back([&launch, b, t, block = blocks[static_cast<std::size_t>(b)].get()] {
        here = {block, t, b, launch.threads, launch.blocks};
        launch.kernel();
      });
}

}  // namespace

void reset_memory(int) { allocations.clear(); }
void* allocate(std::size_t bytes) {
  return allocations.emplace_back(std::make_unique<unsigned char[]>(bytes)).get();
}
std::ptrdiff_t device_stride() { return 0; }
Report run(const std::vector<Launch>& launches, const Options&) {
  for (const Launch& launch : launches) run_launch(launch);
  return {};
}

int thread() { return here.index; }
int threads() { return here.threads; }
int lane() { return here.index % lanes_of_warp; }
bool leads_wave() { return true; }
int block() { return here.number; }
int blocks() { return here.blocks; }
int my_pe() { return 0; }
int num_pes() { return 1; }
unsigned char* shared_bytes() { return here.block->shared.data(); }
void block_barrier(Where) { here.block->barrier.arrive_and_wait(); }
void warp_barrier(unsigned, Where) { here.warp().barrier.arrive_and_wait(); }
std::uint64_t exchange(unsigned, std::uint64_t bits, int from, char, Where) {
  Warp& warp = here.warp();
  warp.brought[lane()] = bits;
  warp.barrier.arrive_and_wait();
  const std::uint64_t result = warp.brought[from];
  warp.barrier.arrive_and_wait();
  return result;
}
unsigned ballot(unsigned, bool, Where) { unavailable("ballot"); }
void pause() { std::this_thread::yield(); }
void fence(Scope) { unavailable("fence that the thread sanitizer understands"); }
void put_signal(void*, const void*, int, Signal*, Signal, int) { unavailable("put"); }
void put_signal_block(void*, const void*, long long, Signal*, Signal, int) { unavailable("put"); }
void set_signal(Signal*, Signal, int) { unavailable("put"); }
void wait_signal(Signal*, Signal) { unavailable("signal"); }
void quiet() { unavailable("quiet"); }
double get(const double*, int) { unavailable("get"); }
int get(const int*, int) { unavailable("get"); }

}  // namespace palmette::emulate
