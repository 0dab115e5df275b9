// The one list of methods, the one switch over them, and the rule by which `automatic` chooses.
#include <algorithm>

#include "palmette/solve/engines.hpp"

namespace palmette {

namespace {

constexpr std::string_view shared_memory = "shared memory";
constexpr std::string_view device_memory = "device memory";
constexpr std::string_view device_messages = "stores to other devices";
constexpr std::string_view rank_transports = "two-sided messages, checksum queues or counter queues";

/// "for ranks in one layer or several layers of ranks choose one of auto, …".
std::string advice_for(std::initializer_list<SolveWhere> places) {
  std::string where, names = "auto";
  for (const SolveWhere place : places) {
    where += (where.empty() ? "" : " or ") + std::string(name_of(place));
    for (const SolveMethodInfo& info : solve_method_list(place))
      if (info.available()) names += ", " + std::string(info.name);
  }
  return "for " + where + " choose one of " + names;
}

const SolveMethodInfo* find(SolveMethod method) {
  for (const SolveMethodInfo& info : solve_method_list())
    if (info.method == method) return &info;
  return nullptr;
}

}  // namespace

const std::vector<SolveMethodInfo>& solve_method_list() {
  using enum SolveMethod;
  using enum SolveWhere;
  static const std::vector<SolveMethodInfo> list = {
      {serial, "serial", "order of the tasks", shared_memory, one_machine, false, "",
       "one thread, tasks in order: the reference for the others"},
      {level_set, "level_set", "barriers", shared_memory, one_machine, true, "",
       "level after level of the task graph, a barrier between"},
      {sync_free, "sync_free", "flags", shared_memory, one_machine, true, "",
       "each task waits for the flags of its predecessors; no barriers, no locks"},
      {task_driven, "task_driven", "counters and a queue", shared_memory, one_machine, true, "",
       "dependency counters and a queue, costliest remaining path first"},
      {message_driven, "message_driven", "messages and a queue", rank_transports, ranks, true, "",
       "ranks in one layer: values and contributions travel along trees [Ding et al. 2020]"},
      {one_sync_3d, "one_sync_3d", "messages and a queue", rank_transports, layers, true, "",
       "layers of ranks that meet once in a solve [Liu et al. 2023]"},
      {baseline_3d, "baseline_3d", "messages and a queue", rank_transports, layers, true, "",
       "layers of ranks that meet at each level of the cut, in each sweep"},
      {device_tree, "device_tree", "flags", device_memory, device, false, "",
       "a block of GPU threads for each supernode, sums in the order of the tree: the same bits every time"},
      {device_level_set, "device_level_set", "a launch for each level", device_memory, device, false, "",
       "level after level of the tree of supernodes"},
      {device_sync_free, "device_sync_free", "counters", device_memory, device, false, "",
       "sums by atomic additions, so bits may differ from solve to solve [Ding et al. 2020]"},
      {devices_fan_out, "devices_fan_out", "flags", device_messages, devices, false, "",
       "blocks over a grid of devices, one kernel on each; values and sums travel along trees"},
      {devices_solve_wait, "devices_solve_wait", "flags", device_messages, devices, false, "",
       "the same with a second kernel that waits for values and passes them on [Ding et al. 2020]"},
      {devices_unified, "devices_unified", "counters", "managed memory", devices_by_columns, false, "",
       "all devices add to sums in managed memory, whose pages move [Xie et al. 2021]"},
      {devices_zero_copy, "devices_zero_copy", "counters", "loads from other devices",
       devices_by_columns, false, "",
       "sums stay where they are added up and are read from there [Xie et al. 2021]"},
      {devices_pushed, "devices_pushed", "counters and flags", "puts", devices_by_columns, false, "",
       "each device puts its sum of a row once, with a flag behind it"},
  };
  return list;
}

const std::vector<SolveMethodInfo>& solve_method_list(SolveWhere where) {
  static const auto rows_of = [](SolveWhere place) {
    std::vector<SolveMethodInfo> rows;
    for (const SolveMethodInfo& info : solve_method_list())
      if (info.where == place) rows.push_back(info);
    return rows;
  };
  static const std::vector<SolveMethodInfo> rows[] = {
      rows_of(SolveWhere::one_machine), rows_of(SolveWhere::ranks), rows_of(SolveWhere::layers),
      rows_of(SolveWhere::device), rows_of(SolveWhere::devices),
      rows_of(SolveWhere::devices_by_columns)};
  return rows[static_cast<std::size_t>(where)];
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

SolveMethod solve_method(std::string_view name, SolveWhere where) {
  const SolveMethod method = solve_method(name);
  check_solve_method(method, {where});
  return method;
}

void check_solve_method(SolveMethod method, std::initializer_list<SolveWhere> places) {
  if (const SolveMethodInfo* const info = find(method)) sweep::check_row(*info, places);
}

std::string_view name_of(SolveMethod method) {
  const SolveMethodInfo* const info = find(method);
  return info != nullptr ? info->name : "auto";
}

std::string_view name_of(SolveWhere where) {
  switch (where) {
    case SolveWhere::one_machine: return "one machine";
    case SolveWhere::ranks: return "ranks in one layer";
    case SolveWhere::layers: return "several layers of ranks";
    case SolveWhere::device: return "a device";
    case SolveWhere::devices: return "several devices";
    case SolveWhere::devices_by_columns: return "columns of several devices";
  }
  return "";
}

SolveMethod solve_method(index_t layers, LayeredMethod of_several) {
  if (layers == 1) return SolveMethod::message_driven;
  return of_several == LayeredMethod::one_sync_3d ? SolveMethod::one_sync_3d : SolveMethod::baseline_3d;
}

LayeredMethod layered_method(SolveMethod method) {
  if (method == SolveMethod::one_sync_3d) return LayeredMethod::one_sync_3d;
  if (method == SolveMethod::baseline_3d) return LayeredMethod::baseline_3d;
  throw UsageError("the method " + std::string(name_of(method)) + " has no layers: choose a layered method");
}

namespace sweep {
namespace {

// A sweep must save clearly more than the cost of waking a team, up to 50 µs if its threads sleep: 2 MiB take
// 40 µs at 50 GB/s, which one thread reads from its caches.
constexpr double least_bytes_saved = 2 * 1024 * 1024;

}  // namespace

void check_row(const SolveMethodInfo& info, std::initializer_list<SolveWhere> places) {
  const std::string name = "the solve method " + std::string(info.name);
  if (std::find(places.begin(), places.end(), info.where) == places.end())
    throw UsageError(name + " is for " + std::string(name_of(info.where)) + "; " + advice_for(places));
  if (!info.available())
    throw UsageError(name + " cannot run here (" + std::string(info.unavailable) + "); " +
                     advice_for(places));
}

SolveMethod choose_method(SolveMethod wanted, SolveWhere where, const SweepWork& work, int threads) {
  if (wanted != SolveMethod::automatic) {
    check_solve_method(wanted, {where});
    return wanted;
  }
  if (where == SolveWhere::device) return SolveMethod::device_tree;
  if (where == SolveWhere::devices) return SolveMethod::devices_fan_out;
  if (where == SolveWhere::devices_by_columns) return SolveMethod::devices_zero_copy;
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
    // Rank programs and kernels do not run on the sweeps of one machine; rejected before a solve begins.
    default: break;
  }
  return 1;
}

}  // namespace sweep
}  // namespace palmette
