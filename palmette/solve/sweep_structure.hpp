// Inside `solve`: how the supernodes of a factor are gathered into the tasks of a sweep, and where each row
// of a panel lies in the short vector that a task works on. Sees no values; one structure serves both sweeps
// and L and U alike.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "palmette/solve/engines.hpp"
#include "palmette/solve/supernode_bundles.hpp"

namespace palmette::solve_detail {

using Places = RowPlaces;

/// A *group* is a whole subtree of supernodes (or several small ones side by side), or one supernode above
/// them. Its task works on a local vector: the values of its own columns, then those of its *boundary*, the
/// rows further down that its columns touch. Forward, the boundary collects what the group subtracts from its
/// ancestors, and the parent group adds the boundaries of its children in ascending order, so the tree gives
/// the order of every sum.
class SweepGroups {
 public:
  /// @param entry_bytes  bytes that a sweep reads for one entry of the factor
  /// @param group_bytes  largest subtree that is one group; 0: the default, which depends on the structure
  ///   alone
  SweepGroups(std::shared_ptr<const SymbolicFactor> symbolic, int entry_bytes, double group_bytes = 0);

  /// With these groups, and no bundles.
  SweepGroups(std::shared_ptr<const SymbolicFactor> symbolic, int entry_bytes, TreePartition groups);

  const SymbolicFactor& symbolic() const { return *symbolic_; }
  int entry_bytes() const { return entry_bytes_; }
  const TreePartition& partition() const { return partition_; }
  index_t num_groups() const { return partition_.num_groups(); }
  index_t supernode_begin(index_t group) const { return partition_.group_begin[group]; }
  index_t supernode_end(index_t group) const { return partition_.group_begin[group + 1]; }
  index_t column_begin(index_t group) const { return symbolic_->supernode_begin[supernode_begin(group)]; }
  index_t num_columns(index_t group) const {
    return symbolic_->supernode_begin[supernode_end(group)] - column_begin(group);
  }
  /// Global rows of the boundary, ascending.
  std::span<const index_t> boundary(index_t group) const {
    return {boundary_row_.data() + boundary_ptr_[group],
            static_cast<std::size_t>(boundary_ptr_[group + 1] - boundary_ptr_[group])};
  }
  /// Where the values of a boundary are passed on, of total_boundary() rows. Groups share rows where no
  /// schedule computes them at the same time: those of a group's grandchildren and their descendants have
  /// been read before the group begins.
  offset_t boundary_offset(index_t group) const { return boundary_place_[group]; }
  offset_t total_boundary() const { return total_boundary_; }
  /// The child that has all of the boundary of `group` at the end of its own; both lie in the same place. −1:
  /// none.
  index_t child_in_place(index_t group) const { return child_in_place_[group]; }
  /// Where the rows below supernode s lie in the local vector of its group.
  PALMETTE_INLINE Places local_rows(index_t s) const {
    return places(row_start_[s], row_list_, symbolic_->num_rows_below(s));
  }
  PALMETTE_INLINE Places local_rows(const SingleSupernode& one) const {
    return places(one.rows, row_list_, one.rows_below);
  }
  offset_t row_start(index_t s) const { return row_start_[s]; }  ///< for SingleSupernode
  std::span<const index_t> children(index_t group) const {
    return {child_.data() + child_ptr_[group],
            static_cast<std::size_t>(child_ptr_[group + 1] - child_ptr_[group])};
  }
  /// Where the boundary of a group lies in the local vector of its parent.
  Places places_in_parent(index_t group) const {
    return places(up_start_[group], up_list_, static_cast<index_t>(boundary(group).size()));
  }
  /// What is computed side by side for one right-hand side.
  const SupernodeBundles& bundles() const { return bundles_; }
  /// Offsets of the w × w diagonal blocks when they are stored one after another, length num_supernodes + 1.
  offset_t block_offset(index_t s) const { return block_offset_[s]; }

  index_t longest_local() const { return longest_local_; }      ///< entries of the longest local vector
  index_t widest_supernode() const { return widest_; }
  index_t most_rows_below() const { return most_rows_below_; }

  const SweepSchedule& forward() const { return forward_; }
  const SweepSchedule& backward() const { return backward_; }  ///< task t is group num_groups − 1 − t
  /// Multiplications of one sweep with one right-hand side.
  double entries() const { return entries_; }
  offset_t memory_bytes() const;

 private:
  // Start ≥ 0: contiguous from there; otherwise the list begins at −1 − start.
  PALMETTE_INLINE Places places(offset_t start, const std::vector<index_t>& list, index_t count) const {
    if (start >= 0) return {static_cast<index_t>(start), nullptr, count};
    return {0, list.data() + (-1 - start), count};
  }
  std::vector<double> measure();  // bytes of each supernode
  void find_groups(double group_bytes);
  void find_children();
  void find_boundaries();
  void find_children_in_place();
  void place_boundaries();
  void find_local_rows();
  void find_places_in_parents();
  void make_graphs();
  index_t local_place(index_t group, index_t row) const;

  std::shared_ptr<const SymbolicFactor> symbolic_;
  int entry_bytes_;
  TreePartition partition_;
  std::vector<offset_t> boundary_ptr_;  // length num_groups + 1
  std::vector<index_t> boundary_row_;
  std::vector<offset_t> boundary_place_;  // length num_groups
  offset_t total_boundary_ = 0;
  std::vector<index_t> child_in_place_;   // length num_groups
  std::vector<offset_t> row_start_;     // length num_supernodes, as in places()
  std::vector<index_t> row_list_;
  std::vector<offset_t> up_start_;      // length num_groups, as in places()
  std::vector<index_t> up_list_;
  std::vector<offset_t> child_ptr_;     // length num_groups + 1
  std::vector<index_t> child_;          // ascending within a group
  std::vector<offset_t> block_offset_;
  SupernodeBundles bundles_;
  SweepSchedule forward_;
  SweepSchedule backward_;
  index_t longest_local_ = 0;
  index_t widest_ = 0;
  index_t most_rows_below_ = 0;
  double entries_ = 0;
};

}  // namespace palmette::solve_detail
