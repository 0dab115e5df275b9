// Fits a machine file for this computer.
#pragma once

#include "cli/machine_file.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::cli {

struct MeasureRequest {
  int threads = 0;  ///< 0: all processors
};

/// Measures memory by threads, dense products by size, the costs of solve tasks, and a ping-pong between
/// ranks that are threads.
/// @cost  a few seconds
MachineFile measured_machine(const MeasureRequest& request);

}  // namespace palmette::cli
