// A binary heap of indices, ordered by keys that are stored elsewhere and may decrease.
#pragma once

#include <utility>
#include <vector>

#include "palmette/order/exponents.hpp"

namespace palmette::order_detail {

/// Holds indices of [0, n); the smallest key is on top. A key may be lowered while its index is in the heap;
/// then `lowered` must be called before anything else.
class IndexHeap {
 public:
  explicit IndexHeap(const std::vector<exponent_t>& key) : key_(key), place_(key.size(), -1) {}

  bool empty() const { return heap_.empty(); }
  index_t top() const { return heap_.front(); }
  bool holds(index_t index) const { return place_[index] >= 0; }

  void insert(index_t index) {
    heap_.push_back(index);
    rise(heap_.size() - 1, index);
  }
  void lowered(index_t index) { rise(place_[index], index); }
  index_t pop() {
    const index_t smallest = heap_.front(), last = heap_.back();
    place_[smallest] = -1;
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return smallest;
  }
  void clear() {
    for (const index_t index : heap_) place_[index] = -1;
    heap_.clear();
  }

 private:
  void put(std::size_t place, index_t index) {
    heap_[place] = index;
    place_[index] = static_cast<index_t>(place);
  }
  void rise(std::size_t place, index_t index) {
    while (place > 0) {
      const std::size_t above = (place - 1) / 2;
      if (key_[heap_[above]] <= key_[index]) break;
      put(place, heap_[above]);
      place = above;
    }
    put(place, index);
  }
  void sink(index_t index) {
    std::size_t place = 0;
    for (std::size_t below = 1; below < heap_.size(); below = 2 * place + 1) {
      if (below + 1 < heap_.size() && key_[heap_[below + 1]] < key_[heap_[below]]) ++below;
      if (key_[index] <= key_[heap_[below]]) break;
      put(place, heap_[below]);
      place = below;
    }
    put(place, index);
  }

  const std::vector<exponent_t>& key_;
  std::vector<index_t> place_;  // length n: position in the heap, or −1
  std::vector<index_t> heap_;
};

}  // namespace palmette::order_detail
