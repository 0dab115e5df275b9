// The door of `machine`: nouns of hardware: what this computer is, and the measured rates that a solve's
// speed is compared with; clusters, as predictions see them; who sent what to whom.
#pragma once

#include <string>

#include "palmette/base/base.hpp"
#include "palmette/machine/cluster.hpp"
#include "palmette/machine/traffic.hpp"

namespace palmette {

/// Rates of one computer, measured with `threads` threads.
struct Machine {
  std::string processor;                ///< model name, as the system tells it
  int threads = 1;                      ///< threads that the rates were measured with
  offset_t last_level_cache_bytes = 0;  ///< 0 where unknown
  double read_bandwidth_gbs = 0;        ///< sum over a large array, 10⁹ bytes/s
  double stream_bandwidth_gbs = 0;      ///< STREAM triad a = b + s·c, 24 bytes counted an entry, 10⁹ bytes/s
};

struct MeasureOptions {
  int threads = 1;
  /// Folder in which the figures are remembered, one file for each processor and thread count; empty: measure
  /// anew. The caller names it, since the library never reads the environment.
  std::string cache_folder;
  /// A remembered triad bandwidth below this is not believed, since something moved faster: the machine was
  /// busy when it was measured. It is measured anew, and the larger figures are kept.
  double faster_than_gbs = 0;
  /// Size of each of the three arrays; 0: four times the last-level cache, at least 64 MiB, at most 85 MiB:
  /// together no more than 256 MiB, so that the peak memory of a small solve is not drowned, and twice the
  /// cache up to 128 MiB of it.
  offset_t array_bytes = 0;
};

/// What this computer can do. Measures for about a quarter of a second, unless the cache folder remembers.
///
/// A cache folder is made if it is missing; one that cannot be read or written is no error: the figures are
/// measured and not kept. A remembered file that is malformed, of another version or of other options is
/// measured anew and replaced.
/// @throws UsageError if threads < 1 or array_bytes < 0, MemoryError if the arrays cannot be allocated
/// @cost  three arrays (see MeasureOptions), freed on return
/// @source [McCalpin 1995], for the triad
Machine measure_machine(const MeasureOptions& options);

}  // namespace palmette
