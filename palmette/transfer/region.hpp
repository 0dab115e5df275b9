// Part of the door of `transfer`: a region is output that others need. It is cut into chunks, and each chunk
// travels as soon as all that write it have done so, while the rest is still being computed.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::transfer {

/// Who starts the transfer of a chunk that is complete.
enum class Mechanism {
  by_writer,  ///< the last writer itself ("inline")
  polling,    ///< agents that look through their share of the chunks
  launched,   ///< a task for each chunk, which agents take from one queue
  packed,     ///< agents that gather what is ready for a reader into one packet
};
inline constexpr Mechanism mechanisms[] = {Mechanism::by_writer, Mechanism::polling, Mechanism::launched,
                                           Mechanism::packed};
constexpr const char* name_of(Mechanism mechanism) {
  constexpr const char* names[] = {"inline", "polling", "launched", "packed"};
  return names[static_cast<int>(mechanism)];
}

/// How a region travels.
struct TransferChoice {
  Mechanism mechanism = Mechanism::polling;
  std::int64_t chunk_bytes = 128 << 10;
  int agents = 1;
  bool operator==(const TransferChoice&) const = default;
};

/// Bytes [begin, end) of a region that one task writes in each epoch.
struct WrittenBytes {
  std::int64_t begin = 0, end = 0;
};

/// A region cut into chunks. Chunk k begins at k · chunk_bytes; the last one may be shorter.
struct RegionPlan {
  std::int64_t bytes = 0;
  std::int64_t chunk_bytes = 0;
  std::vector<std::int32_t> writers;  ///< by chunk: tasks that write some of it
  std::vector<std::vector<index_t>> chunks_of_task;
  index_t num_chunks() const { return static_cast<index_t>(writers.size()); }
  std::int64_t begin(index_t chunk) const { return chunk * chunk_bytes; }
  std::int64_t size(index_t chunk) const { return std::min(chunk_bytes, bytes - begin(chunk)); }
};

/// @param writes  by task; together they cover the region, and a byte has one writer
/// @throws UsageError naming the task or the byte, and the remedy
RegionPlan cut_region(std::int64_t bytes, std::int64_t chunk_bytes, std::span<const WrittenBytes> writes);

/// What a test breaks.
enum class RegionFault { none, counter_off_by_one, epoch_unchecked, taken_twice, unfenced };

/// Where a reader finds a region: two slots, for the epoch that it reads and for the next one. A chunk of an
/// epoch is complete when all its bytes have been counted. Several threads may call accept at once; one
/// thread reads and releases.
class Landing {
 public:
  explicit Landing(const RegionPlan& plan, RegionFault fault = RegionFault::none);
  /// Copy these bytes of one chunk, which begin at `begin` of the region, and count them.
  /// @returns false if the slot is still in use by an earlier epoch: nothing was taken, offer it again
  /// @throws Error if the bytes belong to an epoch that has been released, or come a second time
  bool accept(std::int64_t epoch, std::int64_t begin, std::span<const std::byte> piece);
  bool is_complete(std::int64_t epoch, index_t chunk) const;
  /// All chunks.
  bool is_complete(std::int64_t epoch) const;
  /// @throws UsageError if the chunk is not complete
  std::span<const std::byte> read(std::int64_t epoch, index_t chunk) const;
  /// The epoch has been read; its slot takes the epoch after the next one. The next epoch is then open.
  /// @throws UsageError if it is not the open one, or not complete
  void release(std::int64_t epoch);
  /// The first epoch that has not been released.
  std::int64_t open_epoch() const { return open_.load(std::memory_order_acquire); }
  const RegionPlan& plan() const { return plan_; }

 private:
  std::atomic<std::int64_t>& counted(std::int64_t epoch, index_t chunk) const {
    return counted_[(epoch % 2) * plan_.num_chunks() + chunk];
  }
  RegionPlan plan_;
  RegionFault fault_;
  std::vector<std::byte> slots_;
  std::unique_ptr<std::atomic<std::int64_t>[]> counted_;  ///< bytes, by slot and chunk
  std::atomic<std::int64_t> open_{0};
};

/// Chunks of one epoch on their way to a reader.
struct ChunkPacket {
  index_t reader = 0;  ///< its place among the region's readers
  std::int64_t epoch = 0;
  std::span<const index_t> chunks;
};

/// A back end: how bytes get to a reader. Several agents may call it at once.
class ChunkLink {
 public:
  virtual ~ChunkLink() = default;
  /// Take whole chunks of the source. When it returns, the source may be overwritten.
  /// @returns false if the reader has no room yet: nothing was taken, or from chunks[0] on only as many as
  ///   `taken` says
  virtual bool put(const ChunkPacket& packet, std::size_t& taken) = 0;
};

/// The writing side of a region. The tasks of an epoch say what they have written; who takes a chunk's
/// counter to zero hands it to the agents. No call blocks.
class RegionWriter {
 public:
  RegionWriter(const RegionPlan& plan, const TransferChoice& choice, index_t readers, ChunkLink& link,
               RegionFault fault = RegionFault::none);
  /// The tasks may write the next epoch.
  /// @throws UsageError if the one before has not been sent
  void begin_epoch();
  /// The task has stored its bytes. Called by any thread, once in an epoch for each task.
  /// @throws UsageError if a chunk had all its writers before
  void wrote(index_t task);
  /// Do an agent's work, if there is some; by_writer: what readers had no room for.
  /// @param agent  0 … agents − 1
  /// @returns whether anything was sent
  bool progress(int agent);
  /// All chunks of this epoch have gone to all readers.
  bool all_sent() const { return left_.load(std::memory_order_acquire) == 0; }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t packets() const { return packets_.load(std::memory_order_relaxed); }

 private:
  enum State : std::uint8_t { idle, ready, taken };
  void hand_over(index_t chunk);
  bool take(std::int64_t job);
  bool send(index_t reader, std::span<const index_t> chunks);
  bool scan(int agent);
  bool from_queue();
  bool gather(int agent);

  RegionPlan plan_;
  TransferChoice choice_;
  index_t readers_;
  ChunkLink& link_;
  RegionFault fault_;
  std::unique_ptr<std::atomic<std::int32_t>[]> writers_left_;
  std::unique_ptr<std::atomic<std::uint8_t>[]> jobs_;  ///< by reader, then chunk
  std::atomic<std::int64_t> left_{0}, packets_{0};
  std::int64_t epoch_ = -1;
  std::mutex queue_mutex_;
  std::deque<std::int64_t> queue_;
};

/// Threads of one process: the agent copies into the readers' landings.
class ThreadLink final : public ChunkLink {
 public:
  ThreadLink(std::span<const std::byte> source, std::vector<Landing*> readers)
      : source_(source), readers_(std::move(readers)) {}
  bool put(const ChunkPacket& packet, std::size_t& taken) override;

 private:
  std::span<const std::byte> source_;
  std::vector<Landing*> readers_;
};

}  // namespace palmette::transfer
