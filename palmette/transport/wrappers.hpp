// Transports that wrap a transport: one counts, one packs, one detects damage.
#pragma once

#include "palmette/transport/rank.hpp"

namespace palmette {

/// Forwards everything: derived classes define only what they change.
class TransportWrapper : public Transport {
 public:
  explicit TransportWrapper(Transport& inner) : inner_(inner) {}
  index_t rank() const override { return inner_.rank(); }
  index_t num_ranks() const override { return inner_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    inner_.send(destination, tag, std::move(payload));
  }
  bool poll(Message& message) override { return inner_.poll(message); }
  void flush() override { inner_.flush(); }
  Offer offer(std::int64_t tag, SharedBytes bytes) override { return inner_.offer(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override { inner_.get(source, offer); }
  bool carry_from(const std::shared_ptr<BytePool>& pool) override { return inner_.carry_from(pool); }
  double sum(double value) override { return inner_.sum(value); }
  int agree(int status) override { return inner_.agree(status); }
  void set_watchdog(double seconds) override { inner_.set_watchdog(seconds); }
  void rest(int turns) override { inner_.rest(turns); }
  void abandon(const std::string& why) override { inner_.abandon(why); }

 protected:
  Transport& inner_;
};

/// Counts the messages of another transport.
class Recorder final : public TransportWrapper {
 public:
  explicit Recorder(Transport& inner);
  ~Recorder() override;
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  void get(index_t source, const Offer& offer) override;
  /// What this rank has sent so far.
  Traffic sent() const;
  /// What it has fetched so far, from owner to this rank.
  Traffic fetched() const;

 private:
  struct Counts;
  std::unique_ptr<Counts> counts_;
};

/// Packs small messages to one destination into one; all packets are sent at flush and when the rank has
/// nothing to do. A poll that finds nothing counts as the beginning of a task, since drivers poll before each
/// one. Both ends of a run must use it.
class Aggregator final : public TransportWrapper {
 public:
  using Options = Packing;
  Aggregator(Transport& inner, const Options& options);
  explicit Aggregator(Transport& inner) : Aggregator(inner, Options()) {}
  ~Aggregator() override;
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  bool poll(Message& message) override;
  void flush() override;
  bool carry_from(const std::shared_ptr<BytePool>&) override { return false; }  // it reads payloads
  void rest(int turns) override;
  /// Messages that this end has packed or unpacked so far.
  std::int64_t records() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds a 64-bit checksum to every payload and checks it on arrival, so that a damaged message is never used.
/// Both ends of a run must use it.
class Checked final : public TransportWrapper {
 public:
  explicit Checked(Transport& inner) : TransportWrapper(inner) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override;
  Offer offer(std::int64_t tag, SharedBytes bytes) override;
  bool poll(Message& message) override;
  bool carry_from(const std::shared_ptr<BytePool>&) override { return false; }  // it reads payloads

 private:
  SharedBytes with_checksum(std::int64_t tag, const SharedBytes& payload);
  BytePool pool_;
};

}  // namespace palmette
