// Schur complements, once for each scalar.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

template <class T>
SchurSolver<T> create_schur(MatrixHandle<T>& matrix, ArrayIn<index_t> boundary, const nb::dict& given) {
  SchurOptions options;
  options.kind = factor_kind(nb::cast<std::string>(given["kind"]));
  options.ordering = ordering_method(nb::cast<std::string>(given["ordering"]));
  options.threads = nb::cast<int>(given["threads"]);
  std::shared_ptr<const SparseMatrix<T>> taken = matrix.take();
  const auto unknowns = span_of(boundary);
  const LockReleased released;
  return SchurSolver<T>::create(std::move(taken), {unknowns.begin(), unknowns.end()}, options).value();
}

/// S column after column.
template <class T>
nb::object complement(const SchurSolver<T>& self) {
  const DenseView<const T> s = self.complement();
  return to_numpy(std::vector<T>(s.data, s.data + offset_t(s.rows) * s.cols));
}

template <class T>
nb::dict solve_interior(const SchurSolver<T>& self, DenseIn<T> b, DenseOut<T> x) {
  Verification found;
  {
    const LockReleased released;
    found = self.solve_interior(view_of<const T>(b), view_of<T>(x));
  }
  return to_dict(found);
}

template <class T>
void condense(const SchurSolver<T>& self, DenseIn<T> b, DenseOut<T> g) {
  const LockReleased released;
  self.condense(view_of<const T>(b), view_of<T>(g));
}

template <class T>
nb::dict expand(const SchurSolver<T>& self, DenseIn<T> b, DenseIn<T> boundary_part, DenseOut<T> x) {
  Verification found;
  {
    const LockReleased released;
    found = self.expand(view_of<const T>(b), view_of<const T>(boundary_part), view_of<T>(x));
  }
  return to_dict(found);
}

template <class T>
void bind_schur_of(nb::module_& module) {
  nb::class_<SchurSolver<T>>(module, class_name<T>("SchurSolver").c_str())
      .def_static("create", &create_schur<T>)
      .def("report", [](const SchurSolver<T>& self) { return to_dict(self.report()); })
      .def("complement", &complement<T>)
      .def("solve_interior", &solve_interior<T>)
      .def("condense", &condense<T>)
      .def("expand", &expand<T>);
}

}  // namespace

void bind_schur(nb::module_& module) {
#define PALMETTE_BIND(T) bind_schur_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
