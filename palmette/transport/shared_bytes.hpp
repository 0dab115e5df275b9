// Bytes of a message with several owners: a block that is sent to ten ranks of one process is stored once.
// Buffers come from a pool and go back to it, so that a solve that has run before allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace palmette {

class BytePool;

/// Memory that is not the host's, such as a device's.
struct ByteMemory {
  std::function<void*(std::size_t bytes)> allocate;  ///< @throws MemoryError
  std::function<void(void* memory, std::size_t bytes)> release;
  bool host_reads = false;  ///< the host may read and write there, by the same address
};

/// A counted reference to a buffer. The code that took it from the pool may write until it is first shared;
/// afterwards it is constant.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(const SharedBytes& other);
  SharedBytes(SharedBytes&& other) noexcept
      : buffer_(std::exchange(other.buffer_, nullptr)), bytes_(std::exchange(other.bytes_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  // Not one operator with its operand by value: in a template, clang 14 never destroys that of `x = {}`.
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    SharedBytes taken(std::move(other));
    std::swap(buffer_, taken.buffer_);
    std::swap(bytes_, taken.bytes_);
    std::swap(size_, taken.size_);
    return *this;
  }
  SharedBytes& operator=(const SharedBytes& other) { return *this = SharedBytes(other); }
  ~SharedBytes();

  std::size_t size() const { return size_; }
  const std::byte* data() const { return bytes_; }
  std::span<const std::byte> view() const { return {bytes_, size_}; }
  /// `size` of these bytes from `at` on, in the same buffer.
  SharedBytes part(std::size_t at, std::size_t size) const;
  SharedBytes first(std::size_t size) const { return part(0, size); }
  /// The same bytes for writing, for the code that took them and has not yet shared them.
  std::span<std::byte> writable() { return {bytes_, size_}; }
  /// They lie in the memory that their pool was given: their address may mean nothing to the host.
  bool lies_elsewhere() const;
  /// How many references there are.
  int holders() const;

 private:
  friend class BytePool;
  struct Buffer;
  SharedBytes(Buffer* buffer, std::byte* bytes, std::size_t size)
      : buffer_(buffer), bytes_(bytes), size_(size) {}
  Buffer* buffer_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// Where buffers come from. Thread-safe. Buffers may outlive the pool.
class BytePool {
 public:
  BytePool();
  /// Its buffers lie in this memory.
  explicit BytePool(ByteMemory memory);
  ~BytePool();
  BytePool(const BytePool&) = delete;
  BytePool& operator=(const BytePool&) = delete;

  /// A buffer of `size` bytes, uninitialized, aligned for any scalar (64 bytes).
  /// @throws MemoryError
  SharedBytes take(std::size_t size);
  /// Of a pool in the host's memory.
  SharedBytes copy(std::span<const std::byte> bytes);
  /// Instead of the buffers that are there and not in use, as many as these takes need at once. From then on
  /// a take gets a larger buffer that is free before a new one is made.
  /// @throws MemoryError; then the pool has no buffer that is not in use
  void reserve(std::span<const std::size_t> sizes);
  /// What the pool was given; without functions: the host's memory.
  const ByteMemory& memory() const;
  /// Of the buffers that are there, in use or not: a buffer's size is a power of two, at least 64.
  std::int64_t bytes() const;
  /// Buffers made so far: stops growing once every size in use has been seen.
  std::int64_t buffers_made() const;

 private:
  friend class SharedBytes;
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace palmette
