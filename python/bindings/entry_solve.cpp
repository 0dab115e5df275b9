// Solves for single entries of x with sparse right-hand sides.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

nb::dict to_dict(const EntryReport& report) {
  nb::dict fields;
  fields["method"] = std::string(name_of(report.method));
  fields["threads"] = report.threads;
  fields["seconds"] = report.seconds;
  fields["bytes"] = report.bytes;
  fields["whole_bytes"] = report.whole_bytes;
  fields["solved_whole"] = report.solved_whole;
  fields["checked_rows"] = report.checked_rows;
  fields["backward_error"] = report.backward_error;
  fields["bound"] = report.bound;
  fields["verified"] = report.verified;
  fields["notes"] = report.notes;
  return fields;
}

/// (the values of x column after column, report)
template <class T>
nb::tuple entries(Solver<T>& solver, const MatrixHandle<T>& b, ArrayIn<index_t> wanted,
                  const nb::dict& given) {
  EntryRequest request;
  request.operation = operation(nb::cast<std::string>(given["trans"]));
  request.threads = nb::cast<int>(given["threads"]);
  request.check = nb::cast<bool>(given["check"]);
  SolvedEntries<T> solved;
  {
    const LockReleased released;
    solved = solver.solve_entries(b.held(), span_of(wanted), request).value();
  }
  return nb::make_tuple(to_numpy(std::move(solved.x.values)), to_dict(solved.report));
}

}  // namespace

void bind_entry_solve(nb::module_& module) {
#define PALMETTE_BIND(T) module.def("solve_entries", &entries<T>);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
