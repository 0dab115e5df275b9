// Part of the door of `solver`: this computer as a Cluster of one node, by measuring what predictions charge
// for.
#pragma once

#include <string>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

struct ClusterMeasurement {
  /// processors that may run ranks or threads; memory is measured with 1, 2, 4, … up to so many
  int threads = 1;
  bool quick = false;     ///< fewer repeats and smaller problems: for tests of the form, not of the figures
};

/// Half of a round trip of so many bytes between two ranks, seconds.
struct PingPong {
  std::size_t bytes = 0;
  double seconds = 0;
};

/// One solve of a model problem that the overheads were fitted to.
struct FittedSolve {
  std::string problem;
  double measured_seconds = 0;
  double fitted_seconds = 0;
};

struct MeasuredCluster {
  Cluster cluster;                 ///< network as on_node: one node knows of no other
  std::vector<PingPong> ping_pong;  ///< ranks as threads
  std::vector<FittedSolve> solves;
};

/// Memory by number of threads, products by number of columns, overheads of tasks fitted to solves of model
/// problems (relative least squares, none below 0), ping-pong between two ranks that are threads.
/// @throws UsageError if threads < 1
/// @cost  some ten seconds; for a moment three arrays of eight times the last-level cache, up to 256 MB, or
///   of 16 MB for each thread
MeasuredCluster measure_cluster(const ClusterMeasurement& options);

/// Ping-pong between ranks 0 and 1 of any transport; both call it, and others not. Only rank 0 gets figures.
std::vector<PingPong> ping_pong(Transport& transport, bool quick = false);

/// The link that such figures come from: latency and bandwidth by least relative squares, overheads as given.
Link fitted_link(const std::vector<PingPong>& figures, double overhead_us);

}  // namespace palmette
