// Batches of small systems with one pattern.
#include "bindings.hpp"
#include "options.hpp"

namespace palmette::python {
namespace {

template <class T>
using BatchIn = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using BatchOut = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using RowsIn = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict to_dict(BatchReport&& report) {
  std::vector<std::uint8_t> state;
  for (const BatchState one : report.state) state.push_back(static_cast<std::uint8_t>(one));
  nb::dict fields;
  fields["kind"] = std::string(name_of(report.kind));
  fields["nnz_factor"] = report.nnz_factor;
  fields["flops"] = report.flops;
  fields["lanes"] = report.lanes;
  fields["threads"] = report.threads;
  fields["seconds"] = report.seconds;
  fields["bound"] = report.bound;
  fields["refined"] = report.num_refined;
  fields["solved_alone"] = report.num_alone;
  fields["failed"] = report.num_failed;
  fields["verified"] = report.verified();
  fields["notes"] = report.notes;
  fields["state"] = to_numpy(std::move(state));
  fields["backward_error"] = to_numpy(std::move(report.backward_error));
  fields["bad_column"] = to_numpy(std::move(report.bad_column));
  return fields;
}

template <class T>
BatchSolver<T> create_batch(MatrixHandle<T>& matrix, const nb::dict& given) {
  BatchOptions options;
  options.kind = factor_kind(nb::cast<std::string>(given["kind"]));
  options.ordering = ordering_method(nb::cast<std::string>(given["ordering"]));
  options.threads = nb::cast<int>(given["threads"]);
  options.solve_alone = nb::cast<bool>(given["solve_alone"]);
  std::shared_ptr<const SparseMatrix<T>> taken = matrix.take();
  const LockReleased released;
  return BatchSolver<T>::create(std::move(taken), options).value();
}

template <class T>
nb::dict solve_batch(const BatchSolver<T>& self, RowsIn<T> values, BatchIn<T> b, BatchOut<T> x) {
  BatchReport report;
  {
    const LockReleased released;
    const auto rhs = static_cast<offset_t>(b.shape(2)), n = static_cast<offset_t>(b.shape(1));
    report =
        self.solve({values.data(), static_cast<offset_t>(values.shape(1)), 1, 0}, {b.data(), n * rhs, rhs, 1},
                   {x.data(), n * rhs, rhs, 1}, static_cast<index_t>(b.shape(0)), static_cast<index_t>(rhs));
  }
  return to_dict(std::move(report));
}

template <class T>
void bind_batch_of(nb::module_& module) {
  nb::class_<BatchSolver<T>>(module, class_name<T>("BatchSolver").c_str())
      .def_static("create", create_batch<T>)
      .def("kind", [](const BatchSolver<T>& self) { return std::string(name_of(self.kind())); })
      .def("solve", solve_batch<T>);
}

}  // namespace

void bind_batch_solver(nb::module_& module) {
#define PALMETTE_BIND(T) bind_batch_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
  std::vector<std::string> states;
  for (int state = 0; state <= static_cast<int>(BatchState::not_finite); ++state)
    states.emplace_back(name_of(static_cast<BatchState>(state)));
  module.attr("batch_states") = states;
}

}  // namespace palmette::python
