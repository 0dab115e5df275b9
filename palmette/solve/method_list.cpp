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
#define METHOD(name, engine, delivery, place, threaded, run, unavailable, summary) \
  {name, #name, engine, delivery, place, threaded, unavailable, summary},
#include "palmette/solve/methods.inc"
#undef METHOD
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
      rows_of(SolveWhere::device_layers), rows_of(SolveWhere::device_levels),
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
  if (const SolveMethodInfo* const info = find(method)) solve_detail::check_row(*info, places);
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
    case SolveWhere::device_layers: return "several layers of devices";
    case SolveWhere::device_levels: return "several layers of devices that meet at each level";
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

namespace solve_detail {
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
  if (where != SolveWhere::one_machine) return solve_method_list(where).front().method;
  if (threads <= 1) return SolveMethod::serial;
  const double shared = std::max(work.bytes / threads, work.critical_path_bytes);
  return work.bytes - shared < least_bytes_saved ? SolveMethod::serial : SolveMethod::sync_free;
}

int run_sweep(SolveMethod method, const SweepRun& run) {
  using Engine = int (*)(const SweepRun&);
  static constexpr Engine engines[] = {
      run_serial,  // automatic
#define METHOD(name, engine, delivery, place, threaded, run, unavailable, summary) run,
#include "palmette/solve/methods.inc"
#undef METHOD
  };
  // Methods of ranks and devices have no sweep on one machine; they were rejected before the solve.
  const Engine engine = engines[static_cast<std::size_t>(method)];
  return engine != nullptr ? engine(run) : 1;
}

}  // namespace solve_detail
}  // namespace palmette
