// What the kernel of region_exchange.cuh is given: regions of several devices, cut into chunks that travel
// while the rest is computed. A device is an element of a world.
#pragma once

#include <cstdint>

namespace palmette::device {

/// Who sends a chunk that is complete; the numbers are those of transfer::Mechanism.
enum class RegionMechanism : int {
  by_writer,  ///< the block that wrote last
  polling,    ///< blocks that look through their share of the chunks
  launched,   ///< blocks that take chunks from one queue
  packed      ///< blocks that send all complete chunks for a reader behind one fence
};

/// Mistakes that tests plant.
enum class ExchangeFault : int {
  none,
  unfenced_count,      ///< bytes are counted without a release
  narrow_count,        ///< they are counted for the own device alone
  unfenced_hand_over,  ///< an agent learns of a chunk without a release
  unfenced_take,       ///< the last writer does not acquire what the others wrote
  read_again,          ///< the counter is looked at after it was decremented
  epoch_unchecked      ///< chunks are stored whether their reader has room or not
};

/// The words that a task writes in each epoch. A word has 8 bytes.
struct RegionTask {
  long long begin, end;
};

/// One device's view. Every device computes a region in each epoch and reads those of all others. The first
/// blocks write, the next ones are agents, the rest read; all must be resident.
struct RegionExchange {
  int rank, ranks, epochs;
  int runs_ahead;  ///< 0: an epoch begins when the regions of the one before have been read here
  long long words, chunk_words;
  int num_chunks, num_tasks;
  const RegionTask* task;
  const int* writers;  ///< by chunk
  RegionMechanism mechanism;
  int writing_blocks, agent_blocks;

  // Of this device. A job is a chunk for a reader: place of the reader among the others · num_chunks + chunk.
  long long* source;  ///< the region
  int* writers_left;  ///< by chunk; as `writers` between epochs
  int* ready;         ///< by chunk: the epoch in which it was complete last, plus 1
  int* queue;         ///< by place: epoch · jobs + job + 1
  int* queue_ends;    ///< places that chunks have taken; that agents have taken
  int* agent_sent;    ///< by job, of its agent: the epoch in which it was sent last, plus 1
  int* sent;          ///< jobs, in all epochs
  int* packets;
  int* opened;  ///< by source: the epoch that is read
  int* read;    ///< by source: chunks of it that have been
  int* seen;    ///< by place of the source and chunk: the epoch in which it was read last, plus 1
  int* wrong;   ///< words that were not what they should be

  // By rank: memory of that device.
  long long* const* landing;  ///< by source, then epoch mod 2: a region
  int* const* counted;        ///< likewise, by chunk: words that have come
  int* const* released;       ///< of that device's region, by reader: the first epoch not yet released
};

/// A region whose words say who wrote them, where and when.
struct RegionTrial {
  RegionExchange exchange;
  int passes;  ///< over each word while it is computed
};

}  // namespace palmette::device
