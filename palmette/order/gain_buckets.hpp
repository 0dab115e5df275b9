// A queue of vertices by the gain of their moves, in buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// Holds vertices; the one with the largest gain comes first, of equal gains the one inserted first. Gains
/// are exact if the typical weight is below 32; for heavier vertices, gains that differ by less than a
/// sixteenth of it count as equal. So do all gains below −360, or below −11 typical weights. Each operation
/// takes constant time.
class GainBuckets {
 public:
  /// Prepare for vertices [0, count) whose weights are about `typical_weight`; the queue must be empty.
  void fit(std::size_t count, offset_t typical_weight) {
    if (links_.size() < count) links_.resize(count);
    if (lists_.empty()) lists_.resize(buckets);
    shift_ = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(typical_weight))) - 5, 0);
  }
  bool holds(index_t vertex) const { return links_[vertex].bucket >= 0; }
  void insert(index_t vertex, index_t gain) {
    const int bucket = std::clamp(gain >> shift_, -zero, buckets - 1 - zero) + zero;
    Link& link = links_[vertex];
    List& list = lists_[bucket];
    link = {-1, list.last, bucket};
    (list.last >= 0 ? links_[list.last].next : list.first) = vertex;
    list.last = vertex;
    highest_ = std::max(highest_, bucket);
  }
  void remove(index_t vertex) {
    Link& link = links_[vertex];
    List& list = lists_[link.bucket];
    (link.previous >= 0 ? links_[link.previous].next : list.first) = link.next;
    (link.next >= 0 ? links_[link.next].previous : list.last) = link.previous;
    link.bucket = -1;
  }
  /// Move a vertex that is in the queue to the end of the bucket of its new gain.
  void change(index_t vertex, index_t gain) {
    remove(vertex);
    insert(vertex, gain);
  }
  /// The first vertex, or −1.
  index_t first() {
    while (highest_ >= 0 && lists_[highest_].first < 0) --highest_;
    return highest_ >= 0 ? lists_[highest_].first : -1;
  }
  void clear() {
    for (; highest_ >= 0; --highest_) {
      List& list = lists_[highest_];
      for (index_t vertex = list.first; vertex >= 0; vertex = links_[vertex].next) links_[vertex].bucket = -1;
      list = {};
    }
  }

 private:
  static constexpr int buckets = 512, zero = 360;
  struct Link {
    index_t next = -1, previous = -1;
    int bucket = -1;  // −1: not in the queue
  };
  struct List {
    index_t first = -1, last = -1;
  };
  std::vector<Link> links_;  // by vertex
  std::vector<List> lists_;  // by bucket
  int highest_ = -1;         // no vertex is in a higher bucket
  int shift_ = 0;
};

}  // namespace palmette::order_detail
