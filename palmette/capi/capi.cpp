// The C functions: each checks its arguments, then calls the hall.
#include <algorithm>
#include <cmath>
#include <limits>

#include "palmette/capi/handle.hpp"

namespace palmette::capi {

template <class T>
SparseMatrix<T> matrix_from(const GivenPattern& given, const T* values) {
  const std::span<const T> entries(values, given.column_ptr.back());
  SparseMatrix<T> matrix =
      from_compressed_columns<T>(given.n, given.n, given.column_ptr, given.row_index, entries);
  if (given.storage == PALMETTE_FULL) return matrix;
  const bool hermitian = given.storage == PALMETTE_LOWER_HERMITIAN && is_complex_v<T>;
  Triplets<T> both{given.n, given.n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    both.row.push_back(row);
    both.column.push_back(column);
    both.value.push_back(value);
  };
  for (index_t j = 0; j < given.n; ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = matrix.pattern.row_index[entry];
      const T value = matrix.values[entry];
      if (i < j)
        throw UsageError("entry (" + std::to_string(i) + ", " + std::to_string(j) +
                         ") lies above the diagonal, but storage says lower triangle only");
      if (i == j && hermitian && std::imag(value) != 0)
        throw UsageError("diagonal entry " + std::to_string(i) + " of a Hermitian matrix is not real");
      add(i, j, value);
      if (i != j) add(j, i, hermitian ? conjugate(value) : value);
    }
  return from_triplets(both, hermitian ? Symmetry::hermitian : Symmetry::symmetric);
}

void require(bool condition, const char* message) {
  if (!condition) throw UsageError(message);
}

void require_entries(const palmette_entries* entries, const double* x) {
  require(entries != nullptr, "entries is NULL");
  require(entries->num_entries >= 0 && entries->num_wanted >= 0, "a number of entries is negative");
  require(entries->num_entries == 0 || (entries->row != nullptr && entries->value != nullptr),
          "row or value is NULL");
  require(entries->num_wanted == 0 || (entries->wanted != nullptr && x != nullptr), "wanted or x is NULL");
}

template <class T>
SparseMatrix<T> sparse_column(index_t first, index_t rows, const palmette_entries& entries) {
  const T* const values = reinterpret_cast<const T*>(entries.value);
  Triplets<T> triplets{rows, 1, {}, {}, {}};
  for (std::int64_t k = 0; k < entries.num_entries; ++k) {
    if (entries.row[k] < first || entries.row[k] >= first + rows)
      throw UsageError("entry " + std::to_string(k) + " is in row " + std::to_string(entries.row[k]) +
                       "; the rows are " + std::to_string(first) + " to " + std::to_string(first + rows - 1) +
                       ", counted from 0");
    triplets.row.push_back(entries.row[k] - first);
    triplets.column.push_back(0);
    triplets.value.push_back(values[k]);
  }
  return from_triplets(triplets);
}
template SparseMatrix<double> sparse_column(index_t, index_t, const palmette_entries&);
template SparseMatrix<std::complex<double>> sparse_column(index_t, index_t, const palmette_entries&);

std::size_t entries_of(int32_t num_columns, const int64_t* column_ptr) {
  require(column_ptr != nullptr, "column_ptr is NULL");
  require(column_ptr[0] == 0, "column_ptr[0] is not 0");
  for (int32_t j = 0; j < num_columns; ++j)
    require(column_ptr[j] <= column_ptr[j + 1], "column_ptr decreases");
  return static_cast<std::size_t>(column_ptr[num_columns]);
}

std::optional<FactorKind> kind_from(palmette_kind kind) {
  require(kind >= PALMETTE_KIND_AUTO && kind <= PALMETTE_LU, "options.kind is not a value of palmette_kind");
  constexpr FactorKind kinds[] = {FactorKind::llt, FactorKind::ldlt, FactorKind::lu};
  if (kind == PALMETTE_KIND_AUTO) return std::nullopt;
  return kinds[kind - 1];
}

OrderingMethod ordering_from(const char* name) {
  const OrderingMethod method = name == nullptr ? OrderingMethod::automatic : ordering_method(name);
  require(method != OrderingMethod::user, "the ordering \"user\" is not available in C");
  return method;
}

SingularAnswer singular_from(palmette_singular singular) {
  require(singular >= PALMETTE_SINGULAR_RAISE && singular <= PALMETTE_SINGULAR_LEAST_NORM,
          "options.singular is not a value of palmette_singular");
  constexpr SingularAnswer answers[] = {SingularAnswer::raise, SingularAnswer::warn,
                                        SingularAnswer::least_norm};
  return answers[singular];
}

Operation operation_from(palmette_operation operation) {
  require(operation >= PALMETTE_PLAIN && operation <= PALMETTE_ADJOINT,
          "operation is not a value of palmette_operation");
  constexpr Operation operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};
  return operations[operation];
}

