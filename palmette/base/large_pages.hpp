// Requests large pages for big arrays. First touches then cost a few hundred page faults
// instead of hundreds of thousands. If the system has no large pages, nothing happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace palmette {

inline constexpr std::size_t large_page_bytes = std::size_t{1} << 21;

/// Call this after allocation and before the first touch; it requests only whole large pages inside the
/// range.
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(memory) + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / large_page_bytes * large_page_bytes;
  // advice only: may fail
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/// Call this before freeing memory that should go back to the system even if the allocator would keep it; its
/// contents are lost.
inline void give_back_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_DONTNEED)
  constexpr std::uintptr_t page = 1 << 16;  // a multiple of every page size but the large one
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

/// vector.resize on large pages; the vector must be empty.
template <class T>
void resize_on_large_pages(std::vector<T>& vector, std::size_t size) {
  vector.reserve(size);
  prefer_large_pages(vector.data(), size * sizeof(T));
  vector.resize(size);
}

}  // namespace palmette
