// Placement on a grid, and of subtrees on parts of it.
#include "palmette/place/place_apart.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {

index_t number_of_grid(Placement& placement, const RankGrid& grid) {
  const auto same = [&](const RankGrid& other) {
    return other.first == grid.first && other.grid.rows == grid.grid.rows &&
           other.grid.cols == grid.grid.cols;
  };
  const auto found = std::find_if(placement.grids.begin(), placement.grids.end(), same);
  const auto number = static_cast<index_t>(found - placement.grids.begin());
  if (found == placement.grids.end()) placement.grids.push_back(grid);
  return number;
}

namespace {

/// Number of multiplications of a supernode's own columns and of the updates that they cause: the work that
/// is divided.
std::vector<double> subtree_work(const SymbolicFactor& symbolic) {
  std::vector<double> work(symbolic.num_supernodes());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s), rows = width + symbolic.num_rows_below(s);
    work[s] += width * rows * rows;
    if (symbolic.parent[s] != -1)
      work[symbolic.parent[s]] += work[s];
  }
  return work;
}

void give_to_one(Placement& placement, index_t unit, index_t rank) {
  const index_t number = number_of_grid(placement, {rank, {1, 1}});
  for (index_t s = placement.units.group_begin[unit];
       s < placement.units.group_begin[unit + 1]; ++s)
    placement.grid_of[s] = number;
}

/// Assigns whole subtrees to ranks in order, as many as make up each rank's part of the work; the rest is
/// distributed over the whole grid.
void deal_out(const SymbolicFactor& symbolic, Placement& placement) {
  placement.grids.push_back({0, placement.grid});
  placement.grid_of.assign(symbolic.num_supernodes(), 0);
  const std::vector<double> work = subtree_work(symbolic);
  std::vector<double> of_unit(placement.units.num_groups());
  double all = 0, before = 0;
  for (index_t s = 0, unit = 0; s < symbolic.num_supernodes(); ++s) {
    while (s >= placement.units.group_begin[unit + 1]) ++unit;
    const bool is_root =
        symbolic.parent[s] == -1 ||
        symbolic.parent[s] >= placement.units.group_begin[unit + 1];
    if (is_root && placement.is_whole[unit] != 0)
      of_unit[unit] += work[s];
  }
  for (const double part : of_unit) all += part;
  for (index_t unit = 0; unit < placement.units.num_groups(); ++unit) {
    if (placement.is_whole[unit] == 0) continue;
    const double middle = all > 0 ? (before + of_unit[unit] / 2) / all : 0;
    give_to_one(placement, unit,
                std::min(static_cast<index_t>(middle * placement.num_ranks()), placement.num_ranks() - 1));
    before += of_unit[unit];
  }
}

/// Gives each supernode, roots first, the ranks of its parent or a part of them.
class SubtreeMapper {
 public:
  SubtreeMapper(const SymbolicFactor& symbolic, Placement begun)
      : symbolic_(symbolic),
        placement_(std::move(begun)),
        work_(subtree_work(symbolic)),
        share_(work_.size()) {
    placement_.grid_of.resize(work_.size());
  }

  /// @param units  whole subtrees get one rank each: the one in the middle of their share
  Placement run() {
    const double all = placement_.grid.num_ranks();
    double roots = 0;
    for (index_t s = 0; s < symbolic_.num_supernodes(); ++s)
      if (symbolic_.parent[s] == -1) roots += work_[s];
    double next_root = 0;
    std::vector<double> next_child(work_.size());  // the begin of the next child's share
    for (index_t s = symbolic_.num_supernodes() - 1; s >= 0; --s) {
      const auto place = static_cast<std::size_t>(s);
      const index_t parent = symbolic_.parent[s];
      double& next = parent == -1 ? next_root : next_child[parent];
      const Share whole = parent == -1 ? Share{0, all} : share_[parent];
      const double below = parent == -1 ? roots : work_[parent] - own_work(parent);
      if (parent == -1 && s == symbolic_.num_supernodes() - 1) next = 0;
      const double length = below > 0 ? (whole.end - whole.begin) * work_[place] / below : 0;
      share_[place] = {next, std::min(next + length, whole.end)};
      next = share_[place].end;
      next_child[place] = share_[place].begin;
      assign(place);
    }
    for (index_t unit = 0; unit < placement_.units.num_groups(); ++unit) gather(unit);
    return std::move(placement_);
  }

 private:
  struct Share {
    double begin = 0;
    double end = 0;
  };
  double own_work(index_t s) const {
    const double width = symbolic_.width(s), rows = width + symbolic_.num_rows_below(s);
    return width * rows * rows;
  }
  /// The ranks that a share overlaps; consecutive supernodes often have the same ranks.
  void assign(std::size_t s) {
    const index_t ranks = placement_.grid.num_ranks();
    const auto first = std::min(static_cast<index_t>(share_[s].begin), ranks - 1);
    const auto end = std::clamp(static_cast<index_t>(std::ceil(share_[s].end - 1e-9)), first + 1, ranks);
    const bool whole = first == 0 && end == ranks;
    const RankGrid grid{first, whole ? placement_.grid : nearly_square_grid(end - first)};
    placement_.grid_of[s] = number_of_grid(placement_, grid);
  }

