// Part of the door of `predict`: a solve by the engines of one machine, whose threads share the memory's
// bandwidth.
#pragma once

#include "palmette/machine/machine.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

struct ThreadCase {
  const SymbolicFactor& symbolic;
  int threads = 1;
  index_t num_rhs = 1;
  int scalar_bytes = 8;
  FactorKind kind = FactorKind::llt;
};

/// One solve, both sweeps, in seconds.
struct ThreadPrediction {
  double seconds = 0;
  double busy_seconds = 0;   ///< of all threads together
  double bound_seconds = 0;  ///< bytes over the bandwidth of all threads, or the costliest path
  double bytes = 0;          ///< of the factor, both sweeps
};

/// Groups of supernodes (those of solves) are tasks; as many threads as there are ready tasks share the
/// bandwidth of the memory for that many readers.
/// @param cluster  its `ranks_per_memory` is the number of processors
ThreadPrediction predict_on_threads(const ThreadCase& given, const Cluster& cluster);

}  // namespace palmette
