// Blocks take tickets, as the kernels do.
#include "palmette/predict/device_model.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace palmette {
namespace {

/// Warps of a block, of those with as many threads as are usual.
constexpr index_t warps_of_block = 8;

/// One sweep in the order of the tickets: small supernodes are taken by warps, forward before all others,
/// backward after them.
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
  /// The device as it is for the task of a supernode: a warp has a share of its block's loads in flight.
  Cluster device_for(index_t s) const {
    Cluster device = device_;
    if (tasks_.is_small[s] != 0) device.worker_gbs /= warps_of_block;
    return device;
  }
  /// @returns when the sweep ends that begins at `now`
  double sweep(bool forward, double now) const {
    Run run{std::vector<double>(given_.symbolic.parent.size(), now), {}, now};
    run.ready = run.done;
    const auto blocks = static_cast<std::size_t>(device_.workers);
    std::vector<double> free(forward ? blocks * warps_of_block : blocks, now);
    const std::span<const index_t> order = forward ? tasks_.forward : tasks_.backward;
    const std::size_t first = forward ? tasks_.num_small : order.size() - tasks_.num_small;
    take(run, order.first(first), forward, free);
    if (forward) {  // a block goes on when its last warp is done
      for (std::size_t k = 0; k < blocks; ++k)
        free[k] = *std::max_element(free.begin() + k * warps_of_block,
                                    free.begin() + (k + 1) * warps_of_block);
      free.resize(blocks);
    } else {
      std::vector<double> warps;
      for (const double at : free) warps.insert(warps.end(), warps_of_block, at);
      free.swap(warps);
    }
    take(run, order.subspan(first), forward, free);
    return run.end;
  }

 private:
  struct Run {
    // When the last task of a supernode ended, and when those that it waits for had ended.
    std::vector<double> done, ready;
    double end;
  };

  /// @param free  when each block, or each warp, takes its next ticket
  void take(Run& run, std::span<const index_t> order, bool forward, std::vector<double>& free) const {
    if (order.empty()) return;
    const Cluster device = device_for(tasks_.supernode_of[order.front()]);
    // The next to be free is the top; those that work are counted as tasks begin, which is nearly in time.
    using Heap = std::priority_queue<double, std::vector<double>, std::greater<>>;
    Heap idle(std::greater<>(), std::move(free)), working;
    for (const index_t task : order) {
      const index_t s = tasks_.supernode_of[task], up = given_.symbolic.parent[s];
      double begin = std::max(idle.top(), run.ready[s]);
      if (!forward && up >= 0) begin = std::max(begin, run.done[up]);
      while (!working.empty() && working.top() <= begin) working.pop();
      const double end = begin + device.worker_seconds(work(s), rate_at(device.memory_gbs, 1),
                                                       static_cast<index_t>(working.size()) + 1);
      working.push(end);
      idle.pop();
      idle.push(end);
      run.done[s] = std::max(run.done[s], end);
      if (forward && up >= 0) run.ready[up] = std::max(run.ready[up], run.done[s]);
      run.end = std::max(run.end, run.done[s]);
    }
    free.clear();
    for (; !idle.empty(); idle.pop()) free.push_back(idle.top());
  }

  const DeviceCase& given_;
  const Cluster& device_;
  BlockTasks tasks_;
};

/// From the leaves to a root, one sweep.
struct Path {
  double seconds = 0, latency = 0;
  index_t supernodes = 0;
};

Path costliest_path(const DeviceCase& given, const Tickets& tickets) {
  const SymbolicFactor& symbolic = given.symbolic;
  std::vector<Path> below(symbolic.num_supernodes());
  Path longest;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    TaskWork work = tickets.work(s);
    const Cluster device = tickets.device_for(s);
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
  const double launch = device.launch_us * 1e-6, rate = rate_at(device.memory_gbs, 1) * 1e9;
  const double entries = sweep_work(given.symbolic, 0, given.symbolic.num_supernodes()).entries;
  result.bytes = 2 * entries * given.scalar_bytes;
  result.vector_bytes = 4.0 * given.symbolic.n * given.num_rhs * given.scalar_bytes;
  // The launches of a solve: b into the order of the rows, two sweeps, x back.
  const double move = launch + result.vector_bytes / 2 / rate;
  result.forward_seconds = tickets.sweep(true, move + launch) - move;
  result.seconds = tickets.sweep(false, move + result.forward_seconds + launch) + move;
  result.roofline_seconds = (result.bytes + result.vector_bytes) / rate;
  const Path path = costliest_path(given, tickets);
  result.path_seconds = 2 * (path.seconds + launch + move);
  result.latency_seconds = 2 * (path.latency + 2 * launch);
  result.path_supernodes = path.supernodes;
  return result;
}

}  // namespace palmette
