// One large aligned array for the panels of a factor, allocated and freed as a whole; its pages may stay
// untouched until their first writer. Or panels that lie elsewhere, as in the map of a file.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "palmette/base/base.hpp"

namespace palmette {

/// For PanelArray: the caller writes every entry before reading it.
struct Uninitialised {};

/// `size` scalars, 64-byte aligned, zero by default. Movable, not copyable. Scalars that lie elsewhere are
/// not written.
template <class T>
class PanelArray {
 public:
  PanelArray() = default;
  /// @throws MemoryError naming the bytes if the memory cannot be allocated
  explicit PanelArray(offset_t size) : PanelArray(size, Uninitialised()) {
    if (size > 0) std::memset(static_cast<void*>(data_), 0, bytes());
  }
  PanelArray(offset_t size, Uninitialised) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    data_ = static_cast<T*>(::operator new(bytes, alignment(), std::nothrow));
    if (data_ == nullptr)
      throw MemoryError("cannot allocate " + std::to_string(bytes) + " bytes for the panels of a factor",
                        static_cast<std::int64_t>(bytes));
    if (is_large()) prefer_large_pages(data_, bytes);
  }
  /// Scalars that lie elsewhere, 64-byte aligned. @param owner  keeps them alive; not null
  PanelArray(std::span<const T> elsewhere, std::shared_ptr<const void> owner)
      : data_(const_cast<T*>(elsewhere.data())),
        size_(static_cast<offset_t>(elsewhere.size())),
        owner_(std::move(owner)) {}
  PanelArray(PanelArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::move(other.owner_)) {}
  PanelArray& operator=(PanelArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~PanelArray() {
    if (!owner_) ::operator delete(data_, alignment());
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  offset_t size() const { return size_; }
  offset_t bytes() const { return size_ * static_cast<offset_t>(sizeof(T)); }

 private:
  bool is_large() const { return static_cast<std::size_t>(bytes()) >= 4 * large_page_bytes; }
  std::align_val_t alignment() const { return std::align_val_t(is_large() ? large_page_bytes : 64); }

  T* data_ = nullptr;
  offset_t size_ = 0;
  std::shared_ptr<const void> owner_;  // of scalars that lie elsewhere; null: this
};

/// Copy by the threads of a team. @param team  null: by the caller's thread @param to  of the same size
template <class T>
void copy_panels(std::span<const T> from, ThreadTeam* team, PanelArray<T>& to) {
  constexpr offset_t share_bytes = 1 << 22;  // as large pages, so that threads do not clear the same one
  constexpr offset_t share = share_bytes / static_cast<offset_t>(sizeof(T));
  const auto size = static_cast<offset_t>(from.size());
  const auto shares = static_cast<int>((size + share - 1) / share);
  const auto copy_one = [&](int nth) {
    const offset_t first = nth * share;
    std::copy_n(from.data() + first, std::min(share, size - first), to.data() + first);
  };
  if (team != nullptr && shares > 1) {
    team->share_parts(shares, copy_one);
    return;
  }
  for (int nth = 0; nth < shares; ++nth) copy_one(nth);
}

}  // namespace palmette
