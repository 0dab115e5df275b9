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
  /// @param region  vertices, each once @param out  length of `region`: the same vertices in their new order
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
  bool is_halo(index_t variable) const { return variable >= inner_; }
  bool is_element(index_t node) const { return elements_[node] < 0; }

  index_t inner_ = 0;         // nodes [0, inner_) are to be eliminated, the rest is halo
  index_t weight_left_ = 0;   // of all variables
  index_t lowest_ = 0;        // no variable has a smaller degree
  mark_t mark_ = 1;           // larger than all marks

  std::vector<index_t> local_;       // by vertex of the graph: node + 1, or 0
  std::vector<index_t> vertex_;      // by node
  // By node. A node is a variable, then (eliminated) an element; absorbed ones have weight 0 or seen_ 0.
  std::vector<offset_t> begin_;      // of its list in lists_
  std::vector<index_t> length_;      // of its list: elements, then variables; of an element: its variables
  std::vector<index_t> elements_;    // number of elements in a variable's list; −1: is an element
  std::vector<index_t> weight_;      // of a live variable; negative while in the new element
  std::vector<index_t> degree_;      // bound of a variable's external degree; weight of an element
  std::vector<mark_t> seen_;         // of an element: mark + weight outside the new one; 0: absorbed
  std::vector<index_t> next_, previous_;       // links in the list of equal degrees
  std::vector<index_t> member_next_, last_member_;  // variables absorbed into this one
  std::vector<std::uint32_t> hash_;
  std::vector<index_t> alike_next_;
  std::vector<index_t> first_of_degree_;       // by degree
  std::vector<index_t> first_of_hash_;         // by hash
  std::vector<index_t> lists_;       // capacity; the first used_ entries are in use
  offset_t used_ = 0;
  offset_t element_begin_ = 0;       // of the new element
  index_t element_length_ = 0;
  index_t element_weight_ = 0;
};

}  // namespace palmette::order_detail