namespace {

struct Settings {
  SolverOptions solver;
  SolveRequest request;
  offset_t memory_budget = 0;
};

void set_devices_from(const palmette_options& options, SolverOptions& solver) {
  const std::string_view kind = options.device != nullptr ? options.device : "none";
  if (options.device_rows == 1 && options.device_columns == 1 && options.device_layers == 1)
    return set_device(solver, kind);
  set_devices(solver, kind, {options.device_rows, options.device_columns}, options.device_layers);
}

Settings settings_from(const palmette_options* given) {
  palmette_options options;
  palmette_default_options(&options);
  if (given != nullptr) options = *given;
  Settings settings;
  settings.solver.kind = kind_from(options.kind);
  settings.solver.ordering = ordering_from(options.ordering);
  if (options.method != nullptr) settings.solver.method = solve_method(options.method);
  set_devices_from(options, settings.solver);
  settings.solver.threads = options.threads;
  settings.solver.mixed_precision = options.mixed_precision != 0;
  settings.solver.measure = options.measure != 0;
  settings.solver.singular = singular_from(options.singular);
  settings.request.max_refine_steps = options.max_refine_steps;
  settings.request.condition = options.condition != 0;
  require(options.memory_budget >= 0, "options.memory_budget is negative");
  settings.memory_budget = options.memory_budget;
  return settings;
}

template <class T>
palmette_status make(GivenPattern given, SparseMatrix<T> matrix, const Settings& settings,
                     palmette_solver** out) {
  if (matrix.symmetry == Symmetry::general) matrix.symmetry = detect_symmetry(matrix);
  auto made = Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), settings.solver);
  if (!made) return record(made.failure());
  *out = new palmette_solver{std::move(given), settings.request, std::move(made).value()};
  return PALMETTE_OK;
}

template <class T>
palmette_status create(const palmette_arrays& arrays, const palmette_options* options,
                       palmette_solver** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  GivenPattern given;
  SparseMatrix<T> matrix = checked_matrix<T>(arrays, given);
  return make(std::move(given), std::move(matrix), settings_from(options), out);
}

}  // namespace

template <class T>
SparseMatrix<T> checked_matrix(const palmette_arrays& arrays, GivenPattern& given) {
  require(arrays.n >= 0, "n is negative");
  require(arrays.storage >= PALMETTE_FULL && arrays.storage <= PALMETTE_LOWER_HERMITIAN,
          "storage is not a value of palmette_storage");
  const std::size_t nnz = entries_of(arrays.n, arrays.column_ptr);
  require(nnz == 0 || (arrays.row_index != nullptr && arrays.values != nullptr),
          "row_index or values is NULL");
  given.n = arrays.n;
  given.column_ptr.assign(arrays.column_ptr, arrays.column_ptr + arrays.n + 1);
  if (nnz > 0) given.row_index.assign(arrays.row_index, arrays.row_index + nnz);
  given.storage = arrays.storage;
  SparseMatrix<T> matrix = matrix_from(given, reinterpret_cast<const T*>(arrays.values));
  given.in_order = given.storage == PALMETTE_FULL && given.row_index == matrix.pattern.row_index;
  if (given.in_order) given.column_ptr = {}, given.row_index = {};
  return matrix;
}
template SparseMatrix<double> checked_matrix(const palmette_arrays&, GivenPattern&);
template SparseMatrix<std::complex<double>> checked_matrix(const palmette_arrays&, GivenPattern&);

