// Inside `transport`: the queue in remote memory as a Transport. Sums and agreements come from whoever made the memory.
#pragma once

#include <mutex>

#include "palmette/transport/one_sided_queue.hpp"

namespace palmette::transporting {

/// The verbs that a queue does not have.
class Gathering {
 public:
  virtual ~Gathering() = default;
  virtual double sum(double value) = 0;
  virtual int agree(int status) = 0;
  virtual void set_watchdog(double seconds) = 0;
  virtual void abandon(const std::string& why) = 0;
};

class OneSidedTransport final : public Transport {
 public:
  /// All three must outlive this.
  OneSidedTransport(RemoteMemory& memory, Gathering& gathering, OneSidedQueue& queue)
      : memory_(memory), gathering_(gathering), queue_(queue) {}
  index_t rank() const override { return memory_.rank(); }
  index_t num_ranks() const override { return memory_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    const std::lock_guard lock(mutex_);
    queue_.send(destination, tag, payload);
  }
  bool poll(Message& message) override {
    const std::lock_guard lock(mutex_);
    return queue_.poll(message);
  }
  void flush() override {
    const std::lock_guard lock(mutex_);
    queue_.flush();
  }
  double sum(double value) override { return gathering_.sum(value); }
  int agree(int status) override { return gathering_.agree(status); }
  void set_watchdog(double seconds) override { gathering_.set_watchdog(seconds); }
  void abandon(const std::string& why) override {
    const std::string state = queue_.state();
    gathering_.abandon(state.empty() ? why : why + "; " + state);
  }

 private:
  RemoteMemory& memory_;
  Gathering& gathering_;
  OneSidedQueue& queue_;
  std::mutex mutex_;
};

}  // namespace palmette::transporting
