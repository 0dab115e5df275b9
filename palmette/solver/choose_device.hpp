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
  ScalarType scalar;             ///< of the factor
  std::shared_ptr<Device> device;
  double host_gbs = 0;           ///< of the host's memory; 0: not measured
  int threads = 1;               ///< of the host
};

struct DeviceDecision {
  std::shared_ptr<Device> device;  ///< null: the host
  std::string why;                 ///< a sentence
};

/// Whether the device has room for the factor, and whether one solve with one right-hand side is predicted to
/// be faster there than the least time of the host.
DeviceDecision choose_device(const DeviceCandidate& candidate);

}  // namespace palmette