void check_columns(const palmette_columns& columns, index_t n) {
  require(columns.num_rhs >= 0, "num_rhs is negative");
  const bool empty = n == 0 || columns.num_rhs == 0;
  require(empty || (columns.b != nullptr && columns.x != nullptr), "b or x is NULL");
  require(empty || (columns.ldb >= n && columns.ldx >= n),
          "ldb or ldx is smaller than the order of the matrix");
}

namespace {

palmette_kind kind_of(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return PALMETTE_LLT;
    case FactorKind::ldlt: return PALMETTE_LDLT;
    case FactorKind::lu: return PALMETTE_LU;
  }
  return PALMETTE_KIND_AUTO;
}

palmette_report report_of(const Report& report) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  palmette_report result{};
  result.kind = report.factorize ? kind_of(report.factorize->kind) : PALMETTE_KIND_AUTO;
  result.threads = report.solve->threads;
  result.refine_steps = report.verify->refine_steps;
  result.verified = report.verify->verified ? 1 : 0;
  result.nnz_factor = report.analyze ? report.analyze->nnz_factor : 0;
  result.perturbed_pivots = report.factorize ? report.factorize->pivots.perturbed : 0;
  result.memory_bytes_predicted = report.analyze ? report.analyze->memory_bytes_predicted : 0;
  result.factorize_seconds = report.factorize ? report.factorize->seconds : unknown;
  result.solve_seconds = report.solve->seconds;
  result.bandwidth_gbs = report.solve->bandwidth_gbs;
  result.roofline_fraction = report.solve->stream_gbs > 0 ? report.solve->roofline_fraction : unknown;
  result.backward_error = report.verify->backward_error;
  result.componentwise_backward_error = report.verify->componentwise_backward_error;
  result.condition_1norm = report.verify->condition_1norm.value_or(unknown);
  result.forward_error_bound = report.verify->forward_error_bound.value_or(unknown);
  result.singular_distance = report.verify->singular_distance.value_or(unknown);
  result.least_squares_error = report.verify->least_squares_error.value_or(unknown);
  result.null_directions = report.verify->null_directions.value_or(0);
  const std::optional<PanelFileReport>& file = report.solve->file;
  result.file_bytes = file ? file->bytes : unknown;
  result.file_cached_bytes = file ? file->cached_bytes.value_or(unknown) : unknown;
  result.file_gbs = file ? file->read_gbs : unknown;
  result.disk_fraction = file && file->disk_gbs > 0 ? file->disk_fraction : unknown;
  return result;
}

using CallerColumns = palmette_columns;

template <class T>
palmette_status solve_part(const palmette_solver* handle, palmette_part part, palmette_operation operation,
                           const CallerColumns& columns) {
  const Solver<T>& solver = typed_solver<T>(handle);
  const index_t n = solver.size();
  check_columns(columns, n);
  require(part >= PALMETTE_PART_L && part <= PALMETTE_PART_U, "part is not a value of palmette_part");
  constexpr FactorPart parts[] = {FactorPart::lower, FactorPart::diagonal, FactorPart::upper};
  solver.solve_part(parts[part], operation_from(operation),
                    {reinterpret_cast<const T*>(columns.b), n, columns.num_rhs, columns.ldb},
                    {reinterpret_cast<T*>(columns.x), n, columns.num_rhs, columns.ldx});
  return PALMETTE_OK;
}

palmette_status factor_order(const palmette_solver* handle, int32_t* row, int32_t* column) {
  require(handle != nullptr, "solver is NULL");
  const FactorOrder order =
      std::visit([](const auto& solver) { return order_of(*solver.factor()); }, handle->solver);
  require(order.row.size() == 0 || (row != nullptr && column != nullptr), "row or column is NULL");
  std::copy(order.row.new_to_old().begin(), order.row.new_to_old().end(), row);
  std::copy(order.column.new_to_old().begin(), order.column.new_to_old().end(), column);
  return PALMETTE_OK;
}

