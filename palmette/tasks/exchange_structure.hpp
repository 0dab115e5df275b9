// Inside `tasks`: what the exchanges of all ranks have in common: the boundaries of units, the contributors
// to each row and column, and the ranks in their trees.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "palmette/tasks/solve_exchange.hpp"
#include "palmette/tasks/sum_tree.hpp"

namespace palmette {

/// Rows of one unit in one supernode above it.
struct BoundarySegment {
  index_t unit;
  index_t row_supernode;
  index_t first;     // in the unit's boundary
  index_t count;
  offset_t block;    // number in symbolic.blocks; −1 if the unit is whole
};

/// What does not depend on a rank. Constant after construction.
class ExchangeStructure {
 public:
  /// @param symbolic, placement  must outlive this
  ExchangeStructure(const SymbolicFactor& symbolic, const Placement& placement, TreeShape shape);

  const SymbolicFactor& symbolic() const { return symbolic_; }
  const Placement& placement() const { return placement_; }
  index_t begin(index_t unit) const { return placement_.units.group_begin[unit]; }
  index_t num_units() const { return placement_.units.num_groups(); }
  bool is_whole(index_t unit) const { return placement_.is_whole[unit] != 0; }
  bool is_top(index_t s) const { return !is_whole(unit_of_[s]); }
  const BoundarySegment& segment(index_t at) const { return segments_[at]; }
  std::span<const BoundarySegment> segments_of(index_t unit) const {
    return std::span(segments_).subspan(segment_ptr_[unit], segment_ptr_[unit + 1] - segment_ptr_[unit]);
  }
  index_t unit_of(index_t s) const { return unit_of_[s]; }
  index_t first_segment(index_t unit) const { return segment_ptr_[unit]; }
  /// Segments that contribute to the rows of a supernode, ascending by unit.
  const std::vector<index_t>& in_row(index_t s) const { return in_row_[s]; }
  /// Rows below a unit, outside it.
  std::span<const index_t> boundary(index_t unit) const;
  std::span<const index_t> rows(const BoundarySegment& one) const {
    return boundary(one.unit).subspan(one.first, one.count);
  }
  index_t owner(const BoundarySegment& one) const {
    return placement_.owner(one.row_supernode, begin(one.unit));
  }

  CommunicationTree row_tree(index_t s) const;
  CommunicationTree column_tree(index_t s) const;
  /// Contributors are the entries of in_row(s).
  SumTree row_sums(index_t s) const;
  /// Contributors are the segments of the unit of s.
  SumTree column_sums(index_t s) const;

 private:
  void add_panel(index_t unit);
  void add_whole(index_t unit);

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  TreeShape shape_;
  std::vector<index_t> unit_of_;                              // length num_supernodes
  std::vector<BoundarySegment> segments_;                     // by unit
  std::vector<index_t> segment_ptr_;                          // length num_units + 1
  std::vector<std::vector<index_t>> in_row_;                  // by supernode
  std::vector<std::pair<offset_t, offset_t>> whole_boundary_;  // by unit: first and count in rows_
  std::vector<index_t> rows_;
};

/// What each position of a communication tree holds and sends, from the leaves up.
struct SumFlow {
  std::vector<std::vector<index_t>> own;  // by position: leaves of the sum tree, ascending
  std::vector<PartialSums> sums;          // by position
};

/// @param owner_of  rank of a contributor
template <class OwnerOf>
SumFlow sum_flow(const SumTree& tree, const CommunicationTree& ranks, OwnerOf&& owner_of) {
  SumFlow result;
  result.own.resize(ranks.size());
  result.sums.resize(ranks.size());
  for (index_t node = 0; node < tree.size(); ++node)
    if (const index_t leaf = tree.contributor[node]; leaf != -1)
      result.own[ranks.position_of(owner_of(leaf))].push_back(node);
  for (index_t position = ranks.size() - 1; position >= 0; --position) {
    std::vector<index_t> have = result.own[position];
    for (index_t child = ranks.first_child(position); child < ranks.end_child(position); ++child) {
      const auto& come = result.sums[child].outgoing;
      have.insert(have.end(), come.begin(), come.end());
    }
    result.sums[position] = partial_sums(tree, have);
  }
  return result;
}

/// The units and supernodes in which each rank takes part, ascending.
struct RankLists {
  std::vector<std::vector<index_t>> segments;  // by rank
  std::vector<std::vector<index_t>> wholes;    // by rank: units
  std::vector<std::vector<index_t>> tops;      // by rank: supernodes
};
RankLists rank_lists(const ExchangeStructure& known);

/// By supernode.
std::vector<Urgency> urgencies(const ExchangeStructure& known);

}  // namespace palmette
