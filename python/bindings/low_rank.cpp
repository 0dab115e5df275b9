// Null spaces and changes of low rank.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

template <class T>
nb::tuple null_space(Solver<T>& solver) {
  NullBasis<T> found;
  {
    const LockReleased released;
    found = solver.null_space().value();
  }
  return to_tuple(std::move(found));
}

template <class T>
UpdatedSolver<T> update(Solver<T>& solver, const MatrixHandle<T>& u, const MatrixHandle<T>& v) {
  const LockReleased released;
  return solver.update(u.held(), v.held()).value();
}

/// (what was done, entries of the changed matrix)
template <class T>
nb::tuple update_factor(Solver<T>& solver, const MatrixHandle<T>& w, bool subtract) {
  FactorUpdateReport done;
  offset_t entries = 0;
  {
    const LockReleased released;
    done = solver.update_factor(w.held(), subtract ? UpdateSign::subtract : UpdateSign::add).value();
    entries = solver.matrix()->nnz();
  }
  nb::dict fields;
  fields["rank"] = done.rank;
  fields["supernodes"] = done.supernodes;
  fields["num_supernodes"] = done.num_supernodes;
  fields["flops"] = done.flops;
  fields["seconds"] = done.seconds;
  return nb::make_tuple(fields, entries);
}

template <class T>
nb::dict solve_updated(const UpdatedSolver<T>& solver, DenseIn<T> b, DenseOut<T> x,
                       const std::string& trans) {
  const Operation how = operation(trans);
  UpdateReport report;
  {
    const LockReleased released;
    report = solver.solve(view_of<const T>(b), view_of<T>(x), how);
  }
  return python::to_dict(report);
}

template <class T>
void bind_low_rank_of(nb::module_& module) {
  nb::class_<UpdatedSolver<T>>(module, class_name<T>("UpdatedSolver").c_str())
      .def("report", [](const UpdatedSolver<T>& self) { return python::to_dict(self.report()); })
      .def("solve", &solve_updated<T>);
  module.def("null_space", &null_space<T>);
  module.def("update", &update<T>);
  module.def("update_factor", &update_factor<T>);
}

}  // namespace

void bind_low_rank(nb::module_& module) {
#define PALMETTE_BIND(T) bind_low_rank_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
