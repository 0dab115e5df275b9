// From rows up the tree, to the first supernode that is known already.
#include "palmette/solve/solve_reach.hpp"

namespace palmette::solve_detail {

SolveReach::Visited SolveReach::visit(const SweepGroups& groups, std::span<const index_t> rows) {
  const SymbolicFactor& symbolic = groups.symbolic();
  Visited visited;
  visited.supernode.resize(symbolic.num_supernodes());
  visited.group.resize(groups.num_groups());
  for (const index_t row : rows)
    for (index_t s = symbolic.supernode_of[row]; s >= 0 && visited.supernode[s] == 0;
         s = symbolic.parent[s]) {
      visited.supernode[s] = 1;
      const double width = symbolic.width(s);
      visited.entries += width * (width + 1) / 2 + width * symbolic.num_rows_below(s);
      const index_t group = groups.group_of(s);
      if (visited.group[group] == 0) visited.groups.push_back(group);
      visited.group[group] = 1;
    }
  return visited;
}

SolveReach::SolveReach(const SweepGroups& groups, std::span<const index_t> given,
                       std::span<const index_t> wanted)
    : forward_(visit(groups, given)), backward_(visit(groups, wanted)) {}

}  // namespace palmette::solve_detail
