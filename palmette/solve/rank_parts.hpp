// Inside `solve`: the parts that one rank solves with alone: its whole subtrees, and its diagonal blocks
// above them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/solve/rank_solve.hpp"
#include "palmette/solve/supernodal_triangle.hpp"

namespace palmette::solve_detail {

/// Own columns are numbered from 0 on, in ascending order; rows outside the rank's subtrees follow them. A
/// supernode above the subtrees has only its diagonal block.
struct RankGroups {
  RankGroups(const SymbolicFactor& symbolic, const Placement& placement, const OwnedBlocks& owned,
                const SolveExchange& exchange, int entry_bytes);

  /// groups: first those of whole units or single supernodes, in the order of supernodes
  std::unique_ptr<const SweepGroups> sweep;
  std::vector<index_t> row;               // length own columns: row of the permuted matrix
  std::vector<index_t> panel;             // length local supernodes: panel number
  std::vector<offset_t> leading;          // length local supernodes
  std::vector<index_t> group_of_whole;    // length exchange.wholes
  std::vector<index_t> group_of_top;  // length exchange.tops: −1 if the diagonal block is another rank's

  offset_t memory_bytes() const;
};

/// The triangles of one rank's factor, and D.
template <class T>
struct RankTriangles {
  RankTriangles(const RankFactor<T>& factor, const RankGroups& structure, const PlanOptions& options);

  std::vector<index_t> place;  // as Factor's, length own columns
  std::unique_ptr<SupernodalTriangle<T>> lower;
  std::unique_ptr<SupernodalTriangle<T>> upper;  // LU: Uᵀ
  std::optional<BlockDiagonal<T>> diagonal;      // LDLᵀ, by own column
};

}  // namespace palmette::solve_detail
