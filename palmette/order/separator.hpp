// Finds and improves vertex separators: a graph is cut into two sides with no edge between them.
#pragma once

#include <cstdint>
#include <vector>

#include "palmette/order/coarsen.hpp"
#include "palmette/order/gain_buckets.hpp"

namespace palmette::order_detail {

enum class Side : std::uint8_t { first = 0, second = 1, separator = 2 };

/// A cut of one level's graph.
struct Cut {
  offset_t side_weight[2] = {0, 0};
  offset_t separator_weight = 0;
  std::vector<Side> side;          // by vertex
  std::vector<index_t> separator;  // its vertices, in no particular order

  offset_t total() const { return side_weight[0] + side_weight[1] + separator_weight; }
  offset_t heavier() const { return side_weight[0] > side_weight[1] ? side_weight[0] : side_weight[1]; }
  /// Above this a side counts as too heavy.
  offset_t heaviest_allowed() const { return total() * 13 / 20; }
};

/// The cut with the smaller separator · (1 + d²) is better, where d is the difference of the sides over their
/// sum: uneven sides are accepted for a separator that is shorter by a few percent. A side that is too heavy
/// is worse than any separator.
/// @source [Ashcraft and Liu 1998], §2, for the form of the price
bool is_better(const Cut& one, const Cut& other);

/// Finds and improves cuts; reused for its memory by one thread.
///
/// A move takes a vertex from the separator to one side, and its neighbours of the other side into the
/// separator ([Fiduccia and Mattheyses 1982], for vertex separators). A pass moves vertices to one side only,
/// each time the vertex that gains most, so that the separator sweeps across the other side as far as the
/// balance allows; the best state on the way is kept.
/// @source [Ashcraft and Liu 1998], §2; [Hendrickson and Rothberg 1998], §4;
///         [Karypis 2013], §4.3 (one-sided refinement)
class SeparatorSearch {
 public:
  /// Grow the first side from one vertex until the sides are even, always by the vertex that adds least to
  /// the separator, and improve the cut.
  /// @param name  determines the first vertex: one that is farthest from a vertex chosen at random, since
  ///   balls around vertices inside a mesh have larger borders than those around its corners
  /// @cost O(edges) @source [Karypis and Kumar 1998], §3.2, for edge separators
  Cut begin(const LevelGraph& graph, std::uint64_t name);
  /// Make passes to the two sides in turn, until two passes bring no improvement or `passes` are done.
  /// @cost each pass O(edges) at most, in practice O(edges at the separator)
  void improve(const LevelGraph& graph, Cut& cut, int passes);

 private:
  struct Change {  // to undo it
    index_t vertex;
    Side before;
  };
  void work_on(const LevelGraph& graph, Cut& cut);
  index_t gain(index_t vertex) const { return graph_->weight[vertex] - pulled_[vertex]; }
  void change(index_t vertex, Side to);
  void move(Cut& cut, index_t vertex, int side);
  void pull(Cut& cut, index_t vertex, int from);
  index_t weight_on(index_t vertex, Side side) const;
  void list_moves(const Cut& cut, int side);
  bool run_pass(Cut& cut, int side);
  void undo_to(std::size_t length);
  void end_pass(Cut& cut);
  void grow(Cut& cut, index_t seed);

  const LevelGraph* graph_ = nullptr;
  Side* side_ = nullptr;
  std::vector<index_t>
      pulled_;         // by vertex of the separator: weight of its neighbours on the side that shrinks
  GainBuckets moves_;  // vertices of the separator that have not moved; empty between passes
  std::vector<Change> changes_;  // of the pass
};

}  // namespace palmette::order_detail
