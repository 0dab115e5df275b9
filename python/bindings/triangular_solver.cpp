// TriangularSolver, once for each scalar, from a given triangle or given factors.
#include "device_arrays.hpp"
#include "given_factors.hpp"

namespace palmette::python {
namespace {

template <class T>
TriangularSolver<T> create_triangular(MatrixHandle<T>& triangle, const nb::dict& given) {
  TriangularSolverOptions options = triangular_options(given);
  options.triangle.lower = nb::cast<bool>(given["lower"]);
  options.triangle.unit_diagonal = nb::cast<bool>(given["unit_diagonal"]);
  std::shared_ptr<const SparseMatrix<T>> taken = triangle.take();
  const LockReleased released;
  return TriangularSolver<T>::create(std::move(taken), options).value();
}

/// Takes over the matrix under that name; nothing if it is None.
template <class T>
std::shared_ptr<const SparseMatrix<T>> matrix(const nb::dict& given, const char* name) {
  return given[name].is_none() ? nullptr : nb::cast<MatrixHandle<T>&>(given[name]).take();
}

template <class T>
TriangularSolver<T> from_factors(const nb::dict& factors, const nb::dict& given) {
  const TriangularSolverOptions options = triangular_options(given);
  auto own = factors_around<T>(factors, options.triangle.plan);
  own->lower = *matrix<T>(factors, "L");
  if (const auto upper = matrix<T>(factors, "U")) own->upper = *upper;
  auto product = matrix<T>(factors, "A");
  const LockReleased released;
  return TriangularSolver<T>::from_factors(std::move(own), std::move(product), options).value();
}

template <class T>
ReportHandle solve_triangular(TriangularSolver<T>& self, DenseIn<T> b, DenseOut<T> x, const nb::dict& given) {
  const SolveRequest request = solve_request(given);
  const LockReleased released;
  return {self.solve(view_of<const T>(b), view_of<T>(x), request).value()};
}

template <class T>
void bind_triangular_solver_of(nb::module_& module) {
  nb::class_<TriangularSolver<T>>(module, class_name<T>("TriangularSolver").c_str())
      .def_static("create", create_triangular<T>)
      .def_static("from_factors", from_factors<T>)
      .def("solve", solve_triangular<T>)
      .def("solve_one", solve_one<T, TriangularSolver>)
      .def("solve_there", solve_there<T, TriangularSolver>)
      .def("device", device_of<T, TriangularSolver>)
      .def("report", [](const TriangularSolver<T>& self) { return ReportHandle{self.report()}; });
}

}  // namespace

void bind_triangular_solver(nb::module_& module) {
#define PALMETTE_BIND(T) bind_triangular_solver_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
