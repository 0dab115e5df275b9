// Part of the door of `simulate`: when the kernels of a rank run that do its tasks.
#pragma once

#include <algorithm>
#include <array>

#include "palmette/machine/machine.hpp"

namespace palmette {

/// The launches of one rank during one solve. The first task of a sweep waits for the launch of its kernel;
/// on a machine whose launches hold `launch_tasks` tasks, so does each one that begins the next batch.
class Launches {
 public:
  /// @param sweep  0 forward, 1 backward
  /// @returns when a task can begin that is ready at `now`
  double begin(const Cluster& cluster, std::size_t sweep, double now) {
    Batch& batch = batches_[sweep];
    if (batch.left == 0) {
      batch.runs_from = now + cluster.launch_us * 1e-6;
      batch.left = cluster.launch_tasks > 0 ? cluster.launch_tasks : -1;  // −1: all
    }
    if (batch.left > 0) --batch.left;
    return std::max(now, batch.runs_from);
  }

 private:
  struct Batch {
    index_t left = 0;       // tasks that the last launch still holds
    double runs_from = 0;
  };
  std::array<Batch, 2> batches_{};
};

}  // namespace palmette
