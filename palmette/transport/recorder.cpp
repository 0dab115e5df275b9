// Counts of messages and payload bytes by destination.
#include <map>
#include <mutex>

#include "palmette/transport/wrappers.hpp"

namespace palmette {

struct Recorder::Counts {
  mutable std::mutex mutex;
  std::map<index_t, TrafficEntry> by_destination, by_owner;

  void add(std::map<index_t, TrafficEntry>& to, index_t rank, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    TrafficEntry& entry = to[rank];
    ++entry.messages;
    entry.bytes += static_cast<std::int64_t>(bytes);
  }
};

Recorder::Recorder(Transport& inner) : TransportWrapper(inner), counts_(std::make_unique<Counts>()) {}
Recorder::~Recorder() = default;

void Recorder::send(index_t destination, std::int64_t tag, SharedBytes payload) {
  counts_->add(counts_->by_destination, destination, payload.size());
  inner_.send(destination, tag, std::move(payload));
}

void Recorder::get(index_t source, const Offer& offer) {
  counts_->add(counts_->by_owner, source, offer.bytes);
  inner_.get(source, offer);
}

Traffic Recorder::sent() const {
  const std::lock_guard lock(counts_->mutex);
  std::vector<TrafficEntry> entries;
  for (const auto& [destination, entry] : counts_->by_destination)
    entries.push_back({inner_.rank(), destination, entry.messages, entry.bytes});
  return make_traffic(inner_.num_ranks(), std::move(entries));
}

Traffic Recorder::fetched() const {
  const std::lock_guard lock(counts_->mutex);
  std::vector<TrafficEntry> entries;
  for (const auto& [owner, entry] : counts_->by_owner)
    entries.push_back({owner, inner_.rank(), entry.messages, entry.bytes});
  return make_traffic(inner_.num_ranks(), std::move(entries));
}

}  // namespace palmette
