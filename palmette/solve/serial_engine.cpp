// The serial engine: the reference for all others.
#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {

int run_serial(const SweepRun& run) {
  // Every edge goes to a larger number, so number order is a topological order.
  for (index_t task = 0; task < run.schedule.graph.num_tasks(); ++task) run.body.run_task(task, 0);
  return 1;
}

}  // namespace palmette::solve_detail
