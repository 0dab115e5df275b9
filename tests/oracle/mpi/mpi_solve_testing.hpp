// What the programs that solve over MPI ranks share: problems, right-hand sides, runs with a watchdog, and
// the comparison of bits.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/solve/solve.hpp"
#include "tests/factorize/factor_testing.hpp"

namespace palmette::testing {

constexpr double watchdog_seconds = 120;
constexpr index_t num_rhs = 2, unknowns = 400;

inline double right_hand_side(index_t row, index_t rhs) { return (row * 7 + rhs) % 11 - 5; }

/// With narrow supernodes, so that there are many messages.
inline Problem<double> narrow_problem(FactorKind kind, double per_column) {
  AnalyzeOptions narrow;
  narrow.max_width = 8;
  return {random_sparse<double>(flavour_of(kind), unknowns, per_column, 3), kind, narrow};
}

inline RankPlanOptions plan_options() {
  RankPlanOptions options;
  options.max_rhs = num_rhs;
  return options;
}

/// Returns the transport of a run, created for the messages of the run and ready for it.
using Begin = std::function<Transport&()>;
inline Begin begin_with(Transport& transport) {
  return [&transport]() -> Transport& { return transport; };
}
inline Begin begin_with(PlannedTransport& planned) {
  return [&planned]() -> Transport& {
    planned.begin_run();
    return planned.transport();
  };
}

/// Until all ranks are done.
inline void drive_together(RankProgram& program, Transport& transport) {
  ThreadTeam team(1);
  drive(program, transport, team, {watchdog_seconds});
  transport.agree(0);
}

/// Solves once more by the same plan. @returns x of this rank's rows, side by side
template <class Plan>
std::vector<double> solved(Plan& plan, const Begin& begin) {
  std::vector<double> x;
  for (index_t rhs = 0; rhs < num_rhs; ++rhs)
    for (const index_t row : plan.rows()) x.push_back(right_hand_side(row, rhs));
  const auto count = static_cast<index_t>(plan.rows().size());
  const DenseView<double> both{x.data(), count, num_rhs, count};
  Transport& transport = begin();
  drive_together(plan.begin(Operation::plain, both, both, transport), transport);
  return x;
}

/// @param mine  of these rows
/// @param all   of all rows
/// @returns how many values have other bits
inline double values_that_differ(std::span<const index_t> rows, const std::vector<double>& mine,
                                 const std::vector<double>& all) {
  double wrong = 0;
  for (index_t rhs = 0; rhs < num_rhs; ++rhs)
    for (std::size_t k = 0; k < rows.size(); ++k)
      wrong += std::memcmp(&mine[k + static_cast<std::size_t>(rhs) * rows.size()],
                           &all[rows[k] + rhs * unknowns], sizeof(double)) == 0
                   ? 0
                   : 1;
  return wrong;
}

}  // namespace palmette::testing
