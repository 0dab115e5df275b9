// Solvers as files.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

/// (solver, rows, entries, name of the scalar)
template <class T>
nb::tuple loaded(const std::string& path, const LoadOptions& options) {
  std::unique_ptr<Solver<T>> solver;
  {
    const LockReleased released;
    solver = std::make_unique<Solver<T>>(Solver<T>::load(path, options));
  }
  const index_t rows = solver->size();
  const offset_t entries = solver->matrix()->nnz();
  return nb::make_tuple(nb::cast(std::move(*solver), nb::rv_policy::move), rows, entries,
                        std::string(ScalarTraits<T>::name));
}

nb::tuple load(const std::string& path, const nb::dict& given) {
  const LoadOptions options = load_options(given);
  switch (saved_scalar(path)) {
    case ScalarType::float32:
      return loaded<float>(path, options);
    case ScalarType::float64:
      return loaded<double>(path, options);
    case ScalarType::complex64:
      return loaded<std::complex<float>>(path, options);
    case ScalarType::complex128:
      break;
  }
  return loaded<std::complex<double>>(path, options);
}

template <class T>
void save(const Solver<T>& solver, const std::string& path) {
  const LockReleased released;
  solver.save(path);
}

}  // namespace

void bind_saved_solver(nb::module_& module) {
#define PALMETTE_BIND(T) module.def("save_solver", &save<T>);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
  module.def("load_solver", &load);
}

}  // namespace palmette::python
