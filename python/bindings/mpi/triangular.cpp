// Triangles and given factors over MPI ranks with one device each, once for each scalar. Every rank passes
// and receives whole matrices and vectors.
#include "given_factors.hpp"
#include "mpi/rank_call.hpp"

namespace palmette::python {
namespace {

template <class T>
struct RankTriangular {
  std::shared_ptr<MpiExchange> exchange;  // outlives the solver
  TriangularSolver<T> solver;
};

/// From all rows of a square matrix.
template <class T>
SparseMatrix<T> matrix_of_rows(const RowArrays<T>& rows) {
  const RowBlock<T> all = rows.block();
  return transpose(
      from_compressed_columns<T>(all.size, all.num_rows(), all.row_ptr, all.column, all.values));
}
template <class T>
std::optional<RowArrays<T>> rows_named(const nb::dict& given, const char* name) {
  if (given[name].is_none()) return std::nullopt;
  return nb::cast<const RowArrays<T>&>(given[name]);
}

/// What this rank solves with, and its exchange.
struct GivenCall {
  TriangularSolverOptions options;
  ExchangeChoice choice;
  std::shared_ptr<MpiExchange> exchange;

  explicit GivenCall(const nb::dict& given) : choice(exchange_choice(given)) {
    options.watchdog_seconds = get<double>(given, "watchdog");
    options.triangle.lower = get<bool>(given, "lower");
    options.triangle.unit_diagonal = get<bool>(given, "unit_diagonal");
    options.triangle.plan.of_world.tasks_per_element = get<index_t>(given, "tasks_per_gpu");
  }
  void begin(int communicator) {
    RankSolverOptions ranks;
    exchange = std::make_shared<MpiExchange>(begin_exchange(communicator, choice, ranks));
    options.triangle.plan.device = ranks.device;
  }
};

template <class T>
RankTriangular<T> create_rank_triangular(const RowArrays<T>& triangle, int communicator,
                                         const nb::dict& given) {
  GivenCall call(given);
  const LockReleased released;
  call.begin(communicator);
  std::shared_ptr<const SparseMatrix<T>> matrix;
  agree_after(*call.exchange->transport,
              [&] { matrix = std::make_shared<const SparseMatrix<T>>(matrix_of_rows(triangle)); });
  return {call.exchange,
          TriangularSolver<T>::create(std::move(matrix), call.options, *call.exchange->transport).value()};
}

template <class T>
RankTriangular<T> rank_triangular_from_factors(const nb::dict& factors, int communicator,
                                               const nb::dict& given) {
  GivenCall call(given);
  {
    const LockReleased released;
    call.begin(communicator);
  }
  auto own = factors_around<T>(factors, call.options.triangle.plan);
  std::shared_ptr<const SparseMatrix<T>> product;
  const std::optional<RowArrays<T>> lower = rows_named<T>(factors, "L"), upper = rows_named<T>(factors, "U"),
                                    whole = rows_named<T>(factors, "A");
  const LockReleased released;
  agree_after(*call.exchange->transport, [&] {
    if (lower) own->lower = matrix_of_rows(*lower);
    if (upper) own->upper = matrix_of_rows(*upper);
    if (whole) product = std::make_shared<const SparseMatrix<T>>(matrix_of_rows(*whole));
  });
  return {call.exchange, TriangularSolver<T>::from_factors(std::move(own), std::move(product), call.options,
                                                           *call.exchange->transport)
                             .value()};
}

template <class T>
nb::dict solve_rank_triangular(RankTriangular<T>& self, DenseIn<T> b, DenseOut<T> x, const nb::dict& given) {
  const SolveRequest request = solve_request(given);
  std::optional<Report> report;
  {
    const LockReleased released;
    report = self.solver.solve(view_of<const T>(b), view_of<T>(x), request).value();
  }
  return to_dict(*report);
}

template <class T>
void bind_rank_triangular_of(nb::module_& module) {
  nb::class_<RankTriangular<T>>(module, class_name<T>("TriangularSolver").c_str())
      .def_static("create", create_rank_triangular<T>)
      .def_static("from_factors", rank_triangular_from_factors<T>)
      .def("solve", solve_rank_triangular<T>)
      .def("report", [](const RankTriangular<T>& self) { return to_dict(self.solver.report()); });
}

}  // namespace

void bind_rank_triangular(nb::module_& module) {
#define PALMETTE_BIND(T) bind_rank_triangular_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