template <class T>
palmette_status solve(palmette_solver* handle, palmette_operation operation, const CallerColumns& columns,
                      palmette_report* report) {
  Solver<T>& solver = typed_solver<T>(handle);
  const index_t n = solver.size();
  check_columns(columns, n);
  SolveRequest request = handle->request;
  request.operation = operation_from(operation);
  const DenseView<const T> b{reinterpret_cast<const T*>(columns.b), n, columns.num_rhs, columns.ldb};
  const DenseView<T> x{reinterpret_cast<T*>(columns.x), n, columns.num_rhs, columns.ldx};
  const Outcome<Report> answer = solver.solve(b, x, request);
  if (!answer) return record(answer.failure());
  return tell(answer.value(), report);
}

template <class T>
palmette_status solve_on_device(palmette_solver* handle, palmette_operation operation,
                                const palmette_columns* given, void* stream, palmette_report* report) {
  require(given != nullptr, "columns is NULL");
  Solver<T>& solver = typed_solver<T>(handle);
  const index_t n = solver.size();
  const CallerColumns columns{given->num_rhs, given->b, given->ldb, given->x, given->ldx};
  check_columns(columns, n);
  SolveRequest request = handle->request;
  request.operation = operation_from(operation);
  request.stream = stream;
  const DenseView<const T> b{reinterpret_cast<const T*>(columns.b), n, columns.num_rhs, columns.ldb};
  const DenseView<T> x{reinterpret_cast<T*>(columns.x), n, columns.num_rhs, columns.ldx};
  const Outcome<Report> answer = solver.solve(OnDevice<const T>(b), OnDevice<T>(x), request);
  if (!answer) return record(answer.failure());
  return tell(answer.value(), report);
}

template <class T>
palmette_status refactor(palmette_solver* handle, const double* values) {
  Solver<T>& solver = typed_solver<T>(handle);
  require(!handle->given.from_file, "a handle created from a file cannot be refactored");
  const auto* entries = reinterpret_cast<const T*>(values);
  const offset_t nnz = handle->given.in_order ? solver.matrix()->nnz() : handle->given.column_ptr.back();
  require(values != nullptr || nnz == 0, "values is NULL");
  if (handle->given.in_order) {
    const Outcome<void> made = solver.refactor_values({entries, entries + nnz});
    return made ? PALMETTE_OK : record(made.failure());
  }
  SparseMatrix<T> matrix = matrix_from(handle->given, entries);
  if (matrix.symmetry == Symmetry::general) matrix.symmetry = detect_symmetry(matrix);
  const Outcome<void> made = solver.refactor(std::make_shared<const SparseMatrix<T>>(std::move(matrix)));
  return made ? PALMETTE_OK : record(made.failure());
}

template <class T>
palmette_status invert(palmette_solver* handle, std::span<const int32_t> rows,
                       std::span<const int32_t> columns, double* values) {
  Solver<T>& solver = typed_solver<T>(handle);
  require(rows.empty() || (rows.data() != nullptr && columns.data() != nullptr && values != nullptr),
          "row, column or values is NULL");
  const auto found = inverse_entries<T>(solver, rows, columns);
  if (!found) return record(found.failure());
  std::copy(found.value().values.begin(), found.value().values.end(), reinterpret_cast<T*>(values));
  const InverseReport& report = found.value().report;
  if (report.verified || solver.size() == 0) return PALMETTE_OK;
  return record_unverified(report.notes.back());
}

template <class T>
palmette_status solve_entries(palmette_solver* handle, palmette_operation operation,
                              const palmette_entries* entries, double* x) {
  Solver<T>& solver = typed_solver<T>(handle);
  require_entries(entries, x);
  EntryRequest request;
  request.operation = operation_from(operation);
  return told(
      solver.solve_entries(sparse_column<T>(0, solver.size(), *entries), wanted_of(*entries), request), x);
}

