// The queue of breadth-first searches.
#pragma once

#include <utility>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// Prefetch the lists that are read soon, in a loop over order[0 … count) that is at `at`.
template <class AnyGraph>
PALMETTE_INLINE inline void prefetch_lists(const AnyGraph& graph, const index_t* order, index_t at,
                                           index_t count) {
  constexpr index_t lists_ahead = 8, starts_ahead = 16;
  if (at + starts_ahead < count) __builtin_prefetch(&graph.start[order[at + starts_ahead]]);
  if (at + lists_ahead < count)
    __builtin_prefetch(graph.neighbour.data() + graph.start[order[at + lists_ahead]]);
}

/// Vertices in the order in which they are reached: the queue tells early which lists will be read.
/// @tparam AnyGraph  Graph or LevelGraph; the graph must outlive the queue
template <class AnyGraph>
class VertexQueue {
 public:
  explicit VertexQueue(const AnyGraph& graph) : graph_(&graph), reached_(graph.n), seen_(graph.n, 0) {}

  bool has_seen(index_t vertex) const { return seen_[vertex] != 0; }
  void push(index_t vertex) {
    seen_[vertex] = 1;
    reached_[count_++] = vertex;
  }
  void clear() {
    for (index_t at = 0; at < count_; ++at) seen_[reached_[at]] = 0;
    begin_ = count_ = 0;
  }
  bool is_waiting() const { return begin_ < count_; }
  /// Reach the neighbours of all vertices that are waiting now.
  void advance() {
    for (const index_t end = count_; begin_ < end; ++begin_) visit(begin_);
  }
  index_t count() const { return count_; }
  index_t operator[](index_t at) const { return reached_[at]; }
  index_t last() const { return reached_[count_ - 1]; }
  std::vector<index_t> take() { return std::move(reached_); }

 private:
  void visit(index_t at) {
    prefetch_lists(*graph_, reached_.data(), at, count_);
    const index_t vertex = reached_[at];
    for (offset_t edge = graph_->start[vertex]; edge < graph_->start[vertex + 1]; ++edge)
      if (const index_t other = graph_->neighbour[edge]; seen_[other] == 0) push(other);
  }

  const AnyGraph* graph_;
  std::vector<index_t> reached_;  // the first count_ are in use
  std::vector<char> seen_;
  index_t begin_ = 0, count_ = 0;
};

}  // namespace palmette::order_detail
