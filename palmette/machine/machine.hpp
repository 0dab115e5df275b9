// The door of `machine`: this computer and its measured rates, which the speed of a solve is compared with;
// clusters, as predictions use them; and messages sent between ranks.
#pragma once

#include <string>

#include "palmette/base/base.hpp"
#include "palmette/machine/cluster.hpp"
#include "palmette/machine/packing.hpp"
#include "palmette/machine/traffic.hpp"

namespace palmette {

/// Rates of one computer, measured with `threads` threads.
struct Machine {
  std::string processor;                ///< model name, as the system reports it
  int threads = 1;                      ///< threads that the rates were measured with
  offset_t last_level_cache_bytes = 0;  ///< 0 if unknown
  double read_bandwidth_gbs = 0;        ///< sums over large arrays, 10⁹ bytes/s
  double stream_bandwidth_gbs = 0;      ///< STREAM triad a = b + s·c, 24 bytes counted an entry, 10⁹ bytes/s
};

struct MeasureOptions {
  int threads = 1;
  /// Folder in which the figures are stored, one file for each processor and number of threads; empty:
  /// measure again. The caller names it, because the library never reads the environment.
  std::string cache_folder;
  /// A stored triad bandwidth below this was measured on a busy machine, since a faster one has been
  /// observed. It is measured again, and the larger figures are kept.
  double faster_than_gbs = 0;
  /// Size of each of the three arrays; 0: together four times the last-level cache, so that little of them is
  /// read from there; at least 192 and at most 768 MiB, but not more than an eighth of the memory that this
  /// process may use, or 64 MiB.
  offset_t array_bytes = 0;
};

/// The rates of this computer, from arrays on large pages where the system has them. Measures for a quarter
/// of a second, or a second with caches of hundreds of mebibytes, unless the cache folder has the figures.
///
/// A missing cache folder is created. One that cannot be read or written is not an error: the figures are
/// measured and not stored. A stored file that is malformed, or of another version or other options, is
/// replaced by a new measurement.
/// @throws UsageError if threads < 1 or array_bytes < 0, MemoryError if the arrays cannot be allocated
/// @cost  three arrays (see MeasureOptions), freed on return
/// @source [McCalpin 1995], for the triad
Machine measure_machine(const MeasureOptions& options);

}  // namespace palmette
