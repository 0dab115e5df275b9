// Remote memory that behaves as badly as MPI allows: words arrive in any order and late, additions overtake
// puts. Also a protocol that fails there.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "palmette/transport/transport.hpp"

namespace palmette::testing_transport {

using transport_detail::OneSidedQueue;
using transport_detail::QueueLayout;
using transport_detail::RemoteMemory;

/// Memory of all ranks, and every word that is still in transit.
class Fabric {
 public:
  Fabric(const std::vector<std::size_t>& bytes, std::uint64_t seed) : random_(seed) {
    for (const std::size_t size : bytes) memory_.emplace_back(size);
  }
  struct Word {
    index_t source;
    index_t destination;
    std::size_t offset;
    std::uint64_t value;
    bool added;
  };
  void send(const Word& word) { coming_.push_back(word); }
  void arrive_all(index_t source, index_t destination) {
    std::vector<Word> rest;
    for (const Word& word : coming_)
      if (word.source == source && word.destination == destination) apply(word);
      else rest.push_back(word);
    coming_ = std::move(rest);
  }
  /// Delivers some of the words sent to a rank, in any order.
  void arrive_some(index_t destination) {
    std::shuffle(coming_.begin(), coming_.end(), random_);
    std::vector<Word> rest;
    for (const Word& word : coming_)
      if (word.destination == destination && random_() % 3 == 0) apply(word);
      else rest.push_back(word);
    coming_ = std::move(rest);
  }
  std::vector<std::byte>& memory(index_t rank) { return memory_[rank]; }
  std::mt19937_64& random() { return random_; }

 private:
  void apply(const Word& word) {
    std::uint64_t value = word.value;
    std::byte* const at = memory(word.destination).data() + word.offset;
    if (word.added) {
      std::uint64_t old = 0;
      std::memcpy(&old, at, 8);
      value += old;
    }
    std::memcpy(at, &value, 8);
  }
  std::mt19937_64 random_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Word> coming_;
};

class TearingMemory final : public RemoteMemory {
 public:
  TearingMemory(Fabric& fabric, index_t rank, index_t num_ranks)
      : fabric_(fabric), rank_(rank), num_ranks_(num_ranks) {}
  index_t rank() const override { return rank_; }
  index_t num_ranks() const override { return num_ranks_; }
  void put(index_t destination, std::size_t offset, std::span<const std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + at, 8);
      fabric_.send({rank_, destination, offset + at, value, false});
    }
  }
  void add(index_t destination, std::size_t offset, std::uint64_t value) override {
    fabric_.send({rank_, destination, offset, value, true});
  }
  void flush(index_t destination) override { fabric_.arrive_all(rank_, destination); }
  void flush_local(index_t) override {}
  void sync() override { fabric_.arrive_some(rank_); }
  void read(std::size_t offset, std::span<std::byte> bytes) override {
    if (!bytes.empty()) std::memcpy(bytes.data(), fabric_.memory(rank_).data() + offset, bytes.size());
  }
  std::uint64_t read_word(std::size_t offset) override {
    std::uint64_t value = 0;
    std::memcpy(&value, fabric_.memory(rank_).data() + offset, 8);
    return value;
  }

 private:
  Fabric& fabric_;
  index_t rank_;
  index_t num_ranks_;
};

/// Puts data, flushes locally, then sends a signal that the receiver trusts: what the code of [Ding et al.
/// 2020] did on some networks.
class LocallyFlushed final : public OneSidedQueue {
 public:
  using OneSidedQueue::OneSidedQueue;

 protected:
  void publish(index_t destination, const QueueLayout::Region& region, std::size_t offset,
               std::span<const std::byte> record) override {
    memory().put(destination, offset, record);
    memory().flush_local(destination);
    memory().add(destination, region.counter, 1);
  }
  bool intact(std::uint64_t, std::uint64_t) const override { return true; }
};

/// A transport for one thread that drives all ranks in turn.
class QueueEnd final : public Transport {
 public:
  QueueEnd(RemoteMemory& memory, OneSidedQueue& queue) : memory_(memory), queue_(queue) {}
  index_t rank() const override { return memory_.rank(); }
  index_t num_ranks() const override { return memory_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    queue_.send(destination, tag, payload);
  }
  bool poll(Message& message) override { return queue_.poll(message); }
  void flush() override { queue_.flush(); }
  double sum(double value) override { return value; }
  int agree(int status) override { return status; }
  void abandon(const std::string&) override {}

 private:
  RemoteMemory& memory_;
  OneSidedQueue& queue_;
};

}  // namespace palmette::testing_transport
