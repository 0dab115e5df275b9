// Traffic: sums and the canonical form.
#include "palmette/machine/traffic.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace palmette {

std::int64_t Traffic::messages() const {
  return std::accumulate(entries.begin(), entries.end(), std::int64_t{0},
                         [](std::int64_t sum, const TrafficEntry& entry) { return sum + entry.messages; });
}

std::int64_t Traffic::bytes() const {
  return std::accumulate(entries.begin(), entries.end(), std::int64_t{0},
                         [](std::int64_t sum, const TrafficEntry& entry) { return sum + entry.bytes; });
}

Traffic make_traffic(index_t num_ranks, std::vector<TrafficEntry> entries) {
  for (const TrafficEntry& entry : entries)
    if (std::min(entry.source, entry.destination) < 0 ||
        std::max(entry.source, entry.destination) >= num_ranks)
      throw UsageError("traffic from rank " + std::to_string(entry.source) + " to rank " +
                       std::to_string(entry.destination) + " among " + std::to_string(num_ranks) + " ranks");
  std::sort(entries.begin(), entries.end(), [](const TrafficEntry& a, const TrafficEntry& b) {
    return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
  });
  Traffic traffic{num_ranks, {}};
  for (const TrafficEntry& entry : entries) {
    if (entry.messages == 0) continue;
    const bool known = !traffic.entries.empty() && traffic.entries.back().source == entry.source &&
                       traffic.entries.back().destination == entry.destination;
    if (!known) {
      traffic.entries.push_back(entry);
      continue;
    }
    traffic.entries.back().messages += entry.messages;
    traffic.entries.back().bytes += entry.bytes;
  }
  return traffic;
}

}  // namespace palmette
