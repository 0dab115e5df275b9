// Entries of inverses: free functions over the solver of each scalar.
#include "bindings.hpp"

namespace palmette::python {
namespace {

InverseRequest request_of(int threads, index_t check) {
  InverseRequest request;
  request.threads = threads;
  request.check_columns = check;
  return request;
}

/// (values, report)
template <class T>
nb::tuple checked_entries(Solver<T>& solver, ArrayIn<index_t> rows, ArrayIn<index_t> columns, int threads,
                  index_t check) {
  InverseEntries<T> found;
  {
    const LockReleased released;
    found = inverse_entries<T>(solver, span_of(rows), span_of(columns), request_of(threads, check)).value();
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), python::to_dict(found.report));
}

/// (arrays of to_arrays, report)
template <class T>
nb::tuple selected(Solver<T>& solver, int threads, index_t check) {
  SparseMatrix<T> matrix;
  InverseReport report;
  {
    const LockReleased released;
    CheckedInverse<T> made = selected_inverse(solver, request_of(threads, check)).value();
    matrix = made.inverse.matrix();
    report = std::move(made.report);
  }
  return nb::make_tuple(to_arrays(std::move(matrix)), python::to_dict(report));
}

}  // namespace

void bind_inverse(nb::module_& module) {
#define PALMETTE_BIND(T)                       \
  module.def("inverse_entries", &checked_entries<T>); \
  module.def("selected_inverse", &selected<T>);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
