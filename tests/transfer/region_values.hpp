// Regions whose bytes say who wrote them, when and where.
#pragma once

#include "palmette/transfer/transfer.hpp"

namespace palmette::testing_transfer {

inline std::byte value_of(index_t rank, std::int64_t epoch, std::int64_t at) {
  return static_cast<std::byte>(1 + (rank * 61 + epoch * 17 + at * 7) % 251);
}

inline void fill(std::span<std::byte> region, const transfer::WrittenBytes& write, index_t rank,
                 std::int64_t epoch) {
  for (std::int64_t at = write.begin; at < write.end; ++at) region[at] = value_of(rank, epoch, at);
}

inline bool is_right(std::span<const std::byte> chunk, index_t rank, std::int64_t epoch, std::int64_t begin) {
  for (std::size_t k = 0; k < chunk.size(); ++k)
    if (chunk[k] != value_of(rank, epoch, begin + static_cast<std::int64_t>(k))) return false;
  return true;
}

inline transfer::RegionWork region_work(index_t tasks, std::int64_t bytes, std::int64_t epochs) {
  transfer::RegionWork work;
  for (index_t task = 0; task < tasks; ++task) work.writes.push_back({task * bytes, (task + 1) * bytes});
  work.bytes = tasks * bytes;
  work.epochs = epochs;
  return work;
}

/// Chunks that a rank reads in all epochs.
inline std::size_t reads_of(const transfer::RegionWork& work, const transfer::TransferChoice& choice,
                            index_t ranks) {
  const std::int64_t chunks = (work.bytes + choice.chunk_bytes - 1) / choice.chunk_bytes;
  return static_cast<std::size_t>(chunks * work.epochs * (ranks - 1));
}

/// One rank's view.
struct Checker {
  std::size_t reads = 0;
  int wrong = 0;
  /// Valid as long as this object, at this place.
  transfer::RegionWork attach(transfer::RegionWork work, index_t rank, std::int64_t chunk_bytes) {
    const auto writes = work.writes;
    work.compute = [writes, rank](index_t task, std::int64_t epoch, std::span<std::byte> own) {
      fill(own, writes[task], rank, epoch);
    };
    work.use = [this, chunk_bytes](index_t source, std::int64_t epoch, index_t chunk,
                                   std::span<const std::byte> bytes) {
      ++reads;
      const std::int64_t begin = chunk * chunk_bytes;
      wrong += is_right(bytes, source, epoch, begin) ? 0 : 1;
    };
    return work;
  }
};

}  // namespace palmette::testing_transfer
