// Inside `transport`: the queue in remote memory as a Transport. The creator of the memory provides sums and
// agreements.
#pragma once

#include <mutex>

#include "palmette/transport/one_sided_queue.hpp"

namespace palmette::transport_detail {

/// The operations that a queue does not have.
class Gathering {
 public:
  virtual ~Gathering() = default;
  virtual double sum(double value) = 0;
  virtual int agree(int status) = 0;
  virtual void set_watchdog(double seconds) = 0;
  virtual void abandon(const std::string& why) = 0;
};

/// Finished bytes that other ranks read themselves, and bytes in transit from others.
class OneSidedOffers {
 public:
  virtual ~OneSidedOffers() = default;
  virtual Offer hold(std::int64_t tag, const SharedBytes& bytes) = 0;
  virtual void get(index_t source, const Offer& offer) = 0;
  /// The next bytes that have arrived.
  virtual bool poll(Message& message) = 0;
};

class OneSidedTransport final : public Transport {
 public:
  /// All must outlive this.
  OneSidedTransport(RemoteMemory& memory, Gathering& gathering, OneSidedQueue& queue, OneSidedOffers& offers)
      : memory_(memory), gathering_(gathering), queue_(queue), offers_(offers) {}
  index_t rank() const override { return memory_.rank(); }
  index_t num_ranks() const override { return memory_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    const std::lock_guard lock(mutex_);
    queue_.send(destination, tag, payload);
  }
  bool poll(Message& message) override {
    const std::lock_guard lock(mutex_);
    return queue_.poll(message) || offers_.poll(message);
  }
  Offer offer(std::int64_t tag, SharedBytes bytes) override {
    const std::lock_guard lock(mutex_);
    return offers_.hold(tag, bytes);
  }
  void get(index_t source, const Offer& offer) override {
    check_rank(source, num_ranks());
    const std::lock_guard lock(mutex_);
    offers_.get(source, offer);
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
  OneSidedOffers& offers_;
  std::mutex mutex_;
};

}  // namespace palmette::transport_detail
