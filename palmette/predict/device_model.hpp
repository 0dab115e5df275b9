// Part of the door of `predict`: a solve on one device by the tree of supernodes, which blocks of threads
// share.
#pragma once

#include "palmette/machine/machine.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

struct DeviceCase {
  const SymbolicFactor& symbolic;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
  FactorKind kind = FactorKind::llt;
};

/// One solve, both sweeps. Nothing of it was measured.
struct DevicePrediction {
  double seconds = 0;           ///< of the schedule, launches included
  double forward_seconds = 0;   ///< of its forward sweep
  double bytes = 0;             ///< of the factor, both sweeps
  double vector_bytes = 0;      ///< of b and x, which are brought into the order of the rows and back
  double roofline_seconds = 0;  ///< all bytes over the rate of the memory: no solve is faster
  double path_seconds = 0;      ///< the costliest path of supernodes, each with the device to itself
  double latency_seconds = 0;   ///< of that, what does not depend on bytes
  index_t path_supernodes = 0;  ///< on that path, one sweep
  /// The largest of the lower bounds.
  double bound_seconds() const { return roofline_seconds > path_seconds ? roofline_seconds : path_seconds; }
};

/// Blocks, one for each worker of the device, and their warps take the tasks of block_tasks in their order,
/// wait for the children (the parent), and share the rate of the memory with those that work when they begin.
/// b and x lie on the device.
/// @param device  one rank; its workers are the blocks that it holds at a time
/// @cost  O(log workers) for each task
DevicePrediction predict_on_device(const DeviceCase& given, const Cluster& device);

}  // namespace palmette
