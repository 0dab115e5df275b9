// Boundaries of units, found once for all ranks.
#include "palmette/tasks/exchange_structure.hpp"

#include <algorithm>

namespace palmette {

ExchangeStructure::ExchangeStructure(const SymbolicFactor& symbolic, const Placement& placement,
                                     TreeShape shape)
    : symbolic_(symbolic),
      placement_(placement),
      shape_(shape),
      unit_of_(symbolic.num_supernodes()),
      in_row_(unit_of_.size()) {
  for (index_t unit = 0; unit < num_units(); ++unit) {
    for (index_t s = begin(unit); s < begin(unit + 1); ++s) unit_of_[s] = unit;
    segment_ptr_.push_back(static_cast<index_t>(segments_.size()));
    if (is_whole(unit)) add_whole(unit);
    else add_panel(unit);
  }
  segment_ptr_.push_back(static_cast<index_t>(segments_.size()));
  for (std::size_t at = 0; at < segments_.size(); ++at)
    in_row_[segments_[at].row_supernode].push_back(static_cast<index_t>(at));
}

void ExchangeStructure::add_panel(index_t unit) {
  whole_boundary_.push_back({0, 0});
  const index_t s = begin(unit);
  offset_t number = symbolic_.block_ptr[s];
  for (const Block& block : symbolic_.blocks_of(s))
    segments_.push_back({unit, block.row_supernode, block.first, block.count, number++});
}

void ExchangeStructure::add_whole(index_t unit) {
  std::vector<index_t> all;
  for (index_t s = begin(unit); s < begin(unit + 1); ++s)
    if (symbolic_.parent[s] == -1 || symbolic_.parent[s] >= begin(unit + 1))
      all.insert(all.end(), symbolic_.rows_below(s).begin(), symbolic_.rows_below(s).end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  whole_boundary_.push_back({static_cast<offset_t>(rows_.size()), static_cast<offset_t>(all.size())});
  rows_.insert(rows_.end(), all.begin(), all.end());
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    const index_t row = symbolic_.supernode_of[all[first]];
    while (end < all.size() && symbolic_.supernode_of[all[end]] == row) ++end;
    segments_.push_back({unit, row, static_cast<index_t>(first), static_cast<index_t>(end - first), -1});
  }
}

std::span<const index_t> ExchangeStructure::boundary(index_t unit) const {
  if (!is_whole(unit)) return symbolic_.rows_below(begin(unit));
  const auto& [first, count] = whole_boundary_[unit];
  return std::span(rows_).subspan(first, count);
}

CommunicationTree ExchangeStructure::row_tree(index_t s) const {
  std::vector<index_t> ranks;
  for (const index_t at : in_row(s)) ranks.push_back(owner(segment(at)));
  return communication_tree(shape_, placement_.owner(s, s), std::move(ranks));
}

CommunicationTree ExchangeStructure::column_tree(index_t s) const {
  std::vector<index_t> ranks;
  for (const BoundarySegment& one : segments_of(unit_of_[s])) ranks.push_back(owner(one));
  return communication_tree(shape_, placement_.owner(s, s), std::move(ranks));
}

SumTree ExchangeStructure::row_sums(index_t s) const {
  const std::vector<index_t>& who = in_row(s);
  // −1 if the unit does not contribute.
  const auto position = [&](index_t unit) {
    const auto found = std::lower_bound(who.begin(), who.end(), unit,
                                        [&](index_t at, index_t u) { return segment(at).unit < u; });
    return found == who.end() || segment(*found).unit != unit ? -1
                                                              : static_cast<index_t>(found - who.begin());
  };
  // In a layer's structure, the unit above need not contribute: then the next contributing one is taken, or
  // none.
  std::vector<index_t> parent;
  for (const index_t at : who) {
    index_t above = placement_.units.parent[segment(at).unit], place = -1;
    while (above != -1 && above < unit_of_[s] && (place = position(above)) == -1)
      above = placement_.units.parent[above];
    parent.push_back(place);
  }
  return sum_along_forest(parent);
}

SumTree ExchangeStructure::column_sums(index_t s) const {
  std::vector<index_t> row_blocks;
  for (const BoundarySegment& one : segments_of(unit_of_[s]))
    row_blocks.push_back(placement_.number_of(one.row_supernode));
  return sum_by_classes(row_blocks);
}

RankLists rank_lists(const ExchangeStructure& known) {
  const Placement& placement = known.placement();
  const auto ranks = static_cast<std::size_t>(placement.num_ranks());
  RankLists lists{std::vector<std::vector<index_t>>(ranks), std::vector<std::vector<index_t>>(ranks),
                  std::vector<std::vector<index_t>>(ranks)};
  for (index_t unit = 0; unit < known.num_units(); ++unit) {
    if (known.is_whole(unit))
      lists.wholes[placement.owner(known.begin(unit), known.begin(unit))].push_back(unit);
    index_t at = known.first_segment(unit);
    for (const BoundarySegment& one : known.segments_of(unit))
      lists.segments[known.owner(one)].push_back(at++);
  }
  for (index_t s = 0; s < known.symbolic().num_supernodes(); ++s) {
    if (!known.is_top(s)) continue;
    for (const CommunicationTree& tree : {known.row_tree(s), known.column_tree(s)})
      for (const index_t rank : tree.ranks) {
        std::vector<index_t>& mine = lists.tops[rank];
        if (mine.empty() || mine.back() != s) mine.push_back(s);
      }
  }
  return lists;
}

std::vector<Urgency> urgencies(const ExchangeStructure& known) {
  const SymbolicFactor& symbolic = known.symbolic();
  const std::vector<double> entries = sweep_entries(symbolic);
  const index_t supernodes = symbolic.num_supernodes();
  std::vector<double> down(supernodes);  // on the longest path; a whole subtree is swept as one
  for (index_t unit = 0; unit < known.num_units(); ++unit) {
    const index_t last = known.begin(unit + 1) - 1;
    for (index_t s = known.begin(unit); s <= last; ++s) down[last] += entries[s];
    const index_t parent = symbolic.parent[last];
    if (parent != -1) down[parent] = std::max(down[parent], down[last]);
  }
  std::vector<Urgency> result(supernodes);
  for (index_t s = supernodes; s-- > 0;) {
    const index_t parent = symbolic.parent[s];
    result[s] = {entries[s] + (parent == -1 ? 0 : result[parent].forward), -1 / (1 + down[s])};
  }
  return result;
}

}  // namespace palmette
