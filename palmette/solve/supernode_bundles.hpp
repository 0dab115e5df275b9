// Inside `solve`: which supernodes a sweep with one right-hand side computes side by side.
#pragma once

#include <span>
#include <vector>

#include "palmette/blocks/blocks.hpp"

namespace palmette::solve_detail {

class SweepGroups;

/// Supernodes of one group, of one width, none of which is above another, and which have no row below in
/// common: in any order they give every row the same bits.
struct SupernodeBundle {
  index_t count = 0;             ///< ≤ bundle_lanes: supernodes, in the first lanes
  index_t width = 0;
  index_t rows_below = 0;        ///< of the supernode that has most
  offset_t places = 0;           ///< where those of its PanelBundle begin
  offset_t entries_before = 0;   ///< bundle_entries() of the bundles before it
  offset_t squares_before = 0;   ///< the same with square blocks
  offset_t entries(bool square) const { return bundle_entries(width, rows_below, square); }
  offset_t before(bool square) const { return square ? squares_before : entries_before; }
};

/// A supernode that is in no bundle, with all that a sweep needs to know of its structure, since look-ups in
/// several arrays would take a good part of the time of most of them.
struct SingleSupernode {
  index_t supernode = 0;
  index_t own = 0;         ///< place of its first row in the local vector of its group
  index_t width = 0;
  index_t rows_below = 0;
  offset_t rows = 0;       ///< where these lie: see SweepGroups::local_rows
};

/// The bundles of all groups. They hold whole branches from the leaves up, so that a group's bundles come
/// first in a forward sweep, and last in a backward one; its other supernodes keep their order. Bundles
/// change this order and nothing else: a supernode that is computed by itself gives the same bits.
class SupernodeBundles {
 public:
  SupernodeBundles() = default;  ///< none, and no singles
  /// @param fills  whether bundles are made; else all supernodes are singles
  SupernodeBundles(const SweepGroups& groups, bool fills);

  index_t count() const { return static_cast<index_t>(bundle_.size()); }
  /// The bundles of a group.
  index_t begin(index_t group) const { return bundle_.empty() ? 0 : bundle_ptr_[group]; }
  index_t end(index_t group) const { return bundle_.empty() ? 0 : bundle_ptr_[group + 1]; }
  bool any_in(index_t group) const { return begin(group) < end(group); }
  const SupernodeBundle& operator[](index_t bundle) const { return bundle_[bundle]; }
  /// Its supernodes, one in each of the first lanes.
  std::span<const index_t> members(index_t bundle) const {
    return {member_.data() + offset_t{bundle} * bundle_lanes,
            static_cast<std::size_t>(bundle_[bundle].count)};
  }
  const index_t* places(index_t bundle) const { return place_.data() + bundle_[bundle].places; }
  /// The supernodes of a group that are in no bundle, ascending.
  std::span<const SingleSupernode> singles(index_t group) const {
    return {single_.data() + single_ptr_[group],
            static_cast<std::size_t>(single_ptr_[group + 1] - single_ptr_[group])};
  }
  bool holds(index_t supernode) const { return !held_.empty() && held_[supernode] != 0; }
  /// Scalars of all bundles.
  offset_t entries(bool square) const {
    return bundle_.empty() ? 0 : bundle_.back().before(square) + bundle_.back().entries(square);
  }
  offset_t memory_bytes() const;

 private:
  class Builder;

  std::vector<SupernodeBundle> bundle_;
  std::vector<index_t> bundle_ptr_;  // length num_groups + 1
  std::vector<index_t> member_;      // length bundle_lanes · count(); −1 behind the last of a bundle
  std::vector<index_t> place_;
  std::vector<index_t> single_ptr_;  // length num_groups + 1
  std::vector<SingleSupernode> single_;
  std::vector<char> held_;           // length num_supernodes; empty: nothing is held
};

}  // namespace palmette::solve_detail
