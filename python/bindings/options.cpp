// Maps the Python name of each option to its C++ name.
#include "options.hpp"

namespace palmette::python {
namespace {

/// Lets Ctrl-C end a long phase: raises KeyboardInterrupt in the caller's thread.
void raise_pending_signals(std::string_view, double) {
  const LockTaken taken;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

Operation operation(const std::string& name) {
  if (name == "N") return Operation::plain;
  if (name == "T") return Operation::transpose;
  if (name == "H") return Operation::adjoint;
  throw UsageError("trans is '" + name + "'; use 'N', 'T' or 'H'");
}

std::optional<FactorKind> factor_kind(const std::string& name) {
  if (name == "auto") return std::nullopt;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    if (name == name_of(kind)) return kind;
  throw UsageError("there is no factorization of kind '" + name + "'; use auto, llt, ldlt or lu");
}

SolverOptions solver_options(const nb::dict& given) {
  SolverOptions options;
  options.kind = factor_kind(get<std::string>(given, "kind"));
  if (given["permutation"].is_none()) {
    options.ordering = ordering_method(get<std::string>(given, "ordering"));
  } else {
    options.ordering = OrderingMethod::user;
    const auto order = span_of(get<ArrayIn<index_t>>(given, "permutation"));
    options.user_ordering = Permutation(std::vector<index_t>(order.begin(), order.end()));
  }
  options.method = solve_method(get<std::string>(given, "method"));
  const auto gpus = get<std::vector<index_t>>(given, "gpus");
  if (gpus[0] == 1 && gpus[1] == 1 && gpus[2] == 1) set_device(options, get<std::string>(given, "device"));
  else set_devices(options, get<std::string>(given, "device"), {gpus[0], gpus[1]}, gpus[2]);
  options.threads = get<int>(given, "threads");
  options.mixed_precision = get<bool>(given, "mixed");
  options.singular = singular_answer(get<std::string>(given, "singular"));
  options.measure = get<bool>(given, "measure");
  options.cache_folder = get<std::string>(given, "cache_folder");
  options.progress = raise_pending_signals;
  return options;
}

TriangularSolverOptions triangular_options(const nb::dict& given) {
  TriangularSolverOptions options;
  options.method = solve_method(get<std::string>(given, "method"));
  options.triangle.plan.of_world.tasks_per_element = get<index_t>(given, "tasks_per_gpu");
  set_devices(options, get<std::string>(given, "device"), get<std::vector<index_t>>(given, "gpus")[0]);
  options.threads = get<int>(given, "threads");
  options.measure = get<bool>(given, "measure");
  options.cache_folder = get<std::string>(given, "cache_folder");
  return options;
}

LoadOptions load_options(const nb::dict& given) {
  LoadOptions options;
  options.method = solve_method(get<std::string>(given, "method"));
  options.threads = get<int>(given, "threads");
  options.map = get<bool>(given, "map");
  options.check_panels = get<bool>(given, "check");
  options.memory_budget = get<offset_t>(given, "memory_budget");
  options.disk_gbs = get<double>(given, "disk_gbs");
  options.measure = get<bool>(given, "measure");
  options.cache_folder = get<std::string>(given, "cache_folder");
  options.progress = raise_pending_signals;
  return options;
}

SolveRequest solve_request(const nb::dict& given) {
  SolveRequest request;
  request.operation = operation(get<std::string>(given, "trans"));
  request.max_refine_steps = get<int>(given, "refine");
  request.condition = get<bool>(given, "condition");
  request.repeat = get<int>(given, "repeat");
  request.threads = get<int>(given, "threads");
  return request;
}

EntryRequest entry_request(const nb::dict& given) {
  EntryRequest request;
  request.operation = operation(get<std::string>(given, "trans"));
  request.check = get<bool>(given, "check");
  return request;
}

}  // namespace palmette::python
