// Inside `solve`: transports of programs that share one, and the ranks of one layer, numbered from 0, on the
// transport of all.
#pragma once

#include "palmette/transport/transport.hpp"

namespace palmette::solve_detail {

/// One program's part of a transport. Only sends: the code that polls the outside transport distributes what
/// arrives.
class SendingPart : public Transport {
 public:
  void use(Transport& outside) { outside_ = &outside; }
  Transport& outside() const { return *outside_; }

  index_t rank() const override { return outside_->rank(); }
  index_t num_ranks() const override { return outside_->num_ranks(); }
  bool poll(Message&) final { return false; }
  void flush() final { outside_->flush(); }
  double sum(double value) final { return outside_->sum(value); }
  int agree(int status) final { return outside_->agree(status); }
  void abandon(const std::string& why) final { outside_->abandon(why); }

 private:
  Transport* outside_ = nullptr;
};

class LayerTransport final : public SendingPart {
 public:
  LayerTransport(index_t first, index_t num_ranks) : first_(first), num_ranks_(num_ranks) {}

  index_t rank() const override { return outside().rank() - first_; }
  index_t num_ranks() const override { return num_ranks_; }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    outside().send(first_ + destination, tag, std::move(payload));
  }

 private:
  index_t first_;
  index_t num_ranks_;
};

}  // namespace palmette::solve_detail
