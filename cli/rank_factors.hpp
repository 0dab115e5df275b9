// palmette factorize and palmette solve --factors over ranks: sets of files, one for each rank.
#pragma once

#include "cli/input.hpp"
#include "cli/rank_options.hpp"

namespace palmette::cli {

/// The options of palmette factorize.
struct RankFactorizeRequest {
  const MatrixOptions& matrix;
  const KindAndOrder& kind_and_order;
  Precision precision;
  int threads;
  const std::string& out;  ///< of the set
  const OutputOptions& output;
  const RankOptions& ranks;
};
/// Every rank factorizes and writes its file; rank 0 reports. @returns the exit code
int factorize_over_ranks(const RankFactorizeRequest& request);

/// Every rank reads its file and solves; rank 0 writes x and reports. @returns the exit code
int solve_with_rank_factors(const std::string& factors, const SolvingOptions& solving,
                            const OutputOptions& output, const RankOptions& ranks);

}  // namespace palmette::cli
