// A rank's own columns as a small factor of their own, so that the triangles of one rank can be used here
// too.
#include "palmette/solve/rank_parts.hpp"

#include <algorithm>

namespace palmette::solve_detail {

RankGroups::RankGroups(const SymbolicFactor& symbolic, const Placement& placement,
                             const OwnedBlocks& owned, const SolveExchange& exchange, int entry_bytes) {
  std::vector<index_t> outside = exchange.boundary;
  std::sort(outside.begin(), outside.end());
  outside.erase(std::unique(outside.begin(), outside.end()), outside.end());

  auto local = std::make_shared<SymbolicFactor>();
  TreePartition groups;
  const auto add_supernode = [&](index_t s) {
    const index_t p = owned.panel_number(s);
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column)
      row.push_back(column);
    local->supernode_begin.push_back(static_cast<index_t>(row.size()));
    local->parent.push_back(-1);
    local->panel_offset.back() = owned.panel_offset[p];
    local->panel_offset.push_back(0);
    panel.push_back(p);
    leading.push_back(owned.by_parts[p] != 0
                          ? symbolic.width(s)
                          : owned.panel_rows[p]);
  };
  const auto end_group = [&] {
    groups.group_begin.push_back(static_cast<index_t>(local->parent.size()));
    groups.parent.push_back(-1);
    return groups.num_groups() - 1;
  };
  group_of_top.assign(exchange.tops.size(), -1);
  std::vector<index_t> first_of_whole;
  std::size_t whole = 0, top = 0;
  for (index_t unit = 0; unit < placement.units.num_groups(); ++unit) {
    const index_t begin = placement.units.group_begin[unit],
                  end = placement.units.group_begin[unit + 1];
    if (whole < exchange.wholes.size() && exchange.wholes[whole].unit == unit) {
      for (index_t s = begin; s < end; ++s) add_supernode(s);
      group_of_whole.push_back(end_group());
      ++whole;
    } else if (top < exchange.tops.size() && exchange.tops[top].supernode == begin) {
      if (exchange.tops[top].owns_diagonal) {
        add_supernode(begin);
        group_of_top[top] = end_group();
      }
      ++top;
    }
  }
  // Rows below, if the supernode is part of a subtree.
  const auto columns = static_cast<index_t>(row.size());
  local->n = columns + static_cast<index_t>(outside.size());
  const auto local_row = [&](index_t global) {
    const auto found = std::lower_bound(outside.begin(), outside.end(), global);
    if (found != outside.end() && *found == global)
      return columns + static_cast<index_t>(found - outside.begin());
    return static_cast<index_t>(std::lower_bound(row.begin(), row.end(), global) - row.begin());
  };
  for (index_t group = 0; group < groups.num_groups(); ++group)
    for (index_t at = groups.group_begin[group];
         at < groups.group_begin[group + 1]; ++at) {
      const index_t s = owned.panel[panel[at]];
      if (std::binary_search(group_of_whole.begin(), group_of_whole.end(), group)) {
        for (const index_t global : symbolic.rows_below(s)) local->row_index.push_back(local_row(global));
        const index_t parent = symbolic.parent[s];
        const index_t last = owned.panel[
            panel[groups.group_begin[group + 1] - 1]];
        if (parent != -1 && parent <= last) local->parent[at] = at + parent - s;
      }
      local->row_ptr.push_back(static_cast<offset_t>(local->row_index.size()));
    }
  sweep = std::make_unique<const SweepGroups>(std::move(local), entry_bytes, std::move(groups));
}

offset_t RankGroups::memory_bytes() const {
  const SymbolicFactor& local = sweep->symbolic();
  return sweep->memory_bytes() + local.memory_bytes() +
         static_cast<offset_t>((row.size() + panel.size() + group_of_whole.size() + group_of_top.size()) *
                                   sizeof(index_t) +
                               leading.size() * sizeof(offset_t));
}

template <class T>
RankTriangles<T>::RankTriangles(const RankFactor<T>& factor, const RankGroups& structure,
                                const PlanOptions& options) {
  TriangleSource<T> source;
  source.diagonal = source.below = factor.lower.data();
  source.unit_diagonal = factor.kind != FactorKind::llt;
  source.leading = structure.leading.data();
  if (factor.kind != FactorKind::llt) {
    for (const index_t row : structure.row) place.push_back(factor.place[row]);
    source.place = place.data();
  }
  lower = std::make_unique<SupernodalTriangle<T>>(*structure.sweep, source, options);
  if (factor.kind == FactorKind::lu) {
    source.place = nullptr;
    source.unit_diagonal = false;
    source.below = factor.upper.data();
    source.diagonal_is_upper = true;
    upper = std::make_unique<SupernodalTriangle<T>>(*structure.sweep, source, options);
  }
  if (factor.kind == FactorKind::ldlt) {
    std::vector<T> d, d_below;
    for (const index_t row : structure.row) {
      d.push_back(factor.d[row]);
      d_below.push_back(factor.d_below[row]);
    }
    diagonal.emplace(factor.hermitian, std::span<const T>(d), std::span<const T>(d_below));
  }
}

#define PALMETTE_INSTANTIATE(T) template struct RankTriangles<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
