// Inside `transport`: memory into which other ranks write, like MPI's passive-target windows. Note what is
// not guaranteed: a put may arrive in pieces and in any order, and flush_local does not mean that it has
// arrived.
#pragma once

#include "palmette/transport/rank.hpp"

namespace palmette::transport_detail {

/// One rank's end of a window. Offsets are in bytes and multiples of 8, sizes too.
class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  virtual index_t rank() const = 0;
  virtual index_t num_ranks() const = 0;
  /// Write into another rank's memory. Words (8 bytes) arrive complete, but in any order and at any time
  /// until flush returns. The bytes must stay unchanged until flush or flush_local.
  virtual void put(index_t destination, std::size_t offset, std::span<const std::byte> bytes) = 0;
  /// Add to a word of another rank's memory atomically. Not ordered with puts.
  virtual void add(index_t destination, std::size_t offset, std::uint64_t value) = 0;
  /// All puts and additions to this rank have arrived.
  virtual void flush(index_t destination) = 0;
  /// The origins of all puts to this rank may be written to again. They need not have arrived.
  virtual void flush_local(index_t destination) = 0;
  /// Make arrivals visible to reads of this rank's memory.
  virtual void sync() = 0;
  /// Copies words of this rank's memory.
  virtual void read(std::size_t offset, std::span<std::byte> bytes) = 0;
  virtual std::uint64_t read_word(std::size_t offset) = 0;
};

}  // namespace palmette::transport_detail