  void gather(index_t unit) {
    if (placement_.is_whole[unit] == 0) return;
    const index_t begin = placement_.units.group_begin[unit],
                  end = placement_.units.group_begin[unit + 1];
    const double middle =
        (share_[begin].begin + share_[end - 1].end) / 2;
    give_to_one(placement_, unit, std::clamp(static_cast<index_t>(middle), 0, placement_.num_ranks() - 1));
  }

  const SymbolicFactor& symbolic_;
  Placement placement_;
  std::vector<double> work_;  // of whole subtrees
  std::vector<Share> share_;
};

}  // namespace

ProcessGrid nearly_square_grid(index_t num_ranks) {
  if (num_ranks < 1)
    throw UsageError("a process grid of " + std::to_string(num_ranks) + " ranks; there must be at least 1");
  auto cols = static_cast<index_t>(std::sqrt(static_cast<double>(num_ranks)) + 1e-9);
  while (num_ranks % cols != 0) --cols;
  return {num_ranks / cols, cols};
}

std::string_view name_of(PlacementMap map) {
  return map == PlacementMap::block_cyclic ? "block_cyclic" : "subtree_to_subcube";
}

PlacementMap placement_map(std::string_view name) {
  return choice_named("map", name, placement_maps);
}

namespace {

/// A unit of several supernodes is a whole subtree, and so is a single leaf of the tree, unless it is set
/// apart.
std::vector<char> whole_units(const SymbolicFactor& symbolic, const TreePartition& units,
                              const std::vector<char>& apart) {
  std::vector<char> result(units.num_groups(), 0);
  for (std::size_t unit = 0; unit < result.size(); ++unit) {
    const index_t begin = units.group_begin[unit];
    const bool subtree = units.group_begin[unit + 1] > begin + 1 || symbolic.first_descendant[begin] == begin;
    result[unit] = subtree && (apart.empty() || apart[begin] == 0);
  }
  return result;
}

}  // namespace

Placement place_apart(const SymbolicFactor& symbolic, ProcessGrid grid, PlacementMap map,
                      const WholeSubtrees& whole, Apart apart) {
  if (grid.rows < 1 || grid.cols < 1)
    throw UsageError("a process grid of " + std::to_string(grid.rows) + " × " + std::to_string(grid.cols) +
                     " has no ranks; both sides must be at least 1");
  Placement placement{grid, symbolic.num_supernodes(), map, {}, {}, {}, {}, std::move(apart.number)};
  // Without whole subtrees each supernode is a unit: no subtree has so few entries.
  placement.units = whole.kept ? sweep_groups(symbolic, whole.max_entries, apart.marks)
                               : partition_tree(symbolic, sweep_entries(symbolic), 0);
  if (whole.kept) placement.is_whole = whole_units(symbolic, placement.units, apart.marks);
  else placement.is_whole.assign(placement.units.num_groups(), 0);
  if (map == PlacementMap::block_cyclic) {
    if (whole.kept) deal_out(symbolic, placement);
    return placement;
  }
  placement = SubtreeMapper(symbolic, std::move(placement)).run();
  for (std::size_t s = 0; s < apart.marks.size(); ++s)
    if (apart.marks[s] != 0) placement.grid_of[s] = number_of_grid(placement, {0, grid});
  return placement;
}

Placement place(const SymbolicFactor& symbolic, ProcessGrid grid, PlacementMap map,
                const WholeSubtrees& whole) {
  return place_apart(symbolic, grid, map, whole, {});
}

Placement with_last_over_all(Placement placement, index_t first) {
  if (!placement.grid_of.empty()) {
    const index_t all = number_of_grid(placement, {0, placement.grid});
    std::fill(placement.grid_of.begin() + first, placement.grid_of.end(), all);
  }
  TreePartition units;
  std::vector<char> is_whole;
  for (index_t unit = 0; unit < placement.units.num_groups(); ++unit) {
    if (placement.units.group_begin[unit] >= first) break;
    units.group_begin.push_back(std::min(placement.units.group_begin[unit + 1], first));
    units.parent.push_back(placement.units.parent[unit]);
    is_whole.push_back(placement.is_whole[unit]);
  }
  for (index_t s = first; s < placement.num_supernodes; ++s) {
    units.group_begin.push_back(s + 1);
    units.parent.push_back(-1);
    is_whole.push_back(0);
  }
  placement.units = std::move(units);
  placement.is_whole = std::move(is_whole);
  return placement;
}

}  // namespace palmette
