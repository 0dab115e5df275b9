// Finds and improves vertex separators: a graph is cut into two sides with no edge between them.
#pragma once

#include <cstdint>
#include <vector>

#include "palmette/order/coarsen.hpp"

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
  offset_t heaviest_allowed() const { return total() * 3 / 5; }
};

/// Lighter separators are better, then more even sides; a side that is too heavy is worse than any separator.
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
  /// @param name  determines the first vertex
  /// @cost O(edges · log) @source [Karypis and Kumar 1998], §3.2, for edge separators
  Cut begin(const LevelGraph& graph, std::uint64_t name);
  /// Make passes to the two sides in turn, until two passes bring no improvement or `passes` are done.
  /// @cost each pass O(edges · log) at most, in practice O(edges at the separator)
  void improve(const LevelGraph& graph, Cut& cut, int passes);

 private:
  struct Wish {  // a vertex that can move, with its gain when it was listed
    index_t gain;
    std::uint32_t age;
    index_t vertex;
    bool operator<(const Wish& other) const {
      return gain != other.gain ? gain < other.gain : age > other.age;
    }
  };
  struct VertexState {
    index_t pulled[2] = {0, 0};  // weight of the neighbours on each side, for vertices of the separator
    bool moved = false;          // moved out of the separator in this pass
    bool listed = false;         // is in the separator's list
  };
  struct Change {  // to undo it
    index_t vertex;
    Side before;
    bool was_moved;
  };
  void work_on(const LevelGraph& graph, Cut& cut);
  index_t gain(index_t vertex, int side) const {
    return graph_->weight[vertex] - states_[vertex].pulled[1 - side];
  }
  void wish(index_t vertex, int side);
  index_t best_wish(int side);
  void count_pulls(index_t vertex);
  void change(index_t vertex, Side to, bool moved);
  void move(Cut& cut, index_t vertex, int side);
  void pull(Cut& cut, index_t vertex, int from);
  void list_wishes(const Cut& cut, int side);
  bool run_pass(Cut& cut, int side);
  void undo_to(std::size_t length);
  void end_pass(Cut& cut);
  void grow(Cut& cut, index_t seed);

  const LevelGraph* graph_ = nullptr;
  Side* side_ = nullptr;
  std::vector<VertexState> states_;  // moved and listed are false between calls
  std::vector<Wish> wishes_;         // a heap; entries may be out of date
  std::uint32_t age_ = 0;
  std::vector<Change> changes_;      // of the pass
};

}  // namespace palmette::order_detail
