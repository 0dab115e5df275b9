// Part of the door of `solver`: measures this computer as a Cluster of one node, with the costs that
// predictions use.
#pragma once

#include <string>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

struct ClusterMeasurement {
  /// processors that may run ranks or threads; memory is measured with 1, 2, 4, … threads up to this number
  int threads = 1;
  bool quick = false;  ///< fewer repeats and smaller problems, for tests of the format, not of the figures
};

/// Half the time of a round trip of a message of `bytes` between two ranks.
struct PingPong {
  std::size_t bytes = 0;
  double seconds = 0;
};

/// One solve of a model problem, used to fit the overheads.
struct FittedSolve {
  std::string problem;
  double measured_seconds = 0;
  double fitted_seconds = 0;
};

struct MeasuredCluster {
  Cluster cluster;                  ///< one level of links, because there is only one node
  std::vector<PingPong> ping_pong;  ///< between ranks that are threads
  std::vector<FittedSolve> solves;
};

/// Measures memory bandwidth by number of threads, products by number of columns, and ping-pong between two
/// ranks that are threads. Fits the overheads of tasks to solves of model problems (relative least squares,
/// not below 0).
/// @throws UsageError if threads < 1
/// @cost  about ten seconds; temporarily three arrays of eight times the last-level cache, up to 256 MB, or
///   of 16 MB for each thread
MeasuredCluster measure_cluster(const ClusterMeasurement& options);

/// Ping-pong between ranks 0 and 1 of any transport. Only these two call it, and only rank 0 gets the
/// figures.
std::vector<PingPong> ping_pong(Transport& transport, bool quick = false);

/// The link that fits these figures: latency and bandwidth by least relative squares, overheads as given.
Link fitted_link(const std::vector<PingPong>& figures, double overhead_us);

}  // namespace palmette
