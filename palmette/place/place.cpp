// Placement on a grid, and of subtrees on parts of it.
#include "palmette/place/placement.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {
namespace {

/// Multiplications of a supernode's own columns and of the updates that they cause: what is shared out.
std::vector<double> subtree_work(const SymbolicFactor& symbolic) {
  std::vector<double> work(static_cast<std::size_t>(symbolic.num_supernodes()));
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s), rows = width + symbolic.num_rows_below(s);
    work[static_cast<std::size_t>(s)] += width * rows * rows;
    if (symbolic.parent[s] != -1) work[static_cast<std::size_t>(symbolic.parent[s])] += work[static_cast<std::size_t>(s)];
  }
  return work;
}

/// Gives each supernode, roots first, the ranks of its parent or a part of them.
class SubtreeMapper {
 public:
  SubtreeMapper(const SymbolicFactor& symbolic, ProcessGrid grid)
      : symbolic_(symbolic), work_(subtree_work(symbolic)), share_(work_.size()) {
    placement_.grid = grid;
    placement_.num_supernodes = symbolic.num_supernodes();
    placement_.map = PlacementMap::subtree_to_subcube;
    placement_.grid_of.resize(work_.size());
  }

  Placement run() {
    const double all = placement_.grid.num_ranks();
    double roots = 0;
    for (index_t s = 0; s < symbolic_.num_supernodes(); ++s)
      if (symbolic_.parent[s] == -1) roots += work_[static_cast<std::size_t>(s)];
    double next_root = 0;
    std::vector<double> next_child(work_.size());  // where the next child's share begins
    for (index_t s = symbolic_.num_supernodes() - 1; s >= 0; --s) {
      const auto place = static_cast<std::size_t>(s);
      const index_t parent = symbolic_.parent[s];
      double& next = parent == -1 ? next_root : next_child[static_cast<std::size_t>(parent)];
      const Share whole = parent == -1 ? Share{0, all} : share_[static_cast<std::size_t>(parent)];
      const double below = parent == -1 ? roots : work_[static_cast<std::size_t>(parent)] - own_work(parent);
      if (parent == -1 && s == symbolic_.num_supernodes() - 1) next = 0;
      const double length = below > 0 ? (whole.end - whole.begin) * work_[place] / below : 0;
      share_[place] = {next, std::min(next + length, whole.end)};
      next = share_[place].end;
      next_child[place] = share_[place].begin;
      assign(place);
    }
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
  /// The ranks that a share touches; consecutive supernodes often have the same.
  void assign(std::size_t s) {
    const index_t ranks = placement_.grid.num_ranks();
    const auto first = std::min(static_cast<index_t>(share_[s].begin), ranks - 1);
    const auto end = std::clamp(static_cast<index_t>(std::ceil(share_[s].end - 1e-9)), first + 1, ranks);
    const bool whole = first == 0 && end == ranks;
    const RankGrid grid{first, whole ? placement_.grid : nearly_square_grid(end - first)};
    const auto same = [&](const RankGrid& other) { return other.first == grid.first && other.grid.num_ranks() == grid.grid.num_ranks(); };
    const auto found = std::find_if(placement_.grids.begin(), placement_.grids.end(), same);
    placement_.grid_of[s] = static_cast<index_t>(found - placement_.grids.begin());
    if (found == placement_.grids.end()) placement_.grids.push_back(grid);
  }

  const SymbolicFactor& symbolic_;
  std::vector<double> work_;  // of whole subtrees
  std::vector<Share> share_;
  Placement placement_;
};

}  // namespace

ProcessGrid nearly_square_grid(index_t num_ranks) {
  if (num_ranks < 1) throw UsageError("a process grid of " + std::to_string(num_ranks) + " ranks; there must be at least 1");
  auto cols = static_cast<index_t>(std::sqrt(static_cast<double>(num_ranks)) + 1e-9);
  while (num_ranks % cols != 0) --cols;
  return {num_ranks / cols, cols};
}

std::string_view name_of(PlacementMap map) { return map == PlacementMap::block_cyclic ? "block_cyclic" : "subtree_to_subcube"; }

PlacementMap placement_map(std::string_view name) {
  for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
    if (name == name_of(map)) return map;
  throw UsageError("no map is called \"" + std::string(name) + "\"; there are block_cyclic and subtree_to_subcube");
}

Placement place(const SymbolicFactor& symbolic, ProcessGrid grid, PlacementMap map) {
  if (grid.rows < 1 || grid.cols < 1)
    throw UsageError("a process grid of " + std::to_string(grid.rows) + " × " + std::to_string(grid.cols) +
                     " has no ranks; both sides must be at least 1");
  if (map == PlacementMap::subtree_to_subcube) return SubtreeMapper(symbolic, grid).run();
  return {grid, symbolic.num_supernodes(), map, {}, {}};
}

}  // namespace palmette
