// The extension module palmette._core: the library's doors under their own names, for the Python files of the package.
#include "bindings.hpp"

NB_MODULE(_core, module) {
  // A thread that works here when the program ends stands still from then on, with all that it holds: no fault to be told of.
  palmette::python::nb::set_leak_warnings(false);
  namespace python = palmette::python;
  module.doc() = "Bindings of the library. Use the package palmette, which checks and converts what it hands down.";
  module.attr("__version__") = std::string(palmette::version());
  python::bind_errors(module);
  python::bind_report(module);
  python::bind_matrix(module);
  python::bind_lists(module);
  python::bind_solver(module);
  python::bind_solve_at_once(module);
  python::bind_triangular_solver(module);
}
