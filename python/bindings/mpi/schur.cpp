// Schur complements over MPI ranks, once for each scalar.
#include "mpi/rank_call.hpp"

namespace palmette::python {
namespace {

template <class T>
struct RowSchur {
  std::shared_ptr<MpiExchange> exchange;  // outlives the solver
  RankSchurSolver<T> solver;
};

template <class T>
RowSchur<T> create_row_schur(const RowArrays<T>& rows, ArrayIn<index_t> boundary, int communicator,
                             const nb::dict& given) {
  RankSchurOptions options;
  options.ranks = rank_options(given);
  options.complement.block_cyclic = get<bool>(given, "block_cyclic");
  options.complement.root = get<index_t>(given, "root");
  options.complement.grid = {get<index_t>(given, "complement_rows"), get<index_t>(given, "complement_cols")};
  options.complement.block = get<index_t>(given, "block");
  const ExchangeChoice choice = exchange_choice(given);
  const auto unknowns = span_of(boundary);
  const LockReleased released;
  MpiExchange exchange = begin_exchange(communicator, choice, options.ranks);
  RankSchurSolver<T> solver =
      RankSchurSolver<T>::create_from_rows(rows.block(), {unknowns.begin(), unknowns.end()}, options,
                                           *exchange.transport)
          .value();
  return {std::make_shared<MpiExchange>(std::move(exchange)), std::move(solver)};
}

nb::dict to_dict_of(const RankFigure& figure) {
  nb::dict fields;
  fields["least"] = figure.least;
  fields["mean"] = figure.mean;
  fields["most"] = figure.most;
  return fields;
}

nb::dict to_dict_of(const RankSchurReport& report) {
  nb::dict fields = to_dict(report.run), ranks;
  ranks["num_ranks"] = report.num_ranks;
  ranks["grid_rows"] = report.grid.rows;
  ranks["grid_cols"] = report.grid.cols;
  ranks["layers"] = report.layers;
  ranks["map"] = std::string(name_of(report.map));
  ranks["transport"] = report.transport;
  ranks["complement_rows"] = report.complement_grid.rows;
  ranks["complement_cols"] = report.complement_grid.cols;
  ranks["complement_block"] = report.complement_block;
  ranks["memory_bytes_predicted"] = to_dict_of(report.memory_bytes_predicted);
  ranks["memory_bytes"] = to_dict_of(report.memory_bytes);
  fields["ranks"] = ranks;
  return fields;
}

/// (rows, columns, values column after column) of this rank's part
template <class T>
nb::tuple part_of_complement(const RowSchur<T>& self) {
  const DenseView<const T> s = self.solver.complement();
  return nb::make_tuple(s.rows, s.cols, to_numpy(std::vector<T>(s.data, s.data + offset_t(s.rows) * s.cols)));
}

/// (rows of S, columns of S) of this rank's part
template <class T>
nb::tuple places_of_complement(const RowSchur<T>& self) {
  const ComplementPlaces& places = self.solver.complement_places();
  const index_t rank = self.exchange->transport->rank();
  std::vector<index_t> rows, columns;
  for (index_t i = 0; i < places.num_rows(rank); ++i) rows.push_back(places.row(rank, i));
  for (index_t j = 0; j < places.num_cols(rank); ++j) columns.push_back(places.column(rank, j));
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(columns)));
}

template <class T>
nb::dict solve_interior_rows(RowSchur<T>& self, DenseIn<T> b, DenseOut<T> x) {
  Verification found;
  {
    const LockReleased released;
    found = self.solver.solve_interior_rows(view_of<const T>(b), view_of<T>(x));
  }
  return to_dict(found);
}

template <class T>
void condense_rows(RowSchur<T>& self, DenseIn<T> b, DenseOut<T> g) {
  const LockReleased released;
  self.solver.condense_rows(view_of<const T>(b), view_of<T>(g));
}

template <class T>
nb::dict expand_rows(RowSchur<T>& self, DenseIn<T> b, DenseIn<T> boundary_part, DenseOut<T> x) {
  Verification found;
  {
    const LockReleased released;
    found = self.solver.expand_rows(view_of<const T>(b), view_of<const T>(boundary_part), view_of<T>(x));
  }
  return to_dict(found);
}

template <class T>
void bind_row_schur_of(nb::module_& module) {
  nb::class_<RowSchur<T>>(module, class_name<T>("RowSchur").c_str())
      .def_static("create", &create_row_schur<T>)
      .def("report", [](const RowSchur<T>& self) { return to_dict_of(self.solver.report()); })
      .def("complement", &part_of_complement<T>)
      .def("places", &places_of_complement<T>)
      .def("solve_interior", &solve_interior_rows<T>)
      .def("condense", &condense_rows<T>)
      .def("expand", &expand_rows<T>);
}

}  // namespace

void bind_row_schur(nb::module_& module) {
#define PALMETTE_BIND(T) bind_row_schur_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
