// Part of the door of `tasks`: a solve over ranks, from the view of one rank: what it owns, what it sums, and
// what it sends to which rank. Values travel down the column of a block along a broadcast tree, contributions
// along its row up a reduction tree. Both trees contain only the ranks that take part, and both sweeps use
// them: backward, the row broadcasts and the column reduces.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/place/place.hpp"
#include "palmette/tasks/solve_reach.hpp"

namespace palmette {

/// A mapping of the rows of a vector to rows of another: the k-th to row place(k).
struct PartRows {
  offset_t list = 0;   ///< start in SolveExchange::places; −1: consecutive rows from `start` on
  index_t start = 0;
  index_t count = 0;
};

/// A vector of some rows in the rank's store of contributions.
struct StoredPart {
  offset_t at = 0;   ///< first row in the store
  PartRows rows;     ///< its rows in the vector that it is added to (outgoing, incoming: only their number)
  /// of contributions to rows: the unit next to the root among those that contribute to it, so that it is
  /// zero if a solve does not visit that; −1: never
  index_t unit = -1;
};

/// Consecutive entries of one of the arrays of a SolveExchange.
struct ArrayPart {
  index_t begin = 0;
  index_t end = 0;
  index_t size() const { return end - begin; }
};

/// A sum computed on this rank: the vector at `at` becomes the sum of the parts, from left to right.
struct MadeSum {
  offset_t at = 0;
  index_t rows = 0;
  ArrayPart parts;   ///< of SolveExchange::parts
};

/// What a child of a reduction tree sends.
struct IncomingSum {
  index_t rank = 0;
  offset_t at = 0;   ///< first row in the store
  index_t rows = 0;
  ArrayPart parts;  ///< of SolveExchange::parts: to a row, what it is made of, one after the other
};

/// A rank's share of a reduction.
struct Reduction {
  index_t supernode = 0;
  index_t parent = -1;       ///< rank to send to; −1: this rank is the root
  ArrayPart incoming;        ///< of SolveExchange::incoming
  ArrayPart sums;            ///< of SolveExchange::sums, in this order
  /// of SolveExchange::parts: what is sent, in this order, or (root) added to the supernode's own rows
  ArrayPart result;
  offset_t outgoing_rows = 0;
};

/// Where the contributions of one block below the diagonal, or of a whole subtree's boundary in one
/// supernode, are stored.
struct OwnContribution {
  index_t column = 0;       ///< panel number of the rank's OwnedBlocks, or (whole) number in `wholes`
  offset_t own = 0;         ///< number in OwnedBlocks::own, or (whole) first row of the boundary
  index_t row_supernode = 0;
  index_t row_top = -1;     ///< number in `tops` of row_supernode
  index_t column_top = -1;  ///< blocks only: number in `tops` of its column
  index_t count = 0;        ///< rows
  offset_t forward_at = 0;  ///< `count` rows of the store
  offset_t backward_at = 0; ///< blocks only: one row for each column of the block
};

/// The ready task with the largest number runs first. Forward: entries of the factor on the path from a
/// supernode to the root. All forward tasks run before backward ones, whose (negative) numbers grow with the
/// entries on the longest path down from a supernode.
struct Urgency {
  double forward = 0;
  double backward = 0;
};

/// What a task of one sweep reads.
struct FactorWork {
  double entries = 0;  ///< of the factor
  double panels = 0;   ///< panels and blocks
  double rows = 0;     ///< rows that it gathers or scatters
  double columns = 0;  ///< of diagonal blocks

