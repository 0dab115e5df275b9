// The extension module palmette._core: the library's doors under their own names, for the Python files of the
// package.
#include "bindings.hpp"

/// By this name threadpoolctl distinguishes this module from others whose files are called _core.
extern "C" __attribute__((visibility("default"))) int palmette_python_module() {
  return 1;
}

NB_MODULE(_core, module) {
  // A thread that works here when the program ends is suspended with everything that it holds: this is not an
  // error to report.
  palmette::python::nb::set_leak_warnings(false);
  namespace python = palmette::python;
  module.doc() =
      "Bindings of the library. Use the package palmette, which checks and converts what it hands down.";
  module.attr("__version__") = std::string(palmette::version());
  module.def("available_processors", palmette::available_processors);
  python::bind_errors(module);
  python::bind_report(module);
  python::bind_matrix(module);
  python::bind_lists(module);
  python::bind_device_arrays(module);
  python::bind_solver(module);
  python::bind_inverse(module);
  python::bind_entry_solve(module);
  python::bind_low_rank(module);
  python::bind_schur(module);
  python::bind_saved_solver(module);
  python::bind_batch_solver(module);
  python::bind_solve_at_once(module);
  python::bind_triangular_solver(module);
  python::bind_transfers(module);
}
