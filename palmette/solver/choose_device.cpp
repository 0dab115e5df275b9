// Predictions of one solve on both sides.
#include "palmette/solver/choose_device.hpp"

#include <algorithm>
#include <cstdio>

#include "palmette/predict/predict.hpp"
#include "palmette/solver/rank_solver.hpp"

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

std::string words_of(const LayeredGrid& devices) {
  const std::string grid = std::to_string(devices.grid.rows) + " x " + std::to_string(devices.grid.cols);
  return devices.layers == 1 ? grid : grid + " x " + std::to_string(devices.layers);
}

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

std::vector<index_t> layers_to_try(const DeviceGridCandidate& candidate) {
  if (candidate.of_world.layers >= 1) return {candidate.of_world.layers};
  std::vector<index_t> layers = device_layers(candidate.method, candidate.num_devices);
  if (layers.empty())
    throw UsageError("the method " + std::string(name_of(candidate.method)) +
                     " needs several layers of devices, and there is one device: choose devices_fan_out");
  return layers;
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

std::shared_ptr<Device> open_device_of_rank(std::string_view address, index_t rank) {
  if (address == "none" || address.find(':') != std::string_view::npos) return open_device(address);
  const std::size_t budget = std::min(address.find('@'), address.size());
  const auto with_index = [&](index_t index) {
    return open_device(std::string(address.substr(0, budget)) + ":" + std::to_string(index) +
                       std::string(address.substr(budget)));
  };
  (void)with_index(0);  // says what is wrong with the address, or why there is none
  index_t count = 1;
  try {
    while (count <= rank) (void)with_index(count), ++count;
  } catch (const UsageError&) {  // there is no device of this index
  }
  return with_index(rank % count);
}

DeviceGridDecision choose_device_grid(const DeviceGridCandidate& candidate) {
  const std::string on = "solved on a grid of ";
  DeviceLayoutQuestion question{candidate.symbolic, candidate.num_devices, layers_to_try(candidate),
                                candidate.of_world};
  const std::optional<Cluster> cluster = cluster_of(candidate.info, candidate.num_devices);
  if (!cluster) {
    const index_t layers = question.layers.front();
    const LayeredGrid column{{candidate.num_devices / layers, 1}, layers};
    return {column, on + words_of(column) + " devices: " + candidate.info.address() +
                        " tells no rate of its memory, so nothing was predicted; one column is a good choice "
                        "on most machines"};
  }
  question.scalar_bytes = scalar_bytes(candidate.scalar);
  question.kind = candidate.kind;
  question.most_bytes = candidate.info.memory_bytes;
  const std::vector<DeviceLayout> ranked = ranked_device_layouts(question, *cluster);
  std::string others;
  constexpr std::size_t most_named = 3;
  for (std::size_t k = 1; k < std::min(ranked.size(), most_named); ++k)
    others += ", " + microseconds(ranked[k].price.seconds) + " on " + words_of(ranked[k].devices);
  return {ranked[0].devices, on + words_of(ranked[0].devices) + " devices: a solve takes " +
                                 microseconds(ranked[0].price.seconds) + " there" + others +
                                 ", all predicted, not measured"};
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
