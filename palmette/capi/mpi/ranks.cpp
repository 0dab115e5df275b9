// The C functions over MPI ranks: all ranks check their arguments together, then call the hall over ranks.
#include <algorithm>

#include "palmette/capi/mpi/report_json.hpp"
#include "palmette/capi/mpi/settings.hpp"

namespace palmette::capi {

using AnyRankSolver = std::variant<RankSolver<double>, RankSolver<std::complex<double>>>;
using AnyUpdatedRankSolver =
    std::variant<UpdatedRankSolver<double>, UpdatedRankSolver<std::complex<double>>>;

}  // namespace palmette::capi

struct palmette_rank_solver {
  std::shared_ptr<palmette::MpiExchange> exchange;  // outlives the solver
  palmette::capi::GivenRows given;
  palmette::SolveRequest request;
  palmette::capi::AnyRankSolver solver;
  palmette::RankReport last;
  std::string json;
};

struct palmette_rank_updated {
  std::shared_ptr<palmette::MpiExchange> exchange;  // outlives the solver
  palmette::capi::AnyUpdatedRankSolver solver;
};

namespace palmette::capi {

RankSettings settings_from(const palmette_rank_options* given) {
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  if (given != nullptr) options = *given;
  RankSettings settings;
  settings.solver.kind = kind_from(options.kind);
  settings.solver.ordering = ordering_from(options.ordering);
  if (options.map != nullptr) settings.solver.map = placement_map(options.map);
  if (options.trees != nullptr) settings.solver.trees = tree_shape(options.trees);
  settings.solver.grid = {options.grid_rows, options.grid_cols};
  settings.solver.layers = options.layers;
  require(options.threads >= 1, "options.threads is less than 1");
  settings.solver.threads = options.threads;
  settings.solver.matching = options.matching != 0;
  settings.solver.max_rhs = options.most_rhs;
  settings.solver.watchdog_seconds = options.watchdog_seconds;
  settings.solver.singular = singular_from(options.singular);
  settings.request.max_refine_steps = options.max_refine_steps;
  settings.request.condition = options.condition != 0;
  settings.transport = options.transport != nullptr ? options.transport : "mpi_two_sided";
  settings.device = options.device != nullptr ? options.device : "none";
  if (options.memory != nullptr)
    settings.solver.memory = choice_named("memory kind", options.memory, memory_kinds);
  return settings;
}

GivenRows rows_from(const palmette_rows* rows) {
  require(rows != nullptr, "rows is NULL");
  require(rows->num_rows >= 0, "rows->num_rows is negative");
  require(rows->row_ptr != nullptr, "rows->row_ptr is NULL");
  require(rows->row_ptr[0] == 0, "rows->row_ptr[0] is not 0");
  for (int32_t row = 0; row < rows->num_rows; ++row)
    require(rows->row_ptr[row] <= rows->row_ptr[row + 1], "rows->row_ptr decreases");
  const int64_t nnz = rows->row_ptr[rows->num_rows];
  require(nnz == 0 || (rows->column != nullptr && rows->values != nullptr),
          "rows->column or rows->values is NULL");
  GivenRows given{rows->n, rows->first_row, {rows->row_ptr, rows->row_ptr + rows->num_rows + 1}, {}};
  if (nnz > 0) given.column.assign(rows->column, rows->column + nnz);
  return given;
}

RankCall begin_call(const palmette_rows* rows, int communicator, RankSettings& settings) {
  RankCall call{make_mpi_exchange(communicator, settings.transport), {}};
  settings.solver.transport_name = call.exchange.name;
  settings.solver.transport_note = call.exchange.note;
  settings.solver.planned = call.exchange.planned;
  agree_after(*call.exchange.transport, [&] {
    call.given = rows_from(rows);
    settings.solver.device = open_device_of_rank(settings.device, call.exchange.transport->rank());
  });
  return call;
}

void check_columns_together(Transport& transport, const palmette_columns* columns, const ColumnRows& rows) {
  agree_after(transport, [&] {
    require(columns != nullptr, "columns is NULL");
    require(columns->num_rhs >= 0, "num_rhs is negative");
    const bool none = columns->num_rhs == 0, no_b = none || rows.of_b == 0, no_x = none || rows.of_x == 0;
    require((no_b || columns->b != nullptr) && (no_x || columns->x != nullptr), "b or x is NULL");
    require((no_b || columns->ldb >= rows.of_b) && (no_x || columns->ldx >= rows.of_x),
            "ldb or ldx is smaller than the number of rows");
  });
}

namespace {

template <class T>
palmette_status create(const palmette_rows* rows, int communicator, const palmette_rank_options* options,
                       palmette_rank_solver** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  RankSettings settings = settings_from(options);
  auto [exchange, given] = begin_call(rows, communicator, settings);
  auto made = RankSolver<T>::create_from_rows(given.with(reinterpret_cast<const T*>(rows->values)),
                                              settings.solver, *exchange.transport);
  if (!made) return record(made.failure());
  RankReport report = made.value().report();
  *out = new palmette_rank_solver{std::make_shared<MpiExchange>(std::move(exchange)), std::move(given),
                                  settings.request, std::move(made).value(), std::move(report), {}};
  return PALMETTE_OK;
}

template <class T>
palmette_status load(const std::string& path, MpiExchange exchange, const RankSettings& settings,
                     palmette_rank_solver** out) {
  RankLoadOptions options;
  options.threads = settings.solver.threads;
  options.watchdog_seconds = settings.solver.watchdog_seconds;
  options.device = settings.solver.device;
  options.memory = settings.solver.memory;
  options.singular = settings.solver.singular;
  options.transport_name = exchange.name;
  options.transport_note = exchange.note;
  options.planned = exchange.planned;
  RankSolver<T> solver = RankSolver<T>::load(path, options, *exchange.transport);
  GivenRows given{solver.size(), solver.first_row(), {}, {}};
  if (const std::optional<RowBlock<T>> rows = solver.rows()) {
    given.row_ptr.assign(rows->row_ptr.begin(), rows->row_ptr.end());
    given.column.assign(rows->column.begin(), rows->column.end());
  }
  RankReport report = solver.report();
  *out = new palmette_rank_solver{std::make_shared<MpiExchange>(std::move(exchange)), std::move(given),
                                  settings.request, std::move(solver), std::move(report), {}};
  return PALMETTE_OK;
}

palmette_status load_any(const char* path, int communicator, const palmette_rank_options* options,
                         palmette_rank_solver** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  RankSettings settings = settings_from(options);
  MpiExchange exchange = make_mpi_exchange(communicator, settings.transport);
  exchange.transport->set_watchdog(settings.solver.watchdog_seconds);
  agree_after(*exchange.transport, [&] {
    require(path != nullptr, "path is NULL");
    settings.solver.device = open_device_of_rank(settings.device, exchange.transport->rank());
  });
  if (saved_scalar_over_ranks(path, *exchange.transport) == ScalarType::complex128)
    return load<std::complex<double>>(path, std::move(exchange), settings, out);
  return load<double>(path, std::move(exchange), settings, out);
}

palmette_status save(palmette_rank_solver* handle, const char* path) {
  require(handle != nullptr, "solver is NULL");
  agree_after(*handle->exchange->transport, [&] { require(path != nullptr, "path is NULL"); });
  std::visit([&](const auto& solver) { solver.save(path); }, handle->solver);
  return PALMETTE_OK;
}

palmette_status tell_rows(const palmette_rank_solver* handle, int32_t* n, int32_t* first_row,
                          int32_t* num_rows) {
  require(handle != nullptr, "solver is NULL");
  std::visit(
      [&](const auto& solver) {
        if (n != nullptr) *n = solver.size();
        if (first_row != nullptr) *first_row = solver.first_row();
        if (num_rows != nullptr) *num_rows = solver.num_rows();
      },
      handle->solver);
  return PALMETTE_OK;
}

/// @returns the operation; if an argument of any rank is wrong, no rank returns
Operation checked_operation(Transport& transport, palmette_operation operation,
                            const palmette_columns* columns, index_t rows) {
  Operation checked = Operation::plain;
  agree_after(transport, [&] { checked = operation_from(operation); });
  check_columns_together(transport, columns, {rows, rows});
  return checked;
}

template <class T>
palmette_status update(palmette_rank_solver* handle, const palmette_change* change,
                       palmette_rank_updated** out) {
  require(out != nullptr, "updated is NULL; pass a pointer for the handle");
  *out = nullptr;
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  const index_t rows = solver.num_rows();
  agree_after(*handle->exchange->transport, [&] {
    require(change != nullptr, "change is NULL");
    require(change->rank >= 0, "rank is negative");
    const bool empty = rows == 0 || change->rank == 0;
    require(empty || (change->u != nullptr && change->v != nullptr), "u or v is NULL");
    require(empty || (change->ldu >= rows && change->ldv >= rows),
            "ldu or ldv is smaller than the number of rows");
  });
  const auto part = [&](const double* values, int64_t ld) {
    return DenseView<const T>{reinterpret_cast<const T*>(values), rows, change->rank, ld};
  };
  auto made = solver.update_rows(part(change->u, change->ldu), part(change->v, change->ldv));
  if (!made) return record(made.failure());
  *out = new palmette_rank_updated{handle->exchange, std::move(made).value()};
  return PALMETTE_OK;
}

template <class T>
palmette_status solve_updated(palmette_rank_updated* handle, palmette_operation operation,
                              const palmette_columns* columns, double* backward_error) {
  UpdatedRankSolver<T>& solver = typed<UpdatedRankSolver, T>(handle);
  const index_t rows = solver.num_rows();
  const Operation checked = checked_operation(*handle->exchange->transport, operation, columns, rows);
  const UpdateReport report = solver.solve_rows(
      {reinterpret_cast<const T*>(columns->b), rows, columns->num_rhs, columns->ldb},
      {reinterpret_cast<T*>(columns->x), rows, columns->num_rhs, columns->ldx}, checked);
  if (backward_error != nullptr) *backward_error = report.backward_error;
  if (report.verified) return PALMETTE_OK;
  return record_unverified(report.notes.back());
}

template <class T>
palmette_status solve(palmette_rank_solver* handle, palmette_operation operation,
                      const palmette_columns* columns, palmette_report* report) {
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  SolveRequest request = handle->request;
  const index_t rows = solver.num_rows();
  request.operation = checked_operation(*handle->exchange->transport, operation, columns, rows);
  const DenseView<const T> b{reinterpret_cast<const T*>(columns->b), rows, columns->num_rhs, columns->ldb};
  const DenseView<T> x{reinterpret_cast<T*>(columns->x), rows, columns->num_rhs, columns->ldx};
  Outcome<RankReport> answer = solver.solve_rows(b, x, request);
  if (!answer) return record(answer.failure());
  handle->last = std::move(answer).value();
  return tell(handle->last.run, report);
}

palmette_status count_inertia(palmette_rank_solver* handle, int32_t* positive, int32_t* negative,
                              int32_t* undecided) {
  require(handle != nullptr, "solver is NULL");
  agree_after(*handle->exchange->transport, [&] {
    require(positive != nullptr && negative != nullptr && undecided != nullptr,
            "positive, negative or undecided is NULL");
  });
  const Inertia found = std::visit([](auto& solver) { return solver.inertia(); }, handle->solver);
  *positive = found.positive;
  *negative = found.negative;
  *undecided = found.zero;
  return PALMETTE_OK;
}

/// This rank's rows of the null space's basis.
template <class T>
palmette_status find_null_rows(palmette_rank_solver* handle, int32_t max_columns, double* basis,
                               int32_t* dimension) {
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  const index_t rows = solver.num_rows();
  agree_after(*handle->exchange->transport, [&] {
    require(dimension != nullptr, "dimension is NULL");
    require(max_columns >= 0, "max_columns is negative");
    require(max_columns == 0 || rows == 0 || basis != nullptr, "basis is NULL");
  });
  const auto found = solver.null_space();
  if (!found) return record(found.failure());
  const NullBasis<T>& made = found.value();
  *dimension = made.dimension();
  for (index_t column = 0; column < std::min(max_columns, made.dimension()); ++column)
    std::copy_n(made.basis.view().column(column) + solver.first_row(), rows,
                reinterpret_cast<T*>(basis) + std::ptrdiff_t{column} * rows);
  return made.verified ? PALMETTE_OK : record_unverified("the basis of the null space is not verified");
}

template <class T>
palmette_status solve_entries(palmette_rank_solver* handle, palmette_operation operation,
                              const palmette_entries* entries, double* x) {
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  EntryRequest request;
  SparseMatrix<T> b;
  agree_after(*handle->exchange->transport, [&] {
    require_entries(entries, x);
    request.operation = operation_from(operation);
    b = sparse_column<T>(solver.first_row(), solver.num_rows(), *entries);
  });
  return told(solver.solve_entries_rows(b, wanted_of(*entries), request), x);
}

template <class T>
palmette_status invert(palmette_rank_solver* handle, int64_t count, const int32_t* row, const int32_t* column,
                       double* values) {
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  agree_after(*handle->exchange->transport, [&] {
    require(count >= 0, "count is negative");
    require(count == 0 || (row != nullptr && column != nullptr && values != nullptr),
            "row, column or values is NULL");
  });
  const auto length = static_cast<std::size_t>(count);
  const auto found = solver.inverse_entries({row, length}, {column, length});
  if (!found) return record(found.failure());
  std::copy(found.value().values.begin(), found.value().values.end(), reinterpret_cast<T*>(values));
  const InverseReport& report = found.value().report;
  if (report.verified || count == 0) return PALMETTE_OK;
  return record_unverified(report.notes.empty() ? "a solution of the inverse is not verified"
                                                : report.notes.back());
}

template <class T>
palmette_status refactor(palmette_rank_solver* handle, const double* values) {
  RankSolver<T>& solver = typed<RankSolver, T>(handle);
  agree_after(*handle->exchange->transport,
              [&] { require(values != nullptr || handle->given.column.empty(), "values is NULL"); });
  const Outcome<void> made = solver.refactor_rows(handle->given.with(reinterpret_cast<const T*>(values)));
  if (!made) return record(made.failure());
  handle->last = solver.report();
  return PALMETTE_OK;
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_double = std::complex<double>;

void palmette_default_rank_options(palmette_rank_options* options) {
  if (options == nullptr) return;
  *options = {PALMETTE_KIND_AUTO,
              "auto",
              "mpi_two_sided",
              "subtree_to_subcube",
              "binary",
              0,
              0,
              1,
              1,
              1,
              -1,
              0,
              64,
              600,
              "none",
              "auto",
              PALMETTE_SINGULAR_RAISE};
}

palmette_status palmette_create_over_ranks_d(const palmette_rows* rows, int communicator,
                                             const palmette_rank_options* options,
                                             palmette_rank_solver** solver) {
  return capi::guarded([&] { return capi::create<double>(rows, communicator, options, solver); });
}
palmette_status palmette_create_over_ranks_z(const palmette_rows* rows, int communicator,
                                             const palmette_rank_options* options,
                                             palmette_rank_solver** solver) {
  return capi::guarded([&] { return capi::create<complex_double>(rows, communicator, options, solver); });
}

void palmette_destroy_over_ranks(palmette_rank_solver* solver) { delete solver; }

palmette_status palmette_solve_over_ranks_d(palmette_rank_solver* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report) {
  return capi::guarded([&] { return capi::solve<double>(solver, operation, columns, report); });
}
palmette_status palmette_solve_over_ranks_z(palmette_rank_solver* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report) {
  return capi::guarded([&] { return capi::solve<complex_double>(solver, operation, columns, report); });
}

palmette_status palmette_solve_entries_over_ranks_d(palmette_rank_solver* solver,
                                                    palmette_operation operation,
                                                    const palmette_entries* entries, double* x) {
  return capi::guarded([&] { return capi::solve_entries<double>(solver, operation, entries, x); });
}
palmette_status palmette_solve_entries_over_ranks_z(palmette_rank_solver* solver,
                                                    palmette_operation operation,
                                                    const palmette_entries* entries, double* x) {
  return capi::guarded([&] { return capi::solve_entries<complex_double>(solver, operation, entries, x); });
}

palmette_status palmette_inverse_entries_over_ranks_d(palmette_rank_solver* solver, int64_t count,
                                                      const int32_t* row, const int32_t* column,
                                                      double* values) {
  return capi::guarded([&] { return capi::invert<double>(solver, count, row, column, values); });
}
palmette_status palmette_inverse_entries_over_ranks_z(palmette_rank_solver* solver, int64_t count,
                                                      const int32_t* row, const int32_t* column,
                                                      double* values) {
  return capi::guarded([&] { return capi::invert<complex_double>(solver, count, row, column, values); });
}

palmette_status palmette_refactor_over_ranks_d(palmette_rank_solver* solver, const double* values) {
  return capi::guarded([&] { return capi::refactor<double>(solver, values); });
}
palmette_status palmette_refactor_over_ranks_z(palmette_rank_solver* solver, const double* values) {
  return capi::guarded([&] { return capi::refactor<complex_double>(solver, values); });
}

palmette_status palmette_inertia_over_ranks(palmette_rank_solver* solver, int32_t* positive,
                                            int32_t* negative, int32_t* undecided) {
  return capi::guarded([&] { return capi::count_inertia(solver, positive, negative, undecided); });
}

palmette_status palmette_null_space_over_ranks_d(palmette_rank_solver* solver, int32_t max_columns,
                                                 double* basis, int32_t* dimension) {
  return capi::guarded([&] { return capi::find_null_rows<double>(solver, max_columns, basis, dimension); });
}
palmette_status palmette_null_space_over_ranks_z(palmette_rank_solver* solver, int32_t max_columns,
                                                 double* basis, int32_t* dimension) {
  return capi::guarded(
      [&] { return capi::find_null_rows<complex_double>(solver, max_columns, basis, dimension); });
}

palmette_status palmette_update_over_ranks_d(palmette_rank_solver* solver, const palmette_change* change,
                                             palmette_rank_updated** updated) {
  return capi::guarded([&] { return capi::update<double>(solver, change, updated); });
}
palmette_status palmette_update_over_ranks_z(palmette_rank_solver* solver, const palmette_change* change,
                                             palmette_rank_updated** updated) {
  return capi::guarded([&] { return capi::update<complex_double>(solver, change, updated); });
}

palmette_status palmette_solve_updated_over_ranks_d(palmette_rank_updated* updated,
                                                    palmette_operation operation,
                                                    const palmette_columns* columns,
                                                    double* backward_error) {
  return capi::guarded(
      [&] { return capi::solve_updated<double>(updated, operation, columns, backward_error); });
}
palmette_status palmette_solve_updated_over_ranks_z(palmette_rank_updated* updated,
                                                    palmette_operation operation,
                                                    const palmette_columns* columns,
                                                    double* backward_error) {
  return capi::guarded(
      [&] { return capi::solve_updated<complex_double>(updated, operation, columns, backward_error); });
}

void palmette_destroy_updated_over_ranks(palmette_rank_updated* updated) { delete updated; }

palmette_status palmette_save_over_ranks(palmette_rank_solver* solver, const char* path) {
  return capi::guarded([&] { return capi::save(solver, path); });
}
palmette_status palmette_load_over_ranks(const char* path, int communicator,
                                         const palmette_rank_options* options,
                                         palmette_rank_solver** solver) {
  return capi::guarded([&] { return capi::load_any(path, communicator, options, solver); });
}
palmette_status palmette_rows_over_ranks(const palmette_rank_solver* solver, int32_t* n, int32_t* first_row,
                                         int32_t* num_rows) {
  return capi::guarded([&] { return capi::tell_rows(solver, n, first_row, num_rows); });
}

const char* palmette_rank_report_json(palmette_rank_solver* solver) {
  const palmette_status status = capi::guarded([&] {
    capi::require(solver != nullptr, "solver is NULL");
    solver->json = capi::report_json(solver->last);
    return PALMETTE_OK;
  });
  return status == PALMETTE_OK ? solver->json.c_str() : nullptr;
}
