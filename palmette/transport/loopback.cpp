// The transport of a single rank.
#include <deque>
#include <mutex>

#include "palmette/transport/held_offers.hpp"
#include "palmette/transport/thread_world.hpp"

namespace palmette {
namespace {

class Loopback final : public Transport {
 public:
  index_t rank() const override { return 0; }
  index_t num_ranks() const override { return 1; }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    if (destination != 0)
      throw UsageError("rank " + std::to_string(destination) +
                       " does not exist: the loopback transport has one rank, 0");
    const std::lock_guard lock(mutex_);
    arrived_.push_back({0, tag, std::move(payload)});
  }
  bool poll(Message& message) override {
    const std::lock_guard lock(mutex_);
    if (!why_.empty()) throw BrokenRun(why_);
    if (arrived_.empty()) return false;
    message = std::move(arrived_.front());
    arrived_.pop_front();
    return true;
  }
  void flush() override {}
  double sum(double value) override { return value; }
  int agree(int status) override {
    offers_.forget();
    return status;
  }
  Offer offer(std::int64_t tag, SharedBytes bytes) override { return offers_.hold(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override { send(source, offer.tag, offers_.look_up(offer)); }
  bool carry_from(const std::shared_ptr<BytePool>&) override { return true; }
  void abandon(const std::string& why) override {
    const std::lock_guard lock(mutex_);
    why_ = why;
  }

 private:
  transport_detail::HeldOffers offers_;
  std::mutex mutex_;
  std::deque<Message> arrived_;
  std::string why_;
};

}  // namespace

std::unique_ptr<Transport> make_loopback() { return std::make_unique<Loopback>(); }

}  // namespace palmette
