// Fills bundles level by level from the leaves, with supernodes of about as many rows.
#include "palmette/solve/supernode_bundles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "palmette/solve/sweep_structure.hpp"

namespace palmette::solve_detail {
namespace {

/// Supernodes that make a bundle: fewer are faster one by one.
constexpr int fewest_members = 5;
/// Zeros fill up those that have fewer rows than others.
constexpr index_t most_rows_bundled = 64;
constexpr index_t most_rows_beside(index_t fewest) { return fewest + fewest / 4 + 2; }

/// A bundle that is not full yet.
struct OpenBundle {
  std::array<index_t, bundle_lanes> member{};
  int count = 0;
  index_t fewest_rows = 0;
};
/// Several are filled at once, since neighbours have rows in common and go to different ones.
constexpr int most_open = 8;

}  // namespace

class SupernodeBundles::Builder {
 public:
  Builder(const SweepGroups& groups, SupernodeBundles& made)
      : groups_(groups), symbolic_(groups.symbolic()), made_(made), taken_(groups.longest_local()) {
    made_.held_.assign(symbolic_.num_supernodes(), 0);
    made_.bundle_ptr_ = made_.single_ptr_ = {0};
  }

  void add_group(index_t group, bool fills) {
    begin_ = groups_.supernode_begin(group), end_ = groups_.supernode_end(group);
    spare_place_ = groups_.num_columns(group) + static_cast<index_t>(groups_.boundary(group).size());
    if (fills && end_ - begin_ >= fewest_members)
      for (const std::vector<index_t>& level : levels()) add_level(level);
    for (index_t s = begin_; s < end_; ++s)
      if (!made_.held_[s])
        made_.single_.push_back({s, symbolic_.supernode_begin[s] - first_column(), symbolic_.width(s),
                                 symbolic_.num_rows_below(s), groups_.row_start(s)});
    made_.bundle_ptr_.push_back(made_.count());
    made_.single_ptr_.push_back(static_cast<index_t>(made_.single_.size()));
  }

 private:
  bool is_inside(index_t s) const { return s != -1 && s < end_; }

  /// The supernodes of the group by their height above leaves.
  const std::vector<std::vector<index_t>>& levels() {
    height_.assign(end_ - begin_, 0);
    blocked_.assign(end_ - begin_, 0);
    for (std::vector<index_t>& level : levels_) level.clear();
    for (index_t s = begin_; s < end_; ++s) {
      const index_t height = height_[s - begin_], parent = symbolic_.parent[s];
      if (height >= static_cast<index_t>(levels_.size())) levels_.resize(height + 1);
      levels_[height].push_back(s);
      if (is_inside(parent)) height_[parent - begin_] = std::max(height_[parent - begin_], height + 1);
    }
    return levels_;
  }

  void add_level(const std::vector<index_t>& level) {
    sorted_.clear();
    for (const index_t s : level) {
      const index_t width = symbolic_.width(s), rows = symbolic_.num_rows_below(s);
      if (width > widest_bundled || rows > most_rows_bundled || blocked_[s - begin_]) continue;
      sorted_.push_back(std::uint64_t(width) << 48 | std::uint64_t(rows) << 32 | std::uint64_t(s));
    }
    std::sort(sorted_.begin(), sorted_.end());
    index_t width = 0;
    for (const std::uint64_t key : sorted_) {
      const auto s = static_cast<index_t>(key & 0xffffffffu);
      if (symbolic_.width(s) != width) close_all();
      width = symbolic_.width(s);
      add(s);
    }
    close_all();
    // What is above a supernode that is computed alone must come after it, and so after all bundles.
    for (const index_t s : level)
      if (!made_.held_[s] && is_inside(symbolic_.parent[s])) blocked_[symbolic_.parent[s] - begin_] = 1;
  }

