// The one list of methods, the one switch over them, and the rule by which `automatic` chooses.
#include <algorithm>

#include "palmette/solve/engines.hpp"

namespace palmette {

const std::vector<SolveMethodInfo>& solve_method_list() {
  static const std::vector<SolveMethodInfo> list = {
      {SolveMethod::serial, "serial", false, "one thread, tasks in order: the judge of the others"},
      {SolveMethod::level_set, "level_set", true, "level after level of the task graph, a barrier between"},
      {SolveMethod::sync_free, "sync_free", true,
       "each task waits for the flags of its predecessors; no barriers, no locks"},
      {SolveMethod::task_driven, "task_driven", true,
       "dependency counters and a queue, costliest remaining path first"},
  };
  return list;
}

SolveMethod solve_method(std::string_view name) {
  if (name == "auto" || name == "automatic") return SolveMethod::automatic;
  std::string known = "auto";
  for (const SolveMethodInfo& info : solve_method_list()) {
    if (info.name == name) return info.method;
    known += ", " + std::string(info.name);
  }
  throw UsageError("there is no solve method '" + std::string(name) + "'; choose one of " + known);
}

std::string_view name_of(SolveMethod method) {
  for (const SolveMethodInfo& info : solve_method_list())
    if (info.method == method) return info.name;
  return "auto";
}

namespace sweep {
namespace {

// A sweep must save clearly more than what waking a team costs, up to 50 µs where its threads have gone to
// sleep: 2 MiB take 40 µs at 50 GB/s, which one thread reads from its caches.
constexpr double least_bytes_saved = 2 * 1024 * 1024;

}  // namespace

SolveMethod choose_method(SolveMethod wanted, const SweepWork& work, int threads) {
  if (wanted != SolveMethod::automatic) return wanted;
  if (threads <= 1) return SolveMethod::serial;
  const double shared = std::max(work.bytes / threads, work.critical_path_bytes);
  return work.bytes - shared < least_bytes_saved ? SolveMethod::serial : SolveMethod::sync_free;
}

int run_sweep(SolveMethod method, const SweepRun& run) {
  switch (method) {
    case SolveMethod::automatic:
    case SolveMethod::serial: return run_serial(run);
    case SolveMethod::level_set: return run_level_set(run);
    case SolveMethod::sync_free: return run_sync_free(run);
    case SolveMethod::task_driven: return run_task_driven(run);
  }
  return 1;
}

}  // namespace sweep
}  // namespace palmette
