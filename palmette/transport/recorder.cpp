// Counts of messages and payload bytes by destination.
#include <map>
#include <mutex>

#include "palmette/transport/wrappers.hpp"

namespace palmette {

struct Recorder::Counts {
  mutable std::mutex mutex;
  std::map<index_t, TrafficEntry> by_destination;
};

Recorder::Recorder(Transport& inner) : inner_(inner), counts_(std::make_unique<Counts>()) {}
Recorder::~Recorder() = default;

void Recorder::send(index_t destination, std::int64_t tag, SharedBytes payload) {
  {
    const std::lock_guard lock(counts_->mutex);
    TrafficEntry& entry = counts_->by_destination[destination];
    ++entry.messages;
    entry.bytes += static_cast<std::int64_t>(payload.size());
  }
  inner_.send(destination, tag, std::move(payload));
}

Traffic Recorder::sent() const {
  const std::lock_guard lock(counts_->mutex);
  std::vector<TrafficEntry> entries;
  for (const auto& [destination, entry] : counts_->by_destination)
    entries.push_back({inner_.rank(), destination, entry.messages, entry.bytes});
  return make_traffic(inner_.num_ranks(), std::move(entries));
}

}  // namespace palmette
