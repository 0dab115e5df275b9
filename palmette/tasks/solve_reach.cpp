// From rows up the tree, to the first supernode that is known already.
#include "palmette/tasks/solve_reach.hpp"

namespace palmette {

SolveReach::Visited SolveReach::visit(const SymbolicFactor& symbolic, const TreePartition& groups,
                                      std::span<const index_t> rows) {
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

SolveReach::SolveReach(const SymbolicFactor& symbolic, const TreePartition& groups,
                       std::span<const index_t> given, std::span<const index_t> wanted)
    : forward_(visit(symbolic, groups, given)), backward_(visit(symbolic, groups, wanted)) {}

}  // namespace palmette