  /// The same for so many right-hand sides. @param entry_flops  of one entry with one right-hand side
  TaskWork with_rhs(double scalar_bytes, double entry_flops, double num_rhs) const {
    return {entries * scalar_bytes, entry_flops * entries * num_rhs, panels, rows, num_rhs, columns};
  }
};

/// Of one sweep over the supernodes [begin, end) with their triangles and rows below.
FactorWork sweep_work(const SymbolicFactor& symbolic, index_t begin, index_t end);

/// A whole subtree of this rank.
struct WholeUnit {
  index_t unit = 0;
  index_t last_supernode = 0;
  /// of SolveExchange::boundary: rows of the permuted matrix outside it that it updates, ascending
  ArrayPart boundary;
  ArrayPart contributions;   ///< of SolveExchange::own, ascending by row
  Urgency urgency;
  FactorWork work;             ///< of each sweep
};

/// Blocks that are multiplied in one task: contributions that the nearest supernode waits for do not wait for
/// those that are needed later.
struct Portion {
  index_t begin = 0, end = 0;   ///< of the blocks below or left of a supernode
  double urgency = 0;           ///< as Urgency, of the sweep in which it is multiplied
  FactorWork work;
};

/// A supernode above the whole subtrees in which this rank takes part.
struct TopSupernode {
  index_t supernode = 0;
  bool owns_diagonal = false;
  offset_t value_at = 0;       ///< its first row in the rank's store of values
  index_t row_sum = -1;        ///< number in `reductions`: its rows, forward; −1: takes no part
  index_t column_sum = -1;     ///< its columns, backward
  ArrayPart row_children;      ///< of SolveExchange::ranks
  ArrayPart column_children;   ///< of SolveExchange::ranks
  ArrayPart below;             ///< of SolveExchange::own: the blocks below its diagonal block
  /// of SolveExchange::left: the blocks left of its diagonal block, the most urgent first, and the subtrees
  /// that update it
  ArrayPart left;
  ArrayPart column_portions;   ///< of SolveExchange::portions: of `below`
  ArrayPart row_portions;      ///< of SolveExchange::portions: of `left`
  Urgency urgency;
  FactorWork diagonal;           ///< nothing if the diagonal block is another rank's
};

/// Flat arrays, so that a plan can be copied to another memory unchanged. Constant after construction.
struct SolveExchange {
  index_t rank = 0;
  index_t num_units = 0;
  std::vector<WholeUnit> wholes;
  std::vector<TopSupernode> tops;            // ascending
  std::vector<OwnContribution> own;          // by column
  std::vector<char> own_is_whole;            // length own
  std::vector<index_t> left;                 // numbers in `own`
  std::vector<Portion> portions;
  std::vector<Reduction> reductions;
  std::vector<IncomingSum> incoming;
  std::vector<MadeSum> sums;
  std::vector<StoredPart> parts;
  std::vector<index_t> ranks;
  std::vector<index_t> boundary;
  std::vector<index_t> places;               // lists of rows
  offset_t forward_rows = 0;                 // of the store, forward
  offset_t backward_rows = 0;
  offset_t value_rows = 0;

  template <class Entry>
  static std::span<const Entry> of(const std::vector<Entry>& array, ArrayPart part) {
    return {array.data() + part.begin, static_cast<std::size_t>(part.size())};
  }
  std::span<const index_t> boundary_of(const WholeUnit& one) const { return of(boundary, one.boundary); }
  std::span<const OwnContribution> contributions_of(const WholeUnit& one) const {
    return of(own, one.contributions);
  }
  std::span<const index_t> left_of(const TopSupernode& one) const { return of(left, one.left); }
  /// The unit whose contribution it is.
  index_t unit_of(index_t number_in_own, const TreePartition& units) const {
    const OwnContribution& one = own[number_in_own];
    return own_is_whole[number_in_own] != 0 ? wholes[one.column].unit
                                            : units.group_of(tops[one.column_top].supernode);
  }

  /// Number in `tops` of a supernode that it contains.
  index_t top_of(index_t supernode) const {
    const auto found = std::lower_bound(tops.begin(), tops.end(), supernode,
                                        [](const TopSupernode& one, index_t s) { return one.supernode < s; });
    return static_cast<index_t>(found - tops.begin());
  }
  offset_t memory_bytes() const;
};

/// The common part of the exchanges of all ranks: if one process runs many ranks, it is built once.
class ExchangePlan {
 public:
  /// @param symbolic, placement  must outlive this
  /// @cost  O(blocks), and for each row above the subtrees the ranks of its trees
  ExchangePlan(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees);
  ~ExchangePlan();
  /// @throws UsageError if there is no such rank
  /// @cost   for each row that this rank shares the number of its contributions times the ranks of its tree
  SolveExchange exchange(index_t rank) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

/// @throws UsageError if there is no such rank
/// @cost   O(blocks) for the lists, and for each row that this rank shares the number of its contributions
///   times the ranks of its tree
/// @source [Ding et al. 2020], §3, for the trees
SolveExchange solve_exchange(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                             index_t rank);

/// All messages of one solve (both sweeps) with rows of `row_bytes` bytes, from structure alone.
/// @param reach  with the placement's units as groups: what the solve visits; null: everything
Traffic predicted_solve_traffic(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                                offset_t row_bytes, const SolveReach* reach = nullptr);

}  // namespace palmette
