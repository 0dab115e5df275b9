// Ranks that live in this process: alone, or as threads.
#pragma once

#include "palmette/transport/rank.hpp"

namespace palmette {

/// The transport of a rank that is alone: messages to itself arrive in the order sent.
std::unique_ptr<Transport> make_loopback();

/// Ranks that are threads of this process. A payload is not copied: the receiver reads the sender's buffer.
class ThreadWorld {
 public:
  /// @throws UsageError if num_ranks < 1
  explicit ThreadWorld(index_t num_ranks);
  ~ThreadWorld();
  index_t num_ranks() const;
  Transport& rank(index_t rank);
  /// Call work(transport) on one thread for each rank and wait for all. If a rank throws, the others get
  /// BrokenRun at their next poll or sum; the first exception is rethrown here, a BrokenRun only if there is
  /// no other. A broken world stays broken.
  void run(const std::function<void(Transport&)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
