// Inside `solve`: the ranks of one layer, numbered from 0, on the transport of all.
#pragma once

#include "palmette/transport/transport.hpp"

namespace palmette::solve_detail {

/// Only sends: the code that polls the transport of all ranks distributes what arrives.
class LayerTransport final : public Transport {
 public:
  LayerTransport(index_t first, index_t num_ranks) : first_(first), num_ranks_(num_ranks) {}
  void use(Transport& outside) { outside_ = &outside; }
  Transport& outside() const { return *outside_; }

  index_t rank() const override { return outside_->rank() - first_; }
  index_t num_ranks() const override { return num_ranks_; }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    outside_->send(first_ + destination, tag, std::move(payload));
  }
  bool poll(Message&) override { return false; }
  void flush() override { outside_->flush(); }
  double sum(double value) override { return outside_->sum(value); }
  int agree(int status) override { return outside_->agree(status); }
  void abandon(const std::string& why) override { outside_->abandon(why); }

 private:
  index_t first_;
  index_t num_ranks_;
  Transport* outside_ = nullptr;
};

}  // namespace palmette::solve_detail
