// Inside `transport`: the offers of one rank, stored where the ranks of its process or messages find them.
#pragma once

#include <map>
#include <mutex>

#include "palmette/transport/rank.hpp"

namespace palmette::transport_detail {

class HeldOffers {
 public:
  Offer hold(std::int64_t tag, SharedBytes bytes) {
    const std::lock_guard lock(mutex_);
    const Offer offer{tag, next_++, bytes.size()};
    held_.emplace(offer.place, std::move(bytes));
    return offer;
  }
  /// @throws UsageError if it is not held (any more)
  SharedBytes look_up(const Offer& offer) const {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(offer.place);
    if (found == held_.end() || found->second.size() != offer.bytes)
      throw UsageError("an offer of " + std::to_string(offer.bytes) +
                       " bytes that is not held, or no longer: ranks agreed before it was fetched");
    return found->second;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return held_.empty();
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, SharedBytes> held_;
};

}  // namespace palmette::transport_detail
