// C functions that solve with triangles and factors that the caller provides.
#include "palmette/capi/triangular.hpp"

namespace palmette::capi {
namespace {

template <class T>
SparseMatrix<T> matrix_of(const palmette_arrays& arrays) {
  GivenPattern ignored;
  return checked_matrix<T>(arrays, ignored);
}

template <class T>
SparseMatrix<T> full_matrix_of(const palmette_arrays& arrays) {
  require(arrays.storage == PALMETTE_FULL,
          "storage of a triangle or a factor is not PALMETTE_FULL: pass its entries as they are");
  return matrix_of<T>(arrays);
}

void set_tasks(TriangularSolverOptions& options, int32_t tasks_per_device) {
  require(tasks_per_device >= 0, "tasks_per_device is negative");
  if (tasks_per_device > 0) options.triangle.plan.of_world.tasks_per_element = tasks_per_device;
}

Permutation permutation_from(const int32_t* order, int32_t n) {
  if (order == nullptr) return {};
  return Permutation(std::vector<index_t>(order, order + n));
}
std::vector<double> scale_from(const double* scale, int32_t n) {
  if (scale == nullptr) return {};
  return {scale, scale + n};
}

TriangularSolverOptions options_from(const palmette_options* given, SolveRequest& request) {
  palmette_options used;
  palmette_default_options(&used);
  if (given != nullptr) used = *given;
  require(used.device_columns == 1 && used.device_layers == 1,
          "options.device_columns and device_layers are for matrices: the columns of a triangle are dealt to "
          "device_rows devices");
  require(used.threads >= 0, "options.threads is negative");
  TriangularSolverOptions options;
  if (used.method != nullptr) options.method = solve_method(used.method);
  set_devices(options, used.device != nullptr ? used.device : "none", used.device_rows);
  options.threads = used.threads;
  options.measure = used.measure != 0;
  request.max_refine_steps = used.max_refine_steps;
  request.condition = used.condition != 0;
  return options;
}

template <class T>
palmette_status create(const palmette_triangle* triangle, const palmette_options* given,
                       palmette_triangular** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  SolveRequest request;
  TriangularSolverOptions options = options_from(given, request);
  auto matrix = triangle_from<T>(triangle, options);
  return keep(TriangularSolver<T>::create(std::move(matrix), options), nullptr, request, out);
}

template <class T>
palmette_status create_from_factors(const palmette_factors* factors, const palmette_options* given,
                                    palmette_triangular** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  SolveRequest request;
  TriangularSolverOptions options = options_from(given, request);
  GivenFactors<T> own = factors_from<T>(factors, options);
  return keep(TriangularSolver<T>::from_factors(std::move(own.factors), std::move(own.matrix), options),
              nullptr, request, out);
}

template <class T>
palmette_status solve(palmette_triangular* handle, palmette_operation operation,
                      const palmette_columns* columns, palmette_report* report) {
  TriangularSolver<T>& solver = typed<TriangularSolver, T>(handle);
  const index_t n = solver.size();
  SolveRequest request = handle->request;
  const auto check = [&] {
    require(columns != nullptr, "columns is NULL");
    check_columns(*columns, n);
    request.operation = operation_from(operation);
  };
  if (handle->transport != nullptr)
    agree_after(*handle->transport, check);
  else
    check();
  const Outcome<Report> answer =
      solver.solve({reinterpret_cast<const T*>(columns->b), n, columns->num_rhs, columns->ldb},
                   {reinterpret_cast<T*>(columns->x), n, columns->num_rhs, columns->ldx}, request);
  if (!answer) return record(answer.failure());
  return tell(answer.value(), report);
}

}  // namespace

template <class T>
std::shared_ptr<const SparseMatrix<T>> triangle_from(const palmette_triangle* given,
                                                     TriangularSolverOptions& options) {
  require(given != nullptr, "triangle is NULL");
  options.triangle.lower = given->upper == 0;
  options.triangle.unit_diagonal = given->unit_diagonal != 0;
  set_tasks(options, given->tasks_per_device);
  return std::make_shared<const SparseMatrix<T>>(full_matrix_of<T>(given->entries));
}

template <class T>
GivenFactors<T> factors_from(const palmette_factors* given, TriangularSolverOptions& options) {
  require(given != nullptr, "factors is NULL");
  set_tasks(options, given->tasks_per_device);
  GivenFactors<T> made{std::make_shared<OwnFactors<T>>(), nullptr};
  OwnFactors<T>& own = *made.factors;
  own.lower = full_matrix_of<T>(given->lower);
  if (given->upper.column_ptr != nullptr) own.upper = full_matrix_of<T>(given->upper);
  own.row = permutation_from(given->row, given->lower.n);
  own.column = permutation_from(given->column, given->lower.n);
  own.row_scale = scale_from(given->row_scale, given->lower.n);
  own.column_scale = scale_from(given->column_scale, given->lower.n);
  own.lower_unit_diagonal = given->lower_unit_diagonal != 0;
  own.upper_unit_diagonal = given->upper_unit_diagonal != 0;
  own.hermitian = given->hermitian != 0;
  own.plan.device = options.triangle.plan.device;
  own.plan.world = options.triangle.plan.world;
  own.plan.of_world = options.triangle.plan.of_world;
  if (given->matrix != nullptr)
    made.matrix = std::make_shared<const SparseMatrix<T>>(matrix_of<T>(*given->matrix));
  return made;
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template std::shared_ptr<const SparseMatrix<T>> triangle_from<T>(const palmette_triangle*,          \
                                                                   TriangularSolverOptions&);         \
  template GivenFactors<T> factors_from<T>(const palmette_factors*, TriangularSolverOptions&);
PALMETTE_INSTANTIATE(double)
PALMETTE_INSTANTIATE(std::complex<double>)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_of_triangle = std::complex<double>;

palmette_status palmette_triangular_create_d(const palmette_triangle* triangle,
                                             const palmette_options* options, palmette_triangular** solver) {
  return capi::guarded([&] { return capi::create<double>(triangle, options, solver); });
}
palmette_status palmette_triangular_create_z(const palmette_triangle* triangle,
                                             const palmette_options* options, palmette_triangular** solver) {
  return capi::guarded([&] { return capi::create<complex_of_triangle>(triangle, options, solver); });
}

palmette_status palmette_triangular_from_factors_d(const palmette_factors* factors,
                                                   const palmette_options* options,
                                                   palmette_triangular** solver) {
  return capi::guarded([&] { return capi::create_from_factors<double>(factors, options, solver); });
}
palmette_status palmette_triangular_from_factors_z(const palmette_factors* factors,
                                                   const palmette_options* options,
                                                   palmette_triangular** solver) {
  return capi::guarded(
      [&] { return capi::create_from_factors<complex_of_triangle>(factors, options, solver); });
}

palmette_status palmette_triangular_solve_d(palmette_triangular* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report) {
  return capi::guarded([&] { return capi::solve<double>(solver, operation, columns, report); });
}
palmette_status palmette_triangular_solve_z(palmette_triangular* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report) {
  return capi::guarded([&] { return capi::solve<complex_of_triangle>(solver, operation, columns, report); });
}

void palmette_triangular_destroy(palmette_triangular* solver) { delete solver; }
