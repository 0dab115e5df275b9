// Solves for single entries of x with sparse right-hand sides.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

/// (the values of x column after column, report)
template <class T>
nb::tuple entries(Solver<T>& solver, const MatrixHandle<T>& b, ArrayIn<index_t> wanted,
                  const nb::dict& given) {
  EntryRequest request = entry_request(given);
  request.threads = get<int>(given, "threads");
  SolvedEntries<T> solved;
  {
    const LockReleased released;
    solved = solver.solve_entries(b.held(), span_of(wanted), request).value();
  }
  return nb::make_tuple(to_numpy(std::move(solved.x.values)), python::to_dict(solved.report));
}

}  // namespace

void bind_entry_solve(nb::module_& module) {
#define PALMETTE_BIND(T) module.def("solve_entries", &entries<T>);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
