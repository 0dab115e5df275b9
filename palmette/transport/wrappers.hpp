// Transports around a transport: one counts, one packs, one looks for damage.
#pragma once

#include "palmette/transport/rank.hpp"

namespace palmette {

/// Counts what passes through another transport; forwards everything.
class Recorder final : public Transport {
 public:
  explicit Recorder(Transport& inner);
  ~Recorder() override;
  index_t rank() const override { return inner_.rank(); }
  index_t num_ranks() const override { return inner_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  bool poll(Message& message) override { return inner_.poll(message); }
  void flush() override { inner_.flush(); }
  double sum(double value) override { return inner_.sum(value); }
  int agree(int status) override { return inner_.agree(status); }
  void set_watchdog(double seconds) override { inner_.set_watchdog(seconds); }
  void rest(int turns) override { inner_.rest(turns); }
  void abandon(const std::string& why) override { inner_.abandon(why); }

  Offer offer(std::int64_t tag, SharedBytes bytes) override { return inner_.offer(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override;

  /// What this rank has sent so far.
  Traffic sent() const;
  /// What it has fetched so far, from owner to this rank.
  Traffic fetched() const;

 private:
  struct Counts;
  Transport& inner_;
  std::unique_ptr<Counts> counts_;
};

/// Packs small messages to one destination into one. A packet leaves when it holds `packet_bytes`, and all leave at flush and when
/// the rank has nothing to do. Both ends of a run must use it.
class Aggregator final : public Transport {
 public:
  struct Options {
    std::size_t small_bytes = 1024;   ///< larger messages go alone
    std::size_t packet_bytes = 8192;
  };
  Aggregator(Transport& inner, const Options& options);
  explicit Aggregator(Transport& inner) : Aggregator(inner, Options()) {}
  ~Aggregator() override;
  index_t rank() const override { return inner_.rank(); }
  index_t num_ranks() const override { return inner_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  bool poll(Message& message) override;
  void flush() override;
  double sum(double value) override { return inner_.sum(value); }
  int agree(int status) override { return inner_.agree(status); }
  void set_watchdog(double seconds) override { inner_.set_watchdog(seconds); }
  void rest(int turns) override;
  Offer offer(std::int64_t tag, SharedBytes bytes) override { return inner_.offer(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override { inner_.get(source, offer); }
  void abandon(const std::string& why) override { inner_.abandon(why); }

 private:
  struct State;
  Transport& inner_;
  std::unique_ptr<State> state_;
};

/// Adds a 64-bit checksum to every payload and looks at it on arrival, so that a damaged message is never computed with.
/// Both ends of a run must use it.
class Checked final : public Transport {
 public:
  explicit Checked(Transport& inner) : inner_(inner) {}
  index_t rank() const override { return inner_.rank(); }
  index_t num_ranks() const override { return inner_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  Offer offer(std::int64_t tag, SharedBytes bytes) override;
  void get(index_t source, const Offer& offer) override { inner_.get(source, offer); }
  bool poll(Message& message) override;
  void flush() override { inner_.flush(); }
  double sum(double value) override { return inner_.sum(value); }
  int agree(int status) override { return inner_.agree(status); }
  void set_watchdog(double seconds) override { inner_.set_watchdog(seconds); }
  void rest(int turns) override { inner_.rest(turns); }
  void abandon(const std::string& why) override { inner_.abandon(why); }

 private:
  SharedBytes with_checksum(std::int64_t tag, const SharedBytes& payload);
  Transport& inner_;
  BytePool pool_;
};

}  // namespace palmette
