// palmette solve over ranks: threads of this process, or the processes of an MPI launcher.
#pragma once

#include "cli/input.hpp"
#include "cli/rank_options.hpp"

namespace palmette::cli {

/// The options of palmette solve.
struct RankSolveRequest {
  const MatrixOptions& matrix;
  const KindAndOrder& kind_and_order;
  const SolvingOptions& solving;
  const OutputOptions& output;
  const RankOptions& ranks;
};

/// Solve, write and report; of several processes, only that of rank 0 writes and reports. @returns the exit
/// code
int solve_over_ranks(const RankSolveRequest& request);

}  // namespace palmette::cli
