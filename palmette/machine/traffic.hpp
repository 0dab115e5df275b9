// Which rank sent what to which: written by a recorder, compared with predictions.
#pragma once

#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Messages from one rank to another.
struct TrafficEntry {
  index_t source = 0;
  index_t destination = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  ///< payloads only, without what a transport adds

  friend bool operator==(const TrafficEntry&, const TrafficEntry&) = default;
};

/// Entries by source, then destination, each pair at most once, none empty.
struct Traffic {
  index_t num_ranks = 0;
  std::vector<TrafficEntry> entries;

  std::int64_t messages() const;
  std::int64_t bytes() const;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Sorted, pairs that occur several times joined, empty ones dropped.
/// @throws UsageError if an entry names a rank outside [0, num_ranks)
Traffic make_traffic(index_t num_ranks, std::vector<TrafficEntry> entries);

}  // namespace palmette
