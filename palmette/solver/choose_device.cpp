// Predictions of one solve on both sides.
#include "palmette/solver/choose_device.hpp"

#include <cstdio>

#include "palmette/predict/predict.hpp"

namespace palmette {
namespace {

/// Of the host's memory, where none was measured: two channels of DDR4.
constexpr double assumed_host_gbs = 40;

/// Estimates for GPUs, as in the machine files of the A100 and H100.
constexpr double reached = 0.9;       // of the rate of the memory
// of a block of threads: 256 with four loads of 16 bytes in flight each, 16 KB in 0.5 µs
constexpr double worker_gbs = 32;
constexpr index_t blocks_of_multiprocessor = 2;  // of 256 threads with up to 128 registers
constexpr double launch_us = 4;
constexpr TaskOverheads latencies{.task_us = 0.8, .panel_us = 2.0, .row_ns = 0.05};
constexpr double gflops_of_multiprocessor = 60;  // half of what those GPUs reach in double precision

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f us", seconds * 1e6);
  return text;
}

offset_t bytes_there(const DeviceCandidate& candidate) {
  const auto bytes = [&]<class T>(T) {
    return predicted_device_bytes<T>(candidate.symbolic, candidate.kind, 1, 2).sum();
  };
  switch (candidate.scalar) {
    case ScalarType::float32: return bytes(float());
    case ScalarType::float64: return bytes(double());
    case ScalarType::complex64: return bytes(std::complex<float>());
    case ScalarType::complex128: return bytes(std::complex<double>());
  }
  return 0;
}

int scalar_bytes(ScalarType scalar) {
  return scalar == ScalarType::float32 ? 4 : scalar == ScalarType::complex128 ? 16 : 8;
}

/// Both sweeps at the rate of the memory: no solve of the host is faster.
double host_seconds(const DeviceCandidate& candidate) {
  const double gbs = candidate.host_gbs > 0 ? candidate.host_gbs : assumed_host_gbs;
  return 2.0 * static_cast<double>(candidate.symbolic.panel_entries()) * scalar_bytes(candidate.scalar) /
         (gbs * 1e9);
}

}  // namespace

std::optional<Cluster> cluster_of(const DeviceInfo& device) {
  if (device.memory_gbs <= 0) return std::nullopt;
  Cluster cluster;
  cluster.name = device.name;
  cluster.memory_gbs = {{1, reached * device.memory_gbs}};
  cluster.kernel_gflops = {{1, gflops_of_multiprocessor * device.multiprocessors}};
  cluster.overheads = latencies;
  cluster.workers = blocks_of_multiprocessor * device.multiprocessors;
  cluster.worker_gbs = worker_gbs;
  cluster.launch_us = launch_us;
  cluster.links = {{"device", 0, {1, 1}, 0}};
  return cluster;
}

DeviceDecision choose_device(const DeviceCandidate& candidate) {
  const DeviceInfo& info = candidate.device->info();
  const std::string name = info.address() + " (" + info.name + ")";
  const std::optional<Cluster> cluster = cluster_of(info);
  if (!cluster) return {nullptr, "solved on the host: " + name + " tells no rate of its memory"};
  const offset_t bytes = bytes_there(candidate);
  const offset_t free = info.memory_bytes - candidate.device->bytes_in_use();
  if (bytes > free)
    return {nullptr, "solved on the host: the factor needs " + std::to_string(bytes) + " bytes on " + name +
                         ", where " + std::to_string(free) + " are free"};
  const double there =
      predict_on_device({candidate.symbolic, 1, scalar_bytes(candidate.scalar), candidate.kind}, *cluster)
          .seconds;
  const double here = host_seconds(candidate);
  const bool faster = there < here;
  return {faster ? candidate.device : nullptr,
          "solved on " + (faster ? name : "the host") + ": a solve takes " + microseconds(there) + " on " +
              (faster ? "it" : name) + " and at least " + microseconds(here) +
              " on the host, both predicted, not measured"};
}

}  // namespace palmette
