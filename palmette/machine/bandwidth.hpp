// Inside `machine`: measures how fast memory is read, and how fast it is read and written.
#pragma once

#include "palmette/base/base.hpp"

namespace palmette {

struct Bandwidth {
  double read_gbs = 0;    ///< sums over all arrays, 8 bytes an entry
  double stream_gbs = 0;  ///< triad, 24 bytes an entry
};

/// The size of each array that shows the memory's rate. A processor that shares a cache of hundreds of
/// mebibytes may have all of it for a while: arrays that fit there show the cache's rate instead.
/// @param memory_bytes  of which an eighth may be used
/// @returns a third of 64 to 768 MiB, in whole mebibytes
offset_t fitting_array_bytes(offset_t cache_bytes, offset_t memory_bytes);

/// The best of several passes over three arrays of `array_bytes` each, with every thread of the team on its
/// own part, which it also touched first. @throws MemoryError if the arrays cannot be allocated
Bandwidth measure_bandwidth(ThreadTeam& team, offset_t array_bytes);

}  // namespace palmette
