// Question: what do the words of kernels cost on this GPU? The time that a value takes from one block to
// another (or from warp to warp, or from this GPU to another) by scope and protocol, of a launch, and the
// rates of memory and bus. Prints one JSON object that names the device; without a GPU one line, and ends
// with 5.
//
//   bench_gpu_words [device]      default: 0
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "palmette/device/flag_protocols.cuh"

namespace {

using namespace palmette::device;

constexpr int repeats = 7;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Zeros in device memory.
template <class T>
T* zeros(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return static_cast<T*>(memory);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of work that goes to the default stream, by events of that stream.
double milliseconds(const std::function<void()>& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  check(cudaEventRecord(begin), "cudaEventRecord");
  work();
  check(cudaEventRecord(end), "cudaEventRecord");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return ms;
}

/// Median after a first time that warms up.
double median_milliseconds(const std::function<void()>& work) {
  (void)milliseconds(work);
  std::vector<double> all;
  for (int turn = 0; turn < repeats; ++turn) all.push_back(milliseconds(work));
  return median(all);
}

struct Trial {
  const char* protocol;
  const char* scope;
  const char* players;
  void (*kernel)(HandOver);
  int blocks, threads;
};

#define TRIALS_OF(protocol)                                                                              \
  {#protocol, "block", "two warps of a block", hand_over_kernel<Scope::block, Protocol::protocol>, 1,    \
   64},                                                                                                  \
      {#protocol, "device", "two blocks", hand_over_kernel<Scope::device, Protocol::protocol>, 2, 32}, { \
    #protocol, "system", "two blocks", hand_over_kernel<Scope::system, Protocol::protocol>, 2, 32        \
  }
const Trial trials[] = {TRIALS_OF(flag_after_release), TRIALS_OF(value_as_flag), TRIALS_OF(tagged_value),
                        TRIALS_OF(counted_bytes)};
#undef TRIALS_OF

void check_values(const Trial& trial, const int* wrong) {
  int found[2] = {-1, -1};
  check(cudaMemcpy(found, wrong, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (found[0] != 0 || found[1] != 0)
    throw std::runtime_error(std::string(trial.protocol) + " with scope " + trial.scope +
                             " handed over wrong values");
}

/// Two players on this GPU, so that each round is two hand-overs.
double launch_milliseconds(const Trial& trial, LetterBox* boxes, int* wrong, int rounds) {
  check(cudaMemset(boxes, 0, 2 * sizeof(LetterBox)), "cudaMemset");
  const HandOver at = hand_over_between(boxes, boxes + 1, rounds, wrong);
  const double ms = milliseconds([&] { trial.kernel<<<trial.blocks, trial.threads>>>(at); });
  check(cudaGetLastError(), "launch of hand_over");
  check_values(trial, wrong);
  return ms;
}

/// The slope over rounds, so that launches do not count. @param milliseconds_of  rounds → a launch's time
double hand_over_nanoseconds(const std::function<double(int rounds)>& milliseconds_of) {
  constexpr int few = 1000, many = 11000;
  std::vector<double> slopes;
  for (int turn = 0; turn <= repeats; ++turn) {
    const double short_ms = milliseconds_of(few), long_ms = milliseconds_of(many);
    if (turn > 0) slopes.push_back((long_ms - short_ms) * 1e6 / (2.0 * (many - few)));
  }
  return median(slopes);
}

void print_hand_overs() {
  LetterBox* const boxes = zeros<LetterBox>(2);
  int* const wrong = zeros<int>(2);
  std::printf(" \"hand_overs\": [");
  const char* separator = "\n";
  for (const Trial& trial : trials) {
    const double ns = hand_over_nanoseconds(
        [&](int rounds) { return launch_milliseconds(trial, boxes, wrong, rounds); });
    std::printf("%s  {\"protocol\": \"%s\", \"scope\": \"%s\", \"players\": \"%s\", \"nanoseconds\": %.1f}",
                separator, trial.protocol, trial.scope, trial.players, ns);
    separator = ",\n";
  }
  std::printf("],\n");
}

// ---- two GPUs ----

/// One player and its letter box.
struct Player {
  int device;
  LetterBox* box;
  int* wrong;  ///< of both players; it writes its own
};

Player player_on(int device, int other) {
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaDeviceEnablePeerAccess(other, 0), "cudaDeviceEnablePeerAccess");
  return {device, zeros<LetterBox>(1), zeros<int>(2)};
}

/// By the host's clock: from before the first launch until both kernels have ended.
double peer_milliseconds(const Trial& trial, const Player* players, int rounds) {
  for (int k = 0; k < 2; ++k) {
    check(cudaSetDevice(players[k].device), "cudaSetDevice");
    check(cudaMemset(players[k].box, 0, sizeof(LetterBox)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 2; ++k) {
    check(cudaSetDevice(players[k].device), "cudaSetDevice");
    HandOver at = hand_over_between(players[0].box, players[1].box, rounds, players[k].wrong);
    at.first_player = k;
    trial.kernel<<<1, 32>>>(at);
    check(cudaGetLastError(), "launch of hand_over");
  }
  int wrong[2] = {-1, -1};
  for (int k = 0; k < 2; ++k) {
    check(cudaSetDevice(players[k].device), "cudaSetDevice");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaMemcpy(&wrong[k], players[k].wrong + k, sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (wrong[0] != 0 || wrong[1] != 0)
    throw std::runtime_error(std::string(trial.protocol) + " between two GPUs handed over wrong values");
  return took.count();
}

/// The first other GPU for which both can reach the memory of the other, or −1.
int peer_of(int device, int count) {
  for (int other = 0; other < count; ++other) {
    int there = 0, back = 0;
    if (other == device) continue;
    check(cudaDeviceCanAccessPeer(&there, device, other), "cudaDeviceCanAccessPeer");
    check(cudaDeviceCanAccessPeer(&back, other, device), "cudaDeviceCanAccessPeer");
    if (there != 0 && back != 0) return other;
  }
  return -1;
}

/// Without a second GPU, an empty list.
void print_peer_hand_overs(int device, int count) {
  std::printf(" \"peer_hand_overs\": [");
  if (const int other = peer_of(device, count); other >= 0) {
    const Player players[] = {player_on(device, other), player_on(other, device)};
    const char* separator = "\n";
    for (const Trial& trial : trials) {
      if (std::string(trial.scope) != "system") continue;
      const double ns =
          hand_over_nanoseconds([&](int rounds) { return peer_milliseconds(trial, players, rounds); });
      std::printf("%s  {\"protocol\": \"%s\", \"devices\": [%d, %d], \"nanoseconds\": %.1f}", separator,
                  trial.protocol, device, other, ns);
      separator = ",\n";
    }
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  std::printf("],\n");
}

/// One launch after the other, and each waited for by the host.
void print_launches() {
  constexpr int launches = 1000;
  const double together = median_milliseconds([] {
    for (int k = 0; k < launches; ++k) empty_kernel<><<<1, 32>>>();
  });
  std::vector<double> alone;
  for (int k = 0; k <= launches; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    empty_kernel<><<<1, 32>>>();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (k > 0) alone.push_back(took.count());
  }
  std::printf(" \"launch_us\": %.3f, \"launch_and_wait_us\": %.3f,\n", together * 1e3 / launches,
              median(alone));
}

/// Far more than any cache holds, once.
void print_read_rate(const cudaDeviceProp& properties) {
  const std::size_t bytes = std::min<std::size_t>(std::size_t{2} << 30, properties.totalGlobalMem / 4);
  const int blocks = 8 * properties.multiProcessorCount, threads = 256;
  ReadArray array{zeros<TwoDoubles>(bytes / sizeof(TwoDoubles)),
                  static_cast<long long>(bytes / sizeof(TwoDoubles)),
                  zeros<double>(static_cast<std::size_t>(blocks) * threads)};
  const double ms = median_milliseconds([&] { read_kernel<><<<blocks, threads>>>(array); });
  check(cudaGetLastError(), "launch of read");
  (void)cudaFree(const_cast<TwoDoubles*>(array.element));
  std::printf(" \"read_gbs\": %.1f, \"read_bytes\": %zu,\n", static_cast<double>(bytes) / ms * 1e-6, bytes);
}

/// Between device memory and memory of the host that is pinned.
void print_bus_rates() {
  const std::size_t bytes = std::size_t{256} << 20;
  void* host = nullptr;
  check(cudaMallocHost(&host, bytes), "cudaMallocHost");
  char* const device = zeros<char>(bytes);
  const auto rate = [&](void* to, const void* from, cudaMemcpyKind kind) {
    const double ms = median_milliseconds(
        [&] { check(cudaMemcpyAsync(to, from, bytes, kind), "cudaMemcpyAsync"); });
    return static_cast<double>(bytes) / ms * 1e-6;
  };
  std::printf(" \"to_device_gbs\": %.1f, \"from_device_gbs\": %.1f}\n",
              rate(device, host, cudaMemcpyHostToDevice), rate(host, device, cudaMemcpyDeviceToHost));
}

int run(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || device >= count) {
    std::fprintf(stderr, "bench_gpu_words: there is no GPU %d: %s\n", device,
                 status != cudaSuccess ? cudaGetErrorString(status) : "CUDA finds fewer");
    return 5;
  }
  check(cudaSetDevice(device), "cudaSetDevice");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  std::printf("{\"device\": \"%s\", \"compute_capability\": \"%d.%d\", \"multiprocessors\": %d,\n",
              properties.name, properties.major, properties.minor, properties.multiProcessorCount);
  std::printf(" \"memory_bytes\": %zu, \"cache_bytes\": %d, \"driver\": %d, \"runtime\": %d,\n",
              properties.totalGlobalMem, properties.l2CacheSize, driver, runtime);
  print_hand_overs();
  print_peer_hand_overs(device, count);
  print_launches();
  print_read_rate(properties);
  print_bus_rates();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::atoi(argv[1]) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu_words: %s\n", error.what());
    return 1;
  }
}
