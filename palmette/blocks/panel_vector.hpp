// Vectors whose length is not known before they are filled.
#pragma once

#include <new>
#include <type_traits>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Memory for PanelVector: large pages from one large page on, and nothing is written to what resize() adds.
template <class T>
struct PanelAllocator {
  using value_type = T;

  PanelAllocator() = default;
  template <class U>
  PanelAllocator(const PanelAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < large_page_bytes) return static_cast<T*>(::operator new(bytes));
    void* const data = ::operator new(bytes, std::align_val_t(large_page_bytes));
    prefer_large_pages(data, bytes);
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) {
    if (count * sizeof(T) < large_page_bytes) ::operator delete(data);
    else ::operator delete(data, std::align_val_t(large_page_bytes));
  }
  template <class U>
  void construct(U*) {
    static_assert(std::is_trivially_copyable_v<U>);
  }
  template <class U>
  bool operator==(const PanelAllocator<U>&) const {
    return true;
  }
};

/// As std::vector, but the caller writes what resize() adds before reading it.
template <class T>
using PanelVector = std::vector<T, PanelAllocator<T>>;

}  // namespace palmette
