// Blocks take tickets, as the kernels do.
#include "palmette/predict/device_model.hpp"

#include <algorithm>
#include <vector>

namespace palmette {
namespace {

/// One sweep in the order of the tickets.
class Tickets {
 public:
  Tickets(const DeviceCase& given, const Cluster& device)
      : given_(given), device_(device), tasks_(block_tasks(given.symbolic)) {}

  /// Of one of the parts of a supernode, which share its entries and each handle its rows.
  TaskWork work(index_t s) const {
    FactorWork one = sweep_work(given_.symbolic, s, s + 1);
    one.entries /= tasks_.parts(s);
    return one.with_rhs(given_.scalar_bytes, 2, given_.num_rhs);
  }
  /// @returns when the sweep ends that begins at `now`
  double sweep(bool forward, double now) const {
    std::vector<double> free(device_.workers, now);
    // When the last task of a supernode ended, and when those that it waits for had ended.
    std::vector<double> done(given_.symbolic.parent.size(), now), ready(done);
    double end = now;
    for (const index_t task : forward ? tasks_.forward : tasks_.backward) {
      const index_t s = tasks_.supernode_of[task], up = given_.symbolic.parent[s];
      const auto block = std::min_element(free.begin(), free.end());
      double begin = std::max(*block, ready[s]);
      if (!forward && up >= 0) begin = std::max(begin, done[up]);
      const auto busy = std::count_if(free.begin(), free.end(), [&](double at) { return at > begin; });
      *block = begin + device_.worker_seconds(work(s), rate_at(device_.memory_gbs, 1),
                                              static_cast<index_t>(busy) + 1);
      done[s] = std::max(done[s], *block);
      if (forward && up >= 0) ready[up] = std::max(ready[up], done[s]);
      end = std::max(end, done[s]);
    }
    return end;
  }

 private:
  const DeviceCase& given_;
  const Cluster& device_;
  BlockTasks tasks_;
};

/// From the leaves to a root, one sweep.
struct Path {
  double seconds = 0, latency = 0;
  index_t supernodes = 0;
};

Path costliest_path(const DeviceCase& given, const Cluster& device, const Tickets& tickets) {
  const SymbolicFactor& symbolic = given.symbolic;
  std::vector<Path> below(symbolic.num_supernodes());
  Path longest;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    TaskWork work = tickets.work(s);
    Path& mine = below[s];
    mine.seconds += device.worker_seconds(work, rate_at(device.memory_gbs, 1), 1);
    work.bytes = work.flops = 0;
    mine.latency += device.worker_seconds(work, 1, 1);
    ++mine.supernodes;
    const index_t up = symbolic.parent[s];
    if (up >= 0 && mine.seconds > below[up].seconds) below[up] = mine;
    if (mine.seconds > longest.seconds) longest = mine;
  }
  return longest;
}

}  // namespace

DevicePrediction predict_on_device(const DeviceCase& given, const Cluster& device) {
  check(device);
  DevicePrediction result;
  if (given.symbolic.num_supernodes() == 0) return result;
  const Tickets tickets(given, device);
  const double launch = device.launch_us * 1e-6;
  result.forward_seconds = tickets.sweep(true, launch);
  result.seconds = tickets.sweep(false, result.forward_seconds + launch);
  const double entries = sweep_work(given.symbolic, 0, given.symbolic.num_supernodes()).entries;
  result.bytes = 2 * entries * given.scalar_bytes;
  result.roofline_seconds = result.bytes / (rate_at(device.memory_gbs, 1) * 1e9);
  const Path path = costliest_path(given, device, tickets);
  result.path_seconds = 2 * (path.seconds + launch);
  result.latency_seconds = 2 * (path.latency + launch);
  result.path_supernodes = path.supernodes;
  return result;
}

}  // namespace palmette
