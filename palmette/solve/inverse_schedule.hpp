// Inside `solve`: who computes which entries of A⁻¹ when over ranks, and what ranks send for that. The same
// on all ranks, and known before anything is computed.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "palmette/solve/rank_selected_inverse.hpp"
#include "palmette/solve/selected_inverse_kernels.hpp"

namespace palmette::solve_detail {

/// The rows below a supernode for which a rank computes: equal parts of them for the ranks of its blocks.
inline RowRange wanted_rows(const SymbolicFactor& symbolic, const RankGrid& ranks, index_t s, index_t rank) {
  const std::int64_t rows = symbolic.num_rows_below(s), count = ranks.grid.num_ranks();
  const std::int64_t place = rank - ranks.first;
  return {static_cast<index_t>(rows * place / count), static_cast<index_t>(rows * (place + 1) / count)};
}
/// What two ranges have in common; may be empty.
inline RowRange common(const RowRange& one, const RowRange& other) {
  const index_t first = std::max(one.first, other.first);
  return {first, std::max(first, std::min(one.end, other.end))};
}
inline RowRange rows_of(const Block& block) {
  return {block.first, block.first + block.count};
}

/// The known entries of Z in the rows of one block and the columns of another (both among the rows below a
/// supernode), of which a rank needs `across` rows of all columns, and all rows of `down` columns.
struct KnownPiece {
  index_t source;      ///< the rank that has them
  index_t of_columns;  ///< number of the block of columns, among those of the supernode
  const Block& columns;
  const Block& rows;
  RowRange across, down;
  offset_t scalars() const {
    return offset_t{across.count()} * columns.count + offset_t{rows.count} * down.count();
  }
};

/// What is needed of Z for the wanted rows of supernode s; if those are all, `down` is part of `across`.
template <class Visit>
void visit_known(const SymbolicFactor& symbolic, const Placement& placement, index_t s,
                 const RowRange& wanted, const Visit& visit) {
  const std::span<const Block> blocks = symbolic.blocks_of(s);
  const bool are_all = wanted.count() == symbolic.num_rows_below(s);
  if (wanted.count() == 0) return;
  for (std::size_t c = 0; c < blocks.size() && blocks[c].first < wanted.end; ++c) {
    const RowRange down = are_all ? RowRange{0, 0} : common(rows_of(blocks[c]), wanted);
    for (std::size_t b = c; b < blocks.size(); ++b) {
      const RowRange across = common(rows_of(blocks[b]), wanted);
      if (across.count() == 0 && down.count() == 0) continue;
      visit(KnownPiece{placement.owner(blocks[b].row_supernode, blocks[c].row_supernode),
                       static_cast<index_t>(c), blocks[c], blocks[b], across, down});
    }
  }
}

/// Bytes between ranks.
class InverseLoad {
 public:
  explicit InverseLoad(index_t num_ranks) : sent_(num_ranks), received_(num_ranks), travelled_(num_ranks) {}
  void add(index_t source, index_t destination, double bytes) {
    sent_[source] += bytes;
    received_[destination] += bytes;
    if (source != destination) travelled_[source] += bytes;
  }
  void add(const InverseLoad& other);
  /// Of one rank at once: what it packs, and what it gets, as messages and unpacked.
  double held(index_t rank) const { return sent_[rank] + 2 * received_[rank]; }
  double travelled(index_t rank) const { return travelled_[rank]; }
  double most() const;

 private:
  std::vector<double> sent_, received_, travelled_;  // by rank; travelled: sent to others
};

struct InverseSchedule {
  /// Of supernodes whose blocks lie on several ranks, in rounds: inverses of their diagonal blocks go to the
  /// owners of their other blocks.
  std::vector<std::vector<index_t>> handing;
  std::vector<std::vector<index_t>> steps;  ///< the same ones, each step at one depth of the tree
  std::vector<std::vector<index_t>> alone;  ///< roots of subtrees that one rank computes by itself, in rounds
  std::vector<RankInverseCounts> counts;    ///< by rank
};

/// @cost  O(Σ blocks² · ranks) of supernodes that lie on several ranks, as often as the blocks of the others'
///   roots squared
InverseSchedule inverse_schedule(const SymbolicFactor& symbolic, const Placement& placement,
                                 const RankInverseSizes& sizes);

}  // namespace palmette::solve_detail
