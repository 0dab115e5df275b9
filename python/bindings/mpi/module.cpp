// The extension module palmette._mpi: the hall over MPI ranks, for matrices whose rows come from different
// ranks. Separate from palmette._core, since only this module needs MPI. Every function is called by all
// ranks.
#include "mpi/rank_call.hpp"

namespace palmette::python {

RankSolverOptions rank_options(const nb::dict& given) {
  RankSolverOptions options;
  options.kind = factor_kind(get<std::string>(given, "kind"));
  options.ordering = ordering_method(get<std::string>(given, "ordering"));
  options.matching = get<bool>(given, "matching");
  options.grid = {get<index_t>(given, "grid_rows"), get<index_t>(given, "grid_cols")};
  options.layers = get<index_t>(given, "layers");
  options.map = placement_map(get<std::string>(given, "map"));
  options.trees = tree_shape(get<std::string>(given, "trees"));
  options.threads = get<int>(given, "threads");
  options.watchdog_seconds = get<double>(given, "watchdog");
  options.memory = choice_named("memory kind", get<std::string>(given, "memory"), memory_kinds);
  options.singular = singular_answer(get<std::string>(given, "singular"));
  return options;
}

ExchangeChoice exchange_choice(const nb::dict& given) {
  return {get<std::string>(given, "transport"), get<std::string>(given, "device")};
}

MpiExchange begin_exchange(int communicator, const ExchangeChoice& choice, RankSolverOptions& options) {
  MpiExchange exchange = make_mpi_exchange(communicator, choice.transport);
  options.transport_name = exchange.name;
  options.transport_note = exchange.note;
  options.planned = exchange.planned;
  agree_after(*exchange.transport,
              [&] { options.device = open_device_of_rank(choice.device, exchange.transport->rank()); });
  return exchange;
}

namespace {

template <class T>
struct RowSolver {
  std::shared_ptr<MpiExchange> exchange;  // outlives the solver
  RankSolver<T> solver;
};

template <class T>
struct UpdatedRowSolver {
  std::shared_ptr<MpiExchange> exchange;  // outlives the solver
  UpdatedRankSolver<T> solver;
};

template <class T>
RowSolver<T> create(const RowArrays<T>& rows, int communicator, const nb::dict& given) {
  RankSolverOptions options = rank_options(given);
  const ExchangeChoice choice = exchange_choice(given);
  const LockReleased released;
  MpiExchange exchange = begin_exchange(communicator, choice, options);
  RankSolver<T> solver = RankSolver<T>::create_from_rows(rows.block(), options, *exchange.transport).value();
  return {std::make_shared<MpiExchange>(std::move(exchange)), std::move(solver)};
}

RankLoadOptions rank_load_options(const nb::dict& given) {
  RankLoadOptions options;
  options.threads = get<int>(given, "threads");
  options.watchdog_seconds = get<double>(given, "watchdog");
  options.map = get<bool>(given, "map");
  options.check_panels = get<bool>(given, "check");
  options.singular = singular_answer(get<std::string>(given, "singular"));
  options.memory = choice_named("memory kind", get<std::string>(given, "memory"), memory_kinds);
  return options;
}

/// (solver, order of the matrix, first row, rows of this rank, name of the scalar)
template <class T>
nb::tuple loaded(const std::string& path, MpiExchange exchange, const RankLoadOptions& options) {
  std::optional<RankSolver<T>> solver;
  {
    const LockReleased released;
    solver = RankSolver<T>::load(path, options, *exchange.transport);
  }
  const index_t size = solver->size(), first = solver->first_row(), rows = solver->num_rows();
  RowSolver<T> made{std::make_shared<MpiExchange>(std::move(exchange)), *std::move(solver)};
  return nb::make_tuple(nb::cast(std::move(made), nb::rv_policy::move), size, first, rows,
                        std::string(ScalarTraits<T>::name));
}

nb::tuple load(const std::string& path, int communicator, const nb::dict& given) {
  RankLoadOptions options = rank_load_options(given);
  const std::string transport = get<std::string>(given, "transport");
  const std::string device = get<std::string>(given, "device");
  std::optional<MpiExchange> exchange;
  ScalarType scalar = ScalarType::float64;
  {
    const LockReleased released;
    exchange = make_mpi_exchange(communicator, transport);
    exchange->transport->set_watchdog(options.watchdog_seconds);
    options.transport_name = exchange->name;
    options.transport_note = exchange->note;
    options.planned = exchange->planned;
    agree_after(*exchange->transport,
                [&] { options.device = open_device_of_rank(device, exchange->transport->rank()); });
    scalar = saved_scalar_over_ranks(path, *exchange->transport);
  }
  switch (scalar) {
    case ScalarType::float32:
      return loaded<float>(path, *std::move(exchange), options);
    case ScalarType::float64:
      return loaded<double>(path, *std::move(exchange), options);
    case ScalarType::complex64:
      return loaded<std::complex<float>>(path, *std::move(exchange), options);
    case ScalarType::complex128:
      break;
  }
  return loaded<std::complex<double>>(path, *std::move(exchange), options);
}

template <class T>
nb::dict solve(RowSolver<T>& self, DenseIn<T> b, DenseOut<T> x, const nb::dict& given) {
  const SolveRequest request = solve_request(given);
  std::optional<RankReport> report;
  {
    const LockReleased released;
    report = self.solver.solve_rows(view_of<const T>(b), view_of<T>(x), request).value();
  }
  return to_dict(*report);
}

/// Entries of this rank's rows of b, row after row. @returns (the values of x column after column, report)
template <class T>
nb::tuple solve_entries(RowSolver<T>& self, const RowArrays<T>& b, ArrayIn<index_t> wanted,
                        const nb::dict& given) {
  const EntryRequest request = entry_request(given);
  SolvedEntries<T> solved;
  {
    const LockReleased released;
    const RowBlock<T> rows = b.block();
    const SparseMatrix<T> columns = transpose(
        from_compressed_columns<T>(rows.size, rows.num_rows(), rows.row_ptr, rows.column, rows.values));
    solved = self.solver.solve_entries_rows(columns, span_of(wanted), request).value();
  }
  const EntryReport& report = solved.report;
  nb::dict fields = to_dict(report);
  fields["messages"] = static_cast<std::int64_t>(report.messages);
  fields["message_bytes"] = report.message_bytes;
  fields["whole_messages"] = static_cast<std::int64_t>(report.whole_messages);
  fields["whole_message_bytes"] = report.whole_message_bytes;
  return nb::make_tuple(to_numpy(std::move(solved.x.values)), fields);
}

/// The same lists on all ranks. @returns (values, report)
template <class T>
nb::tuple inverse_entries(RowSolver<T>& self, ArrayIn<index_t> rows, ArrayIn<index_t> columns,
                          index_t check) {
  InverseRequest request;
  request.check_columns = check;
  InverseEntries<T> found;
  {
    const LockReleased released;
    found = self.solver.inverse_entries(span_of(rows), span_of(columns), request).value();
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), to_dict(found.report));
}

/// @returns (arrays of to_arrays: this rank's entries, report)
template <class T>
nb::tuple selected_inverse(RowSolver<T>& self, index_t check) {
  InverseRequest request;
  request.check_columns = check;
  SparseMatrix<T> matrix;
  InverseReport report;
  {
    const LockReleased released;
    const CheckedRankInverse<T> made = self.solver.selected_inverse(request).value();
    matrix = made.inverse.matrix();
    report = made.report;
  }
  return nb::make_tuple(to_arrays(std::move(matrix)), to_dict(report));
}

template <class T>
UpdatedRowSolver<T> update(RowSolver<T>& self, DenseIn<T> u, DenseIn<T> v) {
  const LockReleased released;
  return {self.exchange, self.solver.update_rows(view_of<const T>(u), view_of<const T>(v)).value()};
}

template <class T>
nb::dict solve_updated(UpdatedRowSolver<T>& self, DenseIn<T> b, DenseOut<T> x, const std::string& trans) {
  const Operation how = operation(trans);
  UpdateReport report;
  {
    const LockReleased released;
    report = self.solver.solve_rows(view_of<const T>(b), view_of<T>(x), how);
  }
  return to_dict(report);
}

template <class T>
void bind_rows_of(nb::module_& module) {
  using Arrays = RowArrays<T>;
  using Solver = RowSolver<T>;
  nb::class_<Arrays>(module, class_name<T>("Rows").c_str())
      .def_static("from_csr", [](index_t size, index_t first_row, ArrayIn<offset_t> row_ptr,
                                 ArrayIn<index_t> column, ArrayIn<T> values) {
        return Arrays{size, first_row, row_ptr, column, values};
      });
  nb::class_<Solver>(module, class_name<T>("RowSolver").c_str())
      .def_static("create", create<T>)
      .def("solve", solve<T>)
      .def("solve_entries", solve_entries<T>)
      .def("inverse_entries", inverse_entries<T>)
      .def("selected_inverse", selected_inverse<T>)
      .def("refactor",
           [](Solver& self, const Arrays& rows) {
             const LockReleased released;
             self.solver.refactor_rows(rows.block()).value();
           })
      .def("update", update<T>)
      .def("save",
           [](Solver& self, const std::string& path) {
             const LockReleased released;
             self.solver.save(path);
           })
      .def("report", [](const Solver& self) { return to_dict(self.solver.report()); })
      .def("slogdet",
           [](const Solver& self) {
             return nb::make_tuple(self.solver.slogdet().first, self.solver.slogdet().second);
           })
      .def("null_space",
           [](Solver& self) {
             std::optional<Outcome<NullBasis<T>>> found;
             {
               const LockReleased released;
               found.emplace(self.solver.null_space());
             }
             return to_tuple(std::move(*found).value());
           })
      .def("inertia", [](Solver& self) {
        Inertia found;
        {
          const LockReleased released;
          found = self.solver.inertia();
        }
        return nb::make_tuple(found.positive, found.negative, found.zero);
      });
  nb::class_<UpdatedRowSolver<T>>(module, class_name<T>("UpdatedRowSolver").c_str())
      .def("report", [](const UpdatedRowSolver<T>& self) { return to_dict(self.solver.report()); })
      .def("solve", solve_updated<T>);
}

}  // namespace
}  // namespace palmette::python

NB_MODULE(_mpi, module) {
  // A thread that works here when the program ends is suspended with everything that it holds: this is not an
  // error to report.
  palmette::python::nb::set_leak_warnings(false);
  namespace python = palmette::python;
  module.doc() =
      "Bindings of the library over MPI ranks. Use palmette.mpi, which checks and converts what it hands "
      "down.";
  python::bind_errors(module);
#define PALMETTE_BIND(T) python::bind_rows_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
  python::bind_row_schur(module);
  python::bind_rank_triangular(module);
  module.def("load", &python::load);
}