template <class T>
palmette_status invert(palmette_solver* handle, int64_t count, const int32_t* row, const int32_t* column,
                       double* values) {
  require(count >= 0, "count is negative");
  const auto length = static_cast<std::size_t>(count);
  return invert<T>(handle, {row, length}, {column, length}, values);
}

palmette_status create_from_file(const char* path, const palmette_options* options, palmette_solver** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  require(path != nullptr, "path is NULL");
  const Settings settings = settings_from(options);
  GivenPattern given;
  given.from_file = true;
  AnyMatrix matrix = read_matrix(path).matrix;
  if (auto* real = std::get_if<SparseMatrix<double>>(&matrix))
    return make(std::move(given), std::move(*real), settings, out);
  return make(std::move(given), std::move(std::get<SparseMatrix<std::complex<double>>>(matrix)), settings,
              out);
}

template <class T>
palmette_status load(const char* path, const Settings& settings, palmette_solver** out) {
  LoadOptions options;
  options.method = settings.solver.method;
  options.threads = settings.solver.threads;
  options.measure = settings.solver.measure;
  options.memory_budget = settings.memory_budget;
  GivenPattern given;
  given.in_order = true;
  *out = new palmette_solver{std::move(given), settings.request, Solver<T>::load(path, options)};
  return PALMETTE_OK;
}

palmette_status load(const char* path, const palmette_options* options, palmette_solver** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  require(path != nullptr, "path is NULL");
  palmette_options used;
  palmette_default_options(&used);
  if (options != nullptr) used = *options;
  used.device = nullptr;  // loaded factors lie on the host
  used.device_rows = used.device_columns = used.device_layers = 1;
  const Settings settings = settings_from(&used);
  if (saved_scalar(path) == ScalarType::complex128) return load<std::complex<double>>(path, settings, out);
  return load<double>(path, settings, out);
}

palmette_status save(const palmette_solver* handle, const char* path) {
  require(handle != nullptr, "solver is NULL");
  require(path != nullptr, "path is NULL");
  std::visit([&](const auto& solver) { solver.save(path); }, handle->solver);
  return PALMETTE_OK;
}

}  // namespace

palmette_status tell(const Report& report, palmette_report* to) {
  if (to != nullptr) *to = report_of(report);
  if (report.verify->verified) return PALMETTE_OK;
  return record_unverified(report.notes.front());
}

}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_double = std::complex<double>;

void palmette_default_options(palmette_options* options) {
  if (options == nullptr) return;
  *options = {PALMETTE_KIND_AUTO, "auto", "auto", 0, 0, 0, -1, 0, PALMETTE_SINGULAR_RAISE, "none", 1,
              1, 1, 0};
}

const char* palmette_version(void) { return palmette::version().data(); }

palmette_status palmette_create_d(int32_t n, const int64_t* column_ptr, const int32_t* row_index,
                                  const double* values, palmette_storage storage,
                                  const palmette_options* options, palmette_solver** solver) {
  return capi::guarded([&] {
    return capi::create<double>({n, column_ptr, row_index, values, storage}, options, solver);
  });
}

palmette_status palmette_create_z(int32_t n, const int64_t* column_ptr, const int32_t* row_index,
                                  const double* values, palmette_storage storage,
                                  const palmette_options* options, palmette_solver** solver) {
  return capi::guarded([&] {
    return capi::create<complex_double>({n, column_ptr, row_index, values, storage}, options, solver);
  });
}

palmette_status palmette_create_from_file(const char* path, const palmette_options* options,
                                          palmette_solver** solver) {
  return capi::guarded([&] { return capi::create_from_file(path, options, solver); });
}

palmette_status palmette_save(const palmette_solver* solver, const char* path) {
  return capi::guarded([&] { return capi::save(solver, path); });
}

palmette_status palmette_load(const char* path, const palmette_options* options, palmette_solver** solver) {
  return capi::guarded([&] { return capi::load(path, options, solver); });
}

