// Combines what each rank knows about the factor, so that all ranks know the same.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/rank_solver.hpp"

namespace palmette {

/// The value of each rank, by rank. Every rank must call it, inside `exchange`.
template <class V>
std::vector<V> values_of_ranks(const V& mine, Transport& transport, ThreadTeam& team,
                               const DriveOptions& options) {
  static_assert(std::is_trivially_copyable_v<V>);
  BytePool pool;
  std::vector<V> all;
  for (const SharedBytes& piece :
       gather_from_all(transport, team, pool.copy(std::as_bytes(std::span(&mine, 1))), options))
    std::memcpy(&all.emplace_back(), piece.data(), sizeof(V));
  return all;
}

/// The items of a piece.
template <class Item>
std::span<const Item> items_of(const SharedBytes& piece) {
  static_assert(std::is_trivially_copyable_v<Item>);
  return {reinterpret_cast<const Item*>(piece.data()), piece.size() / sizeof(Item)};
}
/// The rows of all pieces, ascending, each once.
std::vector<index_t> rows_of_all(const std::vector<SharedBytes>& pieces);
/// The rows of each rank, by rank. Every rank must call it.
std::vector<std::vector<index_t>> rows_by_rank(std::span<const index_t> mine, const RankTeam& ranks);

/// Pivots of a rank's own diagonal blocks, or the failure found in them.
struct PivotFacts {
  PivotReport pivots;
  std::vector<ReplacedPivot> replaced;  ///< all of them, in the order of ranks
  std::optional<NumericalFailure> failure;
};

/// The facts of all ranks: sums and extremes, in the order of ranks; the failure of the first bad supernode.
/// Every rank must call it.
PivotFacts joined_over_ranks(const PivotFacts& mine, Transport& transport, ThreadTeam& team,
                             const DriveOptions& options);

/// The sum over ranks. Every rank must call it.
CarriedCounts carried_by_ranks(const CarriedCounts& mine, Transport& transport);

/// Every rank must call it.
RankFigure figure_of_ranks(double mine, Transport& transport, ThreadTeam& team, const DriveOptions& options);

}  // namespace palmette
