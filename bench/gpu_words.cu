// Question: what do the words of kernels cost on this GPU? The time that a value takes from one block to
// another (or from warp to warp) by scope and protocol, of a launch, and the rates of memory and bus. Prints
// one JSON object that names the device; without a GPU one line, and ends with 5.
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
const Trial trials[] = {TRIALS_OF(flag_after_release), TRIALS_OF(value_as_flag), TRIALS_OF(tagged_value)};
#undef TRIALS_OF

/// Two players, so that each round is two hand-overs.
double launch_milliseconds(const Trial& trial, HandOver at) {
  check(cudaMemset(at.value, 0, letter_boxes<double> * sizeof(double)), "cudaMemset");
  check(cudaMemset(at.flag, 0, letter_boxes<int> * sizeof(int)), "cudaMemset");
  check(cudaMemset(at.tagged, 0, letter_boxes<TaggedValue> * sizeof(TaggedValue)), "cudaMemset");
  const double ms = milliseconds([&] { trial.kernel<<<trial.blocks, trial.threads>>>(at); });
  check(cudaGetLastError(), "launch of hand_over");
  int wrong[2] = {-1, -1};
  check(cudaMemcpy(wrong, at.wrong, sizeof wrong, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (wrong[0] != 0 || wrong[1] != 0)
    throw std::runtime_error(std::string(trial.protocol) + " with scope " + trial.scope +
                             " handed over wrong values");
  return ms;
}

/// The slope over rounds, so that launches do not count.
double hand_over_nanoseconds(const Trial& trial, HandOver at) {
  constexpr int few = 1000, many = 11000;
  std::vector<double> slopes;
  for (int turn = 0; turn <= repeats; ++turn) {
    at.rounds = few;
    const double short_ms = launch_milliseconds(trial, at);
    at.rounds = many;
    const double long_ms = launch_milliseconds(trial, at);
    if (turn > 0) slopes.push_back((long_ms - short_ms) * 1e6 / (2.0 * (many - few)));
  }
  return median(slopes);
}

void print_hand_overs() {
  const HandOver at{0, zeros<double>(letter_boxes<double>), zeros<int>(letter_boxes<int>),
                    zeros<TaggedValue>(letter_boxes<TaggedValue>), zeros<int>(2)};
  std::printf(" \"hand_overs\": [");
  const char* separator = "\n";
  for (const Trial& trial : trials) {
    std::printf("%s  {\"protocol\": \"%s\", \"scope\": \"%s\", \"players\": \"%s\", \"nanoseconds\": %.1f}",
                separator, trial.protocol, trial.scope, trial.players, hand_over_nanoseconds(trial, at));
    separator = ",\n";
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
