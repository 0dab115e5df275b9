// Approximate minimum degree of a part of a graph, taking the vertices around it into account.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "palmette/order/coarsen.hpp"

namespace palmette::order_detail {

/// Orders regions of a graph one after the other; reused for its memory by one thread.
///
/// The neighbours outside the region (its halo) count in the degrees, since the factor's columns reach into
/// them, but are not eliminated. Quotient graph with element absorption, mass elimination and merging of
/// indistinguishable variables.
/// @source [Amestoy et al. 1996]; [Pellegrini et al. 2000]
class HaloMinimumDegree {
 public:
  /// @param region  vertices, each once @param out  length of `region`: the same vertices in their new order,
  ///   a postorder of their elimination tree, so that later passes read near what they have just read
  /// @throws MemoryError
  /// @cost O(entries of the region · mean degree) in practice
  void order(const LevelGraph& graph, std::span<const index_t> region, std::span<index_t> out);

 private:
  using mark_t = std::int64_t;

  void load(const LevelGraph& graph, std::span<const index_t> region);
  index_t local(index_t vertex);
  void load_lists(const LevelGraph& graph, std::span<const index_t> region);
  void insert(index_t variable);
  void remove(index_t variable);
  index_t next_pivot();
  void make_room(index_t pivot);
  void eliminate(index_t pivot);
  void form_element(index_t pivot);
  void add_live(index_t variable);
  void measure_elements();
  void update_variables(index_t pivot);
  bool update_variable(index_t variable, index_t pivot);
  void merge_alike();
  bool are_alike(index_t kept, index_t other) const;
  void close_element(index_t pivot);
  void absorb(index_t into, index_t variable);
  void write_postorder(std::span<index_t> out);
  /// The head of the ring of variables of a degree.
  index_t head_of(index_t degree) const { return static_cast<index_t>(vertex_.size()) + degree; }
  bool is_halo(index_t variable) const { return variable >= inner_; }
  bool is_element(index_t node) const { return nodes_[node].elements < 0; }

  index_t inner_ = 0;         // nodes [0, inner_) are to be eliminated, the rest is halo
  index_t weight_left_ = 0;   // of all variables
  index_t lowest_ = 0;        // no variable has a smaller degree
  mark_t mark_ = 1;           // larger than all marks

  /// What the loops over an element need of its variables and of the elements beside it, in half a line of
  /// the cache. A node is a variable, then (eliminated) an element; absorbed ones have weight 0 or `seen` 0.
  struct Node {
    offset_t begin = 0;       // of its list in lists_
    mark_t seen = 1;          // of an element: mark + weight outside the new one; 0: absorbed
    index_t length = 0;       // of its list: elements, then variables; of an element: its variables
    index_t elements = 0;     // number of elements in a variable's list; −1: is an element
    index_t degree = 0;       // bound of a variable's external degree; weight of an element
    std::uint32_t hash = 0;   // of a variable's list
  };
  /// What a pivot needs besides.
  struct Links {
    // In the ring of equal degrees; `next` in the list of equal hashes meanwhile. Of a pivot: the pivot whose
    // element absorbed its own, or −1, and the number of vertices of both it and what it absorbed.
    index_t next, previous;
    index_t member_next, last_member;  // variables absorbed into this one
  };

  std::vector<index_t> local_;       // by vertex of the graph: node + 1, or 0
  std::vector<index_t> vertex_;      // by node
  std::vector<index_t> pivots_;      // in the order of elimination
  std::vector<Node> nodes_;
  std::vector<index_t> weight_;      // by node: of a live variable; negative while in the new element
  std::vector<Links> links_;         // by node, then by degree: heads of rings
  std::vector<index_t> first_of_hash_;         // by the last bits of a hash; −1 between uses
  std::vector<index_t> lists_;       // capacity; the first used_ entries are in use
  offset_t used_ = 0;
  offset_t element_begin_ = 0;       // of the new element
  index_t element_length_ = 0;
  index_t element_weight_ = 0;
};

}  // namespace palmette::order_detail
