// Reference-counted buffers on shelves by size; each size is a power of two.
#include "palmette/transport/shared_bytes.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

constexpr std::size_t alignment = 64;
constexpr int smallest_log = 6;
constexpr int size_classes = 58;

int class_of(std::size_t size) {
  const int log = size <= 1 ? 0 : std::bit_width(size - 1);
  return log < smallest_log ? 0 : log - smallest_log;
}

}  // namespace

struct BytePool::Shelf {
  ByteMemory memory;
  std::mutex mutex;
  std::array<std::vector<SharedBytes::Buffer*>, size_classes> free;
  std::array<std::size_t, size_classes> made{};
  std::int64_t made_in_all = 0;
  bool lends_larger = false;
  ~Shelf();
  /// The smallest class at least this one with a free buffer; this one if none has, or larger ones are kept.
  int class_to_take(int size_class) const;
  void destroy_free();
  void make_free(int size_class);
  /// One more has a place, so that returning it never allocates and never fails. Places double, so that a
  /// buffer costs the same however many there are. @throws std::bad_alloc; then nothing is counted
  void count_made(int size_class) {
    const std::size_t now = made[size_class] + 1;
    if (now > free[size_class].capacity()) free[size_class].reserve(2 * now);
    made[size_class] = now;
    ++made_in_all;
  }
  void not_made(int size_class) {
    --made[size_class];
    --made_in_all;
  }
};

/// The bytes follow the header, which fills one alignment unit.
struct alignas(64) SharedBytes::Buffer {
  std::atomic<int> holders{1};
  int size_class = 0;
  std::shared_ptr<BytePool::Shelf> home;  ///< empty while on the shelf
  std::byte* elsewhere = nullptr;         ///< the bytes, if they do not follow

  std::byte* bytes() {
    return elsewhere != nullptr ? elsewhere : reinterpret_cast<std::byte*>(this) + sizeof(Buffer);
  }
  std::size_t capacity() const { return std::size_t{1} << (size_class + smallest_log); }

  static Buffer* make(int size_class, const ByteMemory& place) {
    const std::size_t capacity = std::size_t{1} << (size_class + smallest_log);
    void* const elsewhere = place.allocate ? place.allocate(capacity) : nullptr;
    const std::size_t following = elsewhere != nullptr ? 0 : capacity;
    try {
      void* const memory = ::operator new(sizeof(Buffer) + following, std::align_val_t{alignment});
      Buffer* const buffer = new (memory) Buffer;
      buffer->size_class = size_class;
      buffer->elsewhere = static_cast<std::byte*>(elsewhere);
      return buffer;
    } catch (const std::bad_alloc&) {
      if (elsewhere != nullptr) place.release(elsewhere, capacity);
      throw MemoryError("no memory for a message of " + std::to_string(capacity) + " bytes",
                        static_cast<std::int64_t>(capacity));
    }
  }
  static void destroy(Buffer* buffer, const ByteMemory& place) {
    if (buffer->elsewhere != nullptr) place.release(buffer->elsewhere, buffer->capacity());
    buffer->~Buffer();
    ::operator delete(buffer, std::align_val_t{alignment});
  }
  static void give_back(Buffer* buffer) {
    const std::shared_ptr<BytePool::Shelf> home = std::move(buffer->home);
    const std::lock_guard lock(home->mutex);
    home->free[buffer->size_class].push_back(buffer);
  }
};

BytePool::Shelf::~Shelf() { destroy_free(); }

void BytePool::Shelf::destroy_free() {
  for (std::size_t k = 0; k < free.size(); ++k) {
    for (SharedBytes::Buffer* buffer : free[k]) SharedBytes::Buffer::destroy(buffer, memory);
    made[k] -= free[k].size();
    free[k].clear();
  }
}

void BytePool::Shelf::make_free(int size_class) {
  count_made(size_class);
  try {
    free[size_class].push_back(SharedBytes::Buffer::make(size_class, memory));
  } catch (...) {
    not_made(size_class);
    throw;
  }
}

int BytePool::Shelf::class_to_take(int size_class) const {
  for (int k = size_class; lends_larger && k < size_classes; ++k)
    if (!free[k].empty()) return k;
  return size_class;
}

SharedBytes::SharedBytes(const SharedBytes& other)
    : buffer_(other.buffer_), bytes_(other.bytes_), size_(other.size_) {
  if (buffer_ != nullptr) buffer_->holders.fetch_add(1, std::memory_order_relaxed);
}

SharedBytes::~SharedBytes() {
  if (buffer_ != nullptr && buffer_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
    Buffer::give_back(buffer_);
}

SharedBytes SharedBytes::part(std::size_t at, std::size_t size) const {
  if (at > size_ || size > size_ - at)
    throw UsageError("bytes " + std::to_string(at) + " to " + std::to_string(at + size) + " of a buffer of " +
                     std::to_string(size_));
  SharedBytes piece(*this);
  piece.bytes_ += at;
  piece.size_ = size;
  return piece;
}

bool SharedBytes::lies_elsewhere() const { return buffer_ != nullptr && buffer_->elsewhere != nullptr; }

int SharedBytes::holders() const {
  return buffer_ != nullptr ? buffer_->holders.load(std::memory_order_relaxed) : 0;
}

BytePool::BytePool() : shelf_(std::make_shared<Shelf>()) {}
BytePool::BytePool(ByteMemory memory) : BytePool() { shelf_->memory = std::move(memory); }
BytePool::~BytePool() = default;

SharedBytes BytePool::take(std::size_t size) {
  if (size == 0) return {};
  int size_class = class_of(size);
  SharedBytes::Buffer* buffer = nullptr;
  {
    const std::lock_guard lock(shelf_->mutex);
    size_class = shelf_->class_to_take(size_class);
    auto& free = shelf_->free[size_class];
    if (!free.empty()) {
      buffer = free.back();
      free.pop_back();
    } else {
      shelf_->count_made(size_class);
    }
  }
  try {
    if (buffer == nullptr) buffer = SharedBytes::Buffer::make(size_class, shelf_->memory);
  } catch (...) {
    const std::lock_guard lock(shelf_->mutex);
    shelf_->not_made(size_class);
    throw;
  }
  buffer->holders.store(1, std::memory_order_relaxed);
  buffer->home = shelf_;
  return SharedBytes(buffer, buffer->bytes(), size);
}

void BytePool::reserve(std::span<const std::size_t> sizes) {
  std::array<std::size_t, size_classes> wanted{};
  for (const std::size_t size : sizes)
    if (size > 0) ++wanted[class_of(size)];
  const std::lock_guard lock(shelf_->mutex);
  shelf_->destroy_free();
  shelf_->lends_larger = true;
  try {
    for (int k = 0; k < size_classes; ++k)
      while (shelf_->made[k] < wanted[k]) shelf_->make_free(k);
  } catch (...) {
    shelf_->destroy_free();
    throw;
  }
}

SharedBytes BytePool::copy(std::span<const std::byte> bytes) {
  SharedBytes taken = take(bytes.size());
  if (!bytes.empty()) std::memcpy(taken.writable().data(), bytes.data(), bytes.size());
  return taken;
}

const ByteMemory& BytePool::memory() const { return shelf_->memory; }

std::int64_t BytePool::bytes() const {
  const std::lock_guard lock(shelf_->mutex);
  std::int64_t all = 0;
  for (int k = 0; k < size_classes; ++k)
    all += static_cast<std::int64_t>(shelf_->made[k]) << (k + smallest_log);
  return all;
}

std::int64_t BytePool::buffers_made() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->made_in_all;
}

}  // namespace palmette
