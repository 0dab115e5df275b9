// Combines what each rank knows about the factor, so that all ranks know the same.
#pragma once

#include <optional>

#include "palmette/solver/rank_solver.hpp"

namespace palmette {

/// Pivots of a rank's own diagonal blocks, or the failure found in them.
struct PivotFacts {
  PivotReport pivots;
  std::optional<NumericalFailure> failure;
};

/// The facts of all ranks: sums and extremes, in the order of ranks; the failure of the first bad supernode.
/// Every rank must call it.
PivotFacts joined_over_ranks(const PivotFacts& mine, Transport& transport, ThreadTeam& team,
                             const DriveOptions& options);

/// Of all ranks, by rank. Every rank must call it.
std::vector<RankTimes> times_of_ranks(const RankTimes& mine, Transport& transport, ThreadTeam& team,
                                      const DriveOptions& options);

/// The sum over ranks. Every rank must call it.
CarriedCounts carried_by_ranks(const CarriedCounts& mine, Transport& transport);

/// Every rank must call it.
RankFigure figure_of_ranks(double mine, Transport& transport, ThreadTeam& team, const DriveOptions& options);

}  // namespace palmette
