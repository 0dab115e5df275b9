// Part of the door of `transfer`: regions between ranks, over any transport. Every rank computes a region in
// each epoch and reads those of all others.
#pragma once

#include <functional>

#include "palmette/transfer/region.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::transfer {

/// Chunks as messages: epoch, number of chunks, the chunks, then their bytes.
class TransportLink final : public ChunkLink {
 public:
  /// @param readers  ranks
  TransportLink(const RegionPlan& plan, std::span<const std::byte> source, Transport& transport,
                std::vector<index_t> readers)
      : plan_(plan), source_(source), transport_(transport), readers_(std::move(readers)) {}
  bool put(const ChunkPacket& packet, std::size_t& taken) override;

 private:
  RegionPlan plan_;
  std::span<const std::byte> source_;
  Transport& transport_;
  std::vector<index_t> readers_;
  BytePool pool_;
};

/// The reading side of one rank's region. What comes too early is kept as a message.
class RegionReceiver {
 public:
  explicit RegionReceiver(const RegionPlan& plan, RegionFault fault = RegionFault::none)
      : landing_(plan, fault) {}
  /// @throws Error if the message cannot be a packet of this region
  void on_message(const Message& message);
  void release(std::int64_t epoch);
  const Landing& landing() const { return landing_; }
  std::size_t held() const { return held_.size(); }

 private:
  bool accept(const Message& message);
  Landing landing_;
  std::vector<Message> held_;
};

/// What a rank of a RegionProgram computes.
struct RegionWork {
  /// Tasks of every rank; in each epoch they run in this order.
  std::vector<WrittenBytes> writes;
  std::int64_t bytes = 0;
  std::int64_t epochs = 1;
  /// False: an epoch begins when all regions of the one before have been read. True: readers may be late.
  bool runs_ahead = false;
  std::function<void(index_t task, std::int64_t epoch, std::span<std::byte> own)> compute;
  /// A chunk of another rank is complete.
  std::function<void(index_t source, std::int64_t epoch, index_t chunk, std::span<const std::byte>)> use;
  RegionFault fault = RegionFault::none;
};

/// A rank's program: tasks, agents and reads, none of which blocks.
class RegionProgram final : public RankProgram {
 public:
  RegionProgram(const RegionWork& work, const TransferChoice& choice, Transport& transport);
  void start() override;
  void on_message(const Message& message) override;
  bool run_one_task(int thread) override;
  bool done() const override;
  std::string waiting_for() const override;
  std::int64_t packets() const { return writer_.packets(); }

 private:
  bool begin_next_epoch();
  bool read_some();
  bool all_read(std::int64_t epoch) const;

  RegionWork work_;
  RegionPlan plan_;
  std::vector<std::byte> own_;
  std::vector<index_t> others_;
  TransportLink link_;
  RegionWriter writer_;
  std::vector<std::unique_ptr<RegionReceiver>> receivers_;  ///< by place in others_
  std::vector<std::vector<char>> is_used_;                  ///< by place, by chunk, of the open epoch
  index_t next_task_ = 0;
  int next_agent_ = 0;
  int agents_ = 1;
  mutable std::mutex mutex_;
};

}  // namespace palmette::transfer
