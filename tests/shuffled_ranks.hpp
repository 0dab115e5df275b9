// Ranks as threads that receive messages in an order chosen by a seed.
#pragma once

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "palmette/transport/transport.hpp"

namespace palmette::testing {

/// All messages that have come wait; any of them is next, or none yet.
class Shuffled final : public TransportWrapper {
 public:
  Shuffled(Transport& inner, std::uint64_t seed) : TransportWrapper(inner), random_(seed) {}
  bool poll(Message& message) override {
    Message next;
    while (inner_.poll(next)) waiting_.push_back(std::move(next));
    if (waiting_.empty() || random_() % 3 == 0) return false;
    std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
    message = std::move(waiting_.back());
    waiting_.pop_back();
    return true;
  }

 private:
  std::mt19937_64 random_;
  std::vector<Message> waiting_;
};

/// work(transport) on each rank, with messages in the order of the seed.
inline void run_ranks(index_t ranks, std::uint64_t seed, const std::function<void(Transport&)>& work) {
  ThreadWorld world(ranks);
  world.run([&](Transport& thread) {
    Shuffled shuffled(thread, seed + static_cast<std::uint64_t>(thread.rank()));
    work(shuffled);
  });
}

}  // namespace palmette::testing
