// A list schedule in which running tasks share the bandwidth: time advances from the end of one task to the
// end of the next.
#include "palmette/predict/thread_model.hpp"

#include <algorithm>
#include <queue>

namespace palmette {
namespace {

/// The remaining cost of a task: first its overhead, then its bytes.
struct Running {
  index_t task = 0;
  double seconds = 0;
  double bytes = 0;
};

class Sharing {
 public:
  Sharing(const TaskGraph& graph, const std::vector<TaskWork>& work, const Cluster& cluster,
          double factor_bytes, int threads)
      : work_(work),
        cluster_(cluster),
        cached_(cached_share(threads * cluster.rank_cache(threads), factor_bytes)),
        threads_(threads),
        ready_(graph) {}

  double run() {
    double now = 0;
    while (!ready_.all_finished()) {
      while (static_cast<int>(running_.size()) < threads_) {
        const index_t task = ready_.take();
        if (task == -1) break;
        running_.push_back(begin(task));
      }
      now += step();
    }
    return now;
  }

 private:
  Running begin(index_t task) const {
    TaskWork rest = work_[task];
    const double bytes = rest.bytes;
    rest.bytes = 0;
    // Flops that reading does not hide are part of the overhead.
    const double reading = bytes / (gbs(1) * 1e9),
                 with_flops = cluster_.seconds(rest, gbs(1), cluster_.overheads);
    rest.flops = 0;
    const double overhead = cluster_.seconds(rest, gbs(1), cluster_.overheads);
    const double handoff = cluster_.overheads.handoff_us * 1e-6 * (threads_ - 1) / threads_;
    return {task, overhead + handoff + std::max(0.0, with_flops - overhead - reading), bytes};
  }
  double gbs(std::size_t readers) const {
    const double memory =
        rate_at(cluster_.memory_gbs, static_cast<double>(readers)) / static_cast<double>(readers);
    return cluster_.solve_gbs(cluster_.overheads, cached_, memory);
  }
  /// Advance to the next end of an overhead or a task.
  double step() {
    const double rate = gbs(running_.size()) * 1e9;
    double length = -1;
    for (const Running& one : running_) {
      const double left = one.seconds > 0 ? one.seconds : one.bytes / rate;
      length = length < 0 ? left : std::min(length, left);
    }
    for (std::size_t at = running_.size(); at-- > 0;) {
      Running& one = running_[at];
      if (one.seconds > 0) one.seconds = one.seconds <= length * (1 + 1e-12) ? 0 : one.seconds - length;
      else one.bytes -= length * rate;
      if (one.seconds > 0 || one.bytes > 1e-6) continue;
      ready_.finish(one.task);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return std::max(0.0, length);
  }

  const std::vector<TaskWork>& work_;
  const Cluster& cluster_;
  // fraction of the factor in the caches of all threads: the thread that takes a task reads it into its own
  // cache
  double cached_;
  int threads_;
  ReadyTasks ready_;
  std::vector<Running> running_;
};

}  // namespace

ThreadPrediction predict_on_threads(const ThreadCase& given, const Cluster& cluster) {
  check(cluster);
  if (given.threads < 1)
    throw UsageError("a prediction for " + std::to_string(given.threads) +
                     " threads; there must be at least 1");
  const TreePartition groups = sweep_groups(given.symbolic);
  std::vector<double> cost;
  std::vector<TaskWork> work;
  ThreadPrediction result;
  for (index_t group = 0; group < groups.num_groups(); ++group) {
    const FactorWork one = sweep_work(given.symbolic, groups.group_begin[group],
                                     groups.group_begin[group + 1]);
    work.push_back(one.with_rhs(given.scalar_bytes, 2, given.num_rhs));
    cost.push_back(one.entries);
    result.bytes += work.back().bytes;
  }
  const TaskGraph forward = tree_tasks(groups, cost), backward = reversed(forward);
  const std::vector<TaskWork> from_root(work.rbegin(), work.rend());
  for (const TaskWork& one : work)
    result.busy_seconds += 2 * cluster.seconds(one, rate_at(cluster.memory_gbs, 1), cluster.overheads);
  const double kept = given.kind == FactorKind::lu ? 2 * result.bytes : result.bytes;
  result.seconds = Sharing(forward, work, cluster, kept, given.threads).run() +
                   Sharing(backward, from_root, cluster, kept, given.threads).run();
  const double all =
      std::max(rate_at(cluster.memory_gbs, given.threads),
               cluster.cache_gbs > 0 && result.bytes <= 4 * given.threads * cluster.rank_cache(given.threads)
                   ? cluster.cache_gbs * given.threads
                   : 0);
  const double one = std::max(rate_at(cluster.memory_gbs, 1), cluster.cache_gbs);
  result.bytes *= 2;
  result.bound_seconds =
      std::max(result.bytes / (all * 1e9), 2 * forward.critical_path() * given.scalar_bytes / (one * 1e9));
  return result;
}

}  // namespace palmette
