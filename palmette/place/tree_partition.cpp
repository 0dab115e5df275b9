// Groups of supernodes: whole subtrees below a weight limit, single supernodes above.
#include "palmette/place/tree_partition.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

// A subtree whose panels and vectors fit into a core's second-level cache is not worth cutting; small factors
// are cut finer, so that there are tasks to share at all. The limit depends on the structure alone, so
// results keep their bits.
constexpr double largest_group_entries = 64 * 1024;
constexpr double smallest_group_entries = 2 * 1024;
constexpr double groups_wanted = 64;

/// Weight of each supernode's subtree, length num_supernodes.
std::vector<double> subtree_weights(const SymbolicFactor& symbolic, std::span<const double> weight) {
  std::vector<double> total(weight.begin(), weight.end());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    if (symbolic.parent[s] != -1) total[symbolic.parent[s]] += total[s];
  return total;
}

}  // namespace

TreePartition partition_tree(const SymbolicFactor& symbolic, std::span<const double> weight,
                             double max_weight) {
  const index_t count = symbolic.num_supernodes();
  const std::vector<double> total = subtree_weights(symbolic, weight);
  TreePartition partition;
  std::vector<index_t> group_of(count);
  // A supernode ends its group if its subtree is within the limit and its parent's is not; above, each
  // supernode is a group of its own.
  for (index_t s = 0; s < count; ++s) {
    const bool small = total[s] <= max_weight;
    const bool parent_small = symbolic.parent[s] != -1 && total[symbolic.parent[s]] <= max_weight;
    group_of[s] = static_cast<index_t>(partition.group_begin.size()) - 1;
    if (!small || !parent_small) partition.group_begin.push_back(s + 1);
  }
  const index_t groups = static_cast<index_t>(partition.group_begin.size()) - 1;
  partition.parent.resize(groups);
  for (index_t group = 0; group < groups; ++group) {
    const index_t above = symbolic.parent[partition.group_begin[group + 1] - 1];
    partition.parent[group] = above == -1 ? -1 : group_of[above];
  }
  return partition;
}

TreePartition join_small_siblings(const TreePartition& cut, std::span<const double> supernode_weight,
                                  double limit) {
  std::vector<double> group_weight(cut.num_groups());
  for (index_t group = 0; group < cut.num_groups(); ++group)
    group_weight[group] = std::accumulate(supernode_weight.begin() + cut.group_begin[group],
                                          supernode_weight.begin() + cut.group_begin[group + 1], 0.0);
  std::vector<char> has_children(group_weight.size(), 0);
  for (const index_t above : cut.parent)
    if (above != -1) has_children[above] = 1;
  TreePartition joined;
  std::vector<index_t> place(group_weight.size());
  std::vector<index_t> parent_before;
  double weight = 0;
  for (index_t group = 0; group < cut.num_groups(); ++group) {
    const bool joins = group > 0 && !has_children[group] && !has_children[group - 1] &&
                       cut.parent[group] == cut.parent[group - 1] && weight + group_weight[group] <= limit;
    weight = joins ? weight + group_weight[group] : group_weight[group];
    if (joins) joined.group_begin.back() = cut.group_begin[group + 1];
    else joined.group_begin.push_back(cut.group_begin[group + 1]), parent_before.push_back(cut.parent[group]);
    place[group] = static_cast<index_t>(parent_before.size()) - 1;
  }
  for (const index_t above : parent_before) joined.parent.push_back(above == -1 ? -1 : place[above]);
  return joined;
}

std::vector<double> sweep_entries(const SymbolicFactor& symbolic) {
  std::vector<double> entries(symbolic.num_supernodes());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s);
    entries[s] = width * (width + 1) / 2 + width * symbolic.num_rows_below(s);
  }
  return entries;
}

TreePartition sweep_groups(const SymbolicFactor& symbolic, double max_entries, std::span<const char> apart) {
  std::vector<double> entries = sweep_entries(symbolic);
  if (max_entries <= 0)
    max_entries = std::clamp(std::accumulate(entries.begin(), entries.end(), 0.0) / groups_wanted,
                             smallest_group_entries, largest_group_entries);
  for (std::size_t s = 0; s < apart.size(); ++s)
    if (apart[s] != 0) entries[s] = 2 * max_entries;
  return join_small_siblings(partition_tree(symbolic, entries, max_entries), entries, max_entries);
}

}  // namespace palmette
