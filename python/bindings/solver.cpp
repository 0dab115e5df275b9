// Solver, once for each scalar. The interpreter lock is released while the library works.
#include <algorithm>

#include "device_arrays.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

template <class T>
Solver<T> create(MatrixHandle<T>& matrix, const nb::dict& given) {
  const SolverOptions options = solver_options(given);
  std::shared_ptr<const SparseMatrix<T>> taken = matrix.take();
  const LockReleased released;
  return Solver<T>::create(std::move(taken), options).value();
}

template <class T>
ReportHandle solve(Solver<T>& self, DenseIn<T> b, DenseOut<T> x, const nb::dict& given) {
  const SolveRequest request = solve_request(given);
  const LockReleased released;
  return {self.solve(view_of<const T>(b), view_of<T>(x), request).value()};
}

template <class T>
void refactor(Solver<T>& self, MatrixHandle<T>& matrix, int threads) {
  std::shared_ptr<const SparseMatrix<T>> taken = matrix.take();
  const LockReleased released;
  self.refactor(std::move(taken), threads).value();
}

template <class T>
void refactor_values(Solver<T>& self, ArrayIn<T> values, int threads) {
  const LockReleased released;
  const auto given = span_of(values);
  self.refactor_values({given.begin(), given.end()}, threads).value();
}

/// Row and column of an entry, by its number in the solver's own order.
template <class T>
nb::tuple place_of(const Solver<T>& self, offset_t entry) {
  const std::shared_ptr<const SparseMatrix<T>> matrix = self.matrix();
  const std::vector<offset_t>& column_ptr = matrix->pattern.column_ptr;
  const auto after = std::upper_bound(column_ptr.begin(), column_ptr.end(), entry);
  return nb::make_tuple(matrix->pattern.row_index.at(static_cast<std::size_t>(entry)),
                        after - column_ptr.begin() - 1);
}

template <class T>
nb::tuple inertia(const Solver<T>& self) {
  Inertia found;
  {
    const LockReleased released;
    found = self.inertia();
  }
  return nb::make_tuple(found.positive, found.negative, found.zero);
}

template <class T>
ReportHandle report_of(const Solver<T>& self) {
  const LockReleased released;
  return {self.report()};
}

template <class T>
nb::dict structure(const Solver<T>& self) {
  const std::shared_ptr<const SymbolicFactor> kept = self.symbolic();
  const SymbolicFactor& symbolic = *kept;
  nb::dict arrays;
  arrays["row"] = to_numpy(symbolic.row.new_to_old());
  arrays["column"] = to_numpy(symbolic.column.new_to_old());
  arrays["column_parent"] = to_numpy(symbolic.column_parent);
  arrays["supernode_begin"] = to_numpy(symbolic.supernode_begin);
  arrays["parent"] = to_numpy(symbolic.parent);
  arrays["row_ptr"] = to_numpy(symbolic.row_ptr);
  arrays["row_index"] = to_numpy(symbolic.row_index);
  return arrays;
}

/// (L, U, row, column, replaced pivots): both as arrays of to_arrays; both permutations new_to_old.
template <class T>
nb::tuple extract(const Solver<T>& self) {
  ExtractedLu<T> factors;
  index_t replaced = 0;
  {
    const LockReleased released;
    const std::shared_ptr<const Factor<T>> factor = self.factor();
    factors = extract_lu(*factor);
    replaced = factor->pivots.perturbed;
  }
  return nb::make_tuple(to_arrays(std::move(factors.lower)), to_arrays(std::move(factors.upper)),
                        to_numpy(factors.row.new_to_old()), to_numpy(factors.column.new_to_old()), replaced);
}

/// (L, D) or (L, U) as arrays of to_arrays, and the number of replaced pivots.
template <class T>
nb::tuple extract_parts(const Solver<T>& self) {
  SparseMatrix<T> lower, other;
  index_t replaced = 0;
  {
    const LockReleased released;
    const std::shared_ptr<const Factor<T>> factor = self.factor();
    replaced = factor->pivots.perturbed;
    if (factor->kind == FactorKind::lu) {
      ExtractedLu<T> factors = extract_lu(*factor);
      lower = std::move(factors.lower), other = std::move(factors.upper);
    } else {
      ExtractedLdl<T> factors = extract_ldl(*factor);
      lower = std::move(factors.lower), other = std::move(factors.diagonal);
    }
  }
  return nb::make_tuple(to_arrays(std::move(lower)), to_arrays(std::move(other)), replaced);
}

/// Row and column order of the factors, new_to_old.
template <class T>
nb::tuple orders(const Solver<T>& self) {
  FactorOrder order;
  {
    const LockReleased released;
    order = order_of(*self.factor());
  }
  return nb::make_tuple(to_numpy(order.row.new_to_old()), to_numpy(order.column.new_to_old()));
}

/// Whether the factorization is L·Lᴴ or L·D·Lᴴ (for real scalars the same as with the transpose).
template <class T>
bool is_adjoint(const Solver<T>& self) {
  const std::shared_ptr<const Factor<T>> factor = self.factor();
  return factor->kind == FactorKind::llt || factor->hermitian;
}

template <class T>
void solve_part(const Solver<T>& self, const std::string& name, const std::string& trans, DenseIn<T> b,
                DenseOut<T> x) {
  const FactorPart part = name == "L"   ? FactorPart::lower
                          : name == "D" ? FactorPart::diagonal
                                        : FactorPart::upper;
  const Operation op = operation(trans);
  const LockReleased released;
  self.solve_part(part, op, view_of<const T>(b), view_of<T>(x));
}

template <class T>
void bind_solver_of(nb::module_& module) {
  nb::class_<Solver<T>>(module, class_name<T>("Solver").c_str())
      .def_static("create", create<T>)
      .def("solve", solve<T>)
      .def("solve_one", solve_one<T, Solver>)
      .def("solve_there", solve_there<T, Solver>)
      .def("device", device_of<T, Solver>)
      .def("refactor", refactor<T>)
      .def("refactor_values", refactor_values<T>)
      .def("place_of", place_of<T>)
      .def("report", report_of<T>)
      .def("slogdet",
           [](const Solver<T>& self) { return nb::make_tuple(self.slogdet().first, self.slogdet().second); })
      .def("inertia", inertia<T>)
      .def("structure", structure<T>)
      .def("extract_parts", extract_parts<T>)
      .def("orders", orders<T>)
      .def("is_adjoint", is_adjoint<T>)
      .def("solve_part", solve_part<T>)
      .def("extract_lu", extract<T>);
}

}  // namespace

void bind_solver(nb::module_& module) {
#define PALMETTE_BIND(T) bind_solver_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
