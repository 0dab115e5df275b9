// The choice between the host and a device, by prediction.
#pragma once

#include <string>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// A device as predictions see it: what it tells of itself, and estimates of latencies, as in the machine
/// files of GPUs. @returns nothing if it tells no rate of its memory (the emulated device)
std::optional<Cluster> cluster_of(const DeviceInfo& device);

struct DeviceCandidate {
  const SymbolicFactor& symbolic;
  FactorKind kind;
  ScalarType scalar;  ///< of the factor
  std::shared_ptr<Device> device;
  double host_gbs = 0;  ///< of the host's memory; 0: not measured
  int threads = 1;      ///< of the host
};

struct DeviceDecision {
  std::shared_ptr<Device> device;  ///< null: the host
  std::string why;                 ///< a sentence
};

/// Whether the device has room for the factor, and whether one solve with one right-hand side is predicted to
/// be faster there than the least time of the host.
DeviceDecision choose_device(const DeviceCandidate& candidate);

/// Several devices that hold one factor.
struct DeviceGridCandidate {
  const SymbolicFactor& symbolic;
  FactorKind kind;
  ScalarType scalar;       ///< of the factor
  const DeviceInfo& info;  ///< of the first device; all are taken for alike
  index_t num_devices = 1;
  WorldOptions of_world = {};  ///< layers 0: they are chosen too
  SolveMethod method = SolveMethod::automatic;
};

struct DeviceGridDecision {
  LayeredGrid devices;
  std::string why;  ///< a sentence
};

/// The grid, and if they are not given the layers, on which a solve with one right-hand side is predicted to
/// be the fastest; one column in the fewest layers where the devices tell no rate of their memory.
/// @throws UsageError if the method needs several layers and there is one device
DeviceGridDecision choose_device_grid(const DeviceGridCandidate& candidate);

}  // namespace palmette