  void add(index_t s) {
    const RowPlaces rows = groups_.local_rows(s);
    unsigned hit = 0;
    for (index_t k = 0; k < rows.count; ++k) hit |= taken_[rows[k]];
    int chosen = -1;
    for (int number = 0; number < most_open; ++number) {
      OpenBundle& one = open_[number];
      if (one.count > 0 && rows.count > most_rows_beside(one.fewest_rows)) close(number);
      if ((hit >> number & 1) != 0 && one.count > 0) continue;
      if (chosen == -1 || one.count > open_[chosen].count) chosen = number;
    }
    if (chosen == -1) {
      const auto fullest = std::max_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
        return a.count < b.count;
      });
      chosen = static_cast<int>(fullest - open_.begin());
      close(chosen);
    }
    put(s, rows, chosen);
  }

  void put(index_t s, const RowPlaces& rows, int number) {
    OpenBundle& one = open_[number];
    if (one.count == 0) one.fewest_rows = rows.count;
    one.member[one.count++] = s;
    for (index_t k = 0; k < rows.count; ++k) taken_[rows[k]] |= static_cast<unsigned char>(1u << number);
    if (one.count == bundle_lanes) close(number);
  }

  void close_all() {
    for (int number = 0; number < most_open; ++number) close(number);
  }
  void close(int number) {
    OpenBundle& one = open_[number];
    for (int lane = 0; lane < one.count; ++lane) {
      const RowPlaces rows = groups_.local_rows(one.member[lane]);
      for (index_t k = 0; k < rows.count; ++k) taken_[rows[k]] &= static_cast<unsigned char>(~(1u << number));
    }
    if (one.count >= fewest_members) keep(one);
    one.count = 0;
  }

  void keep(const OpenBundle& one) {
    SupernodeBundle bundle;
    bundle.count = one.count;
    bundle.width = symbolic_.width(one.member[0]);
    bundle.rows_below = symbolic_.num_rows_below(one.member[one.count - 1]);  // they ascend
    bundle.places = static_cast<offset_t>(made_.place_.size());
    bundle.entries_before = made_.entries(false);
    bundle.squares_before = made_.entries(true);
    made_.bundle_.push_back(bundle);
    const auto member = [&](int lane) { return lane < one.count ? one.member[lane] : -1; };
    for (int lane = 0; lane < bundle_lanes; ++lane) {
      const index_t s = member(lane);
      made_.member_.push_back(s);
      if (s != -1) made_.held_[s] = 1;
      made_.place_.push_back(s == -1 ? spare_place_ : symbolic_.supernode_begin[s] - first_column());
    }
    for (index_t row = 0; row < bundle.rows_below; ++row)
      for (int lane = 0; lane < bundle_lanes; ++lane) {
        const bool is_there = lane < one.count && row < symbolic_.num_rows_below(member(lane));
        made_.place_.push_back(is_there ? groups_.local_rows(member(lane))[row] : spare_place_);
      }
  }
  index_t first_column() const { return symbolic_.supernode_begin[begin_]; }

  const SweepGroups& groups_;
  const SymbolicFactor& symbolic_;
  SupernodeBundles& made_;
  index_t begin_ = 0, end_ = 0;  // supernodes of the group
  index_t spare_place_ = 0;      // behind its local vector
  std::vector<index_t> height_;
  std::vector<char> blocked_;    // some child is computed alone
  std::vector<std::vector<index_t>> levels_;
  std::vector<std::uint64_t> sorted_;          // width, rows, supernode
  std::array<OpenBundle, most_open> open_;
  std::vector<unsigned char> taken_;  // of each local place: a bit for each open bundle that has this row
};

SupernodeBundles::SupernodeBundles(const SweepGroups& groups, bool fills) {
  Builder builder(groups, *this);
  for (index_t group = 0; group < groups.num_groups(); ++group) builder.add_group(group, fills);
  place_.shrink_to_fit();
  single_.shrink_to_fit();
}

offset_t SupernodeBundles::memory_bytes() const {
  const auto bytes = [](const auto& list) {
    return static_cast<offset_t>(list.capacity() * sizeof(list[0]));
  };
  return bytes(bundle_) + bytes(bundle_ptr_) + bytes(member_) + bytes(place_) + bytes(single_ptr_) +
         bytes(single_) + bytes(held_);
}

}  // namespace palmette::solve_detail
