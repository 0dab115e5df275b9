// Two passes over the pattern: how many entries a column has, and where they go.
#include "palmette/factorize/listed_entries.hpp"

#include <algorithm>
#include <atomic>
#include <functional>

namespace palmette::factorize_detail {
namespace {

/// The first row of a column that its panel holds: the others belong to the upper triangle.
template <class T>
index_t first_row_of(const Work<T>& work, index_t s, index_t column) {
  return work.kind() == FactorKind::lu ? work.first_column(s) : column;
}

/// each(s, thread) for all supernodes, by the threads of the team in turn.
template <class Each>
void over_supernodes(index_t count, ThreadTeam& team, const Each& each) {
  constexpr index_t share = 64;  // supernodes that a thread takes at a time
  std::atomic<index_t> next{0};
  const auto take = [&](int thread) {
    for (index_t first = next.fetch_add(share); first < count; first = next.fetch_add(share))
      for (index_t s = first; s < std::min(count, first + share); ++s) each(s, thread);
  };
  team.share(std::ref(take));
}

}  // namespace

bool ListedEntries::fits(const SparsityPattern& pattern, ThreadTeam& team) const {
  if (pattern.column_ptr != pattern_.column_ptr || pattern.row_index.size() != pattern_.row_index.size())
    return false;
  return all_ranges(&team, pattern.nnz(), [&](offset_t first, offset_t end) {
    const index_t* const rows = pattern.row_index.data();
    return std::equal(rows + first, rows + end, pattern_.row_index.data() + first);
  });
}

template <class T>
void ListedEntries::make(const Work<T>& work, std::vector<Scratch<T>>& scratch, ThreadTeam& team) {
  const SymbolicFactor& symbolic = work.symbolic;
  const SparsityPattern& pattern = work.matrix.pattern;
  const std::vector<index_t>& original = symbolic.column.new_to_old();
  const std::vector<index_t>& new_row = symbolic.row.old_to_new();
  pattern_ = {};  // memory may end halfway: then the list fits no pattern
  begin_.assign(static_cast<std::size_t>(symbolic.n) + 1, 0);
  over_supernodes(symbolic.num_supernodes(), team, [&](index_t s, int) {
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column)
      for (const index_t row : pattern.column(original[column]))
        if (new_row[row] >= first_row_of(work, s, column)) ++begin_[column + 1];
  });
  for (index_t column = 0; column < symbolic.n; ++column) begin_[column + 1] += begin_[column];
  source_.resize(begin_.back());
  row_.resize(begin_.back());
  over_supernodes(symbolic.num_supernodes(), team, [&](index_t s, int thread) {
    scratch[thread].map(symbolic, s);
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column) {
      offset_t nth = begin_[column];
      const offset_t end = pattern.column_ptr[original[column] + 1];
      for (offset_t entry = pattern.column_ptr[original[column]]; entry < end; ++entry) {
        const index_t row = new_row[pattern.row_index[entry]];
        if (row < first_row_of(work, s, column)) continue;
        source_[nth] = entry;
        row_[nth++] = scratch[thread].local_row[row];
      }
    }
  });
  pattern_ = pattern;
}

#define PALMETTE_INSTANTIATE(T) \
  template void ListedEntries::make<T>(const Work<T>&, std::vector<Scratch<T>>&, ThreadTeam&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