void palmette_destroy(palmette_solver* solver) { delete solver; }

int32_t palmette_size(const palmette_solver* solver) {
  if (solver == nullptr) return 0;
  return std::visit([](const auto& typed) { return typed.size(); }, solver->solver);
}

int palmette_is_complex(const palmette_solver* solver) {
  return solver != nullptr && solver->solver.index() == 1 ? 1 : 0;
}

palmette_status palmette_solve_d(palmette_solver* solver, palmette_operation operation, int32_t num_rhs,
                                 const double* b, int64_t ldb, double* x, int64_t ldx,
                                 palmette_report* report) {
  return capi::guarded([&] {
    return capi::solve<double>(solver, operation, {num_rhs, b, ldb, x, ldx}, report);
  });
}

palmette_status palmette_solve_z(palmette_solver* solver, palmette_operation operation, int32_t num_rhs,
                                 const double* b, int64_t ldb, double* x, int64_t ldx,
                                 palmette_report* report) {
  return capi::guarded([&] {
    return capi::solve<complex_double>(solver, operation, {num_rhs, b, ldb, x, ldx}, report);
  });
}

palmette_status palmette_solve_on_device_d(palmette_solver* solver, palmette_operation operation,
                                           const palmette_columns* columns, void* stream,
                                           palmette_report* report) {
  return capi::guarded(
      [&] { return capi::solve_on_device<double>(solver, operation, columns, stream, report); });
}

palmette_status palmette_solve_on_device_z(palmette_solver* solver, palmette_operation operation,
                                           const palmette_columns* columns, void* stream,
                                           palmette_report* report) {
  return capi::guarded(
      [&] { return capi::solve_on_device<complex_double>(solver, operation, columns, stream, report); });
}

palmette_status palmette_inverse_entries_d(palmette_solver* solver, int64_t count, const int32_t* row,
                                           const int32_t* column, double* values) {
  return capi::guarded([&] { return capi::invert<double>(solver, count, row, column, values); });
}

palmette_status palmette_inverse_entries_z(palmette_solver* solver, int64_t count, const int32_t* row,
                                           const int32_t* column, double* values) {
  return capi::guarded([&] { return capi::invert<complex_double>(solver, count, row, column, values); });
}

palmette_status palmette_solve_entries_d(palmette_solver* solver, palmette_operation operation,
                                         const palmette_entries* entries, double* x) {
  return capi::guarded([&] { return capi::solve_entries<double>(solver, operation, entries, x); });
}

palmette_status palmette_solve_entries_z(palmette_solver* solver, palmette_operation operation,
                                         const palmette_entries* entries, double* x) {
  return capi::guarded([&] { return capi::solve_entries<complex_double>(solver, operation, entries, x); });
}

palmette_status palmette_factor_order(const palmette_solver* solver, int32_t* row, int32_t* column) {
  return capi::guarded([&] { return capi::factor_order(solver, row, column); });
}

palmette_status palmette_solve_part_d(const palmette_solver* solver, palmette_part part,
                                      palmette_operation operation, int32_t num_rhs, const double* b,
                                      int64_t ldb, double* x, int64_t ldx) {
  return capi::guarded([&] {
    return capi::solve_part<double>(solver, part, operation, {num_rhs, b, ldb, x, ldx});
  });
}

palmette_status palmette_solve_part_z(const palmette_solver* solver, palmette_part part,
                                      palmette_operation operation, int32_t num_rhs, const double* b,
                                      int64_t ldb, double* x, int64_t ldx) {
  return capi::guarded([&] {
    return capi::solve_part<complex_double>(solver, part, operation, {num_rhs, b, ldb, x, ldx});
  });
}

palmette_status palmette_refactor_d(palmette_solver* solver, const double* values) {
  return capi::guarded([&] { return capi::refactor<double>(solver, values); });
}

palmette_status palmette_refactor_z(palmette_solver* solver, const double* values) {
  return capi::guarded([&] { return capi::refactor<complex_double>(solver, values); });
}
