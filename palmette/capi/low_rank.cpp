// C functions on inertia, null spaces and changes of low rank.
#include <algorithm>

#include "palmette/capi/handle.hpp"

struct palmette_updated {
  std::variant<palmette::UpdatedSolver<double>, palmette::UpdatedSolver<std::complex<double>>> solver;
};

namespace palmette::capi {
namespace {

palmette_status count_inertia(const palmette_solver* handle, int32_t* positive, int32_t* negative,
                              int32_t* undecided) {
  require(handle != nullptr, "solver is NULL");
  require(positive != nullptr && negative != nullptr && undecided != nullptr,
          "positive, negative or undecided is NULL");
  const Inertia found = std::visit([](const auto& solver) { return solver.inertia(); }, handle->solver);
  *positive = found.positive;
  *negative = found.negative;
  *undecided = found.zero;
  return PALMETTE_OK;
}

template <class T>
palmette_status find_null_vectors(palmette_solver* handle, int32_t max_columns, double* basis,
                                  int32_t* dimension) {
  Solver<T>& solver = typed_solver<T>(handle);
  require(dimension != nullptr, "dimension is NULL");
  require(max_columns >= 0, "max_columns is negative");
  require(max_columns == 0 || solver.size() == 0 || basis != nullptr, "basis is NULL");
  const auto found = solver.null_space();
  if (!found) return record(found.failure());
  const NullBasis<T>& made = found.value();
  *dimension = made.dimension();
  const auto columns = static_cast<std::size_t>(std::min(max_columns, made.dimension()));
  std::copy_n(made.basis.values.begin(), columns * static_cast<std::size_t>(solver.size()),
              reinterpret_cast<T*>(basis));
  return made.verified ? PALMETTE_OK : record_unverified("the basis of the null space is not verified");
}

/// Dense columns of the caller, every entry stored.
template <class T>
SparseMatrix<T> columns_from(index_t n, index_t rank, const double* values, int64_t ld) {
  SparseMatrix<T> columns;
  columns.pattern.rows = n;
  columns.pattern.cols = rank;
  for (index_t j = 0; j < rank; ++j) {
    const T* const column = reinterpret_cast<const T*>(values) + j * ld;
    for (index_t i = 0; i < n; ++i) {
      columns.pattern.row_index.push_back(i);
      columns.values.push_back(column[i]);
    }
    columns.pattern.column_ptr.push_back(static_cast<offset_t>(columns.values.size()));
  }
  return columns;
}

template <class T>
palmette_status update(palmette_solver* handle, const palmette_change* change, palmette_updated** out) {
  require(out != nullptr, "updated is NULL; pass a pointer for the handle");
  *out = nullptr;
  Solver<T>& solver = typed_solver<T>(handle);
  require(change != nullptr, "change is NULL");
  require(change->rank >= 0, "rank is negative");
  const index_t n = solver.size();
  const bool is_empty = change->rank == 0 || n == 0;
  require(is_empty || (change->u != nullptr && change->v != nullptr), "u or v is NULL");
  require(is_empty || (change->ldu >= n && change->ldv >= n),
          "ldu or ldv is smaller than the order of the matrix");
  auto made = solver.update(columns_from<T>(n, change->rank, change->u, change->ldu),
                            columns_from<T>(n, change->rank, change->v, change->ldv));
  if (!made) return record(made.failure());
  *out = new palmette_updated{std::move(made).value()};
  return PALMETTE_OK;
}

template <class T>
SparseMatrix<T> sparse_columns_from(index_t n, const palmette_sparse_columns& given) {
  const auto columns = static_cast<std::size_t>(given.num_columns);
  const std::size_t entries = entries_of(given.num_columns, given.column_ptr);
  require(entries == 0 || (given.row_index != nullptr && given.values != nullptr),
          "row_index or values is NULL");
  return from_compressed_columns<T>(n, given.num_columns, {given.column_ptr, columns + 1},
                                    {given.row_index, entries},
                                    {reinterpret_cast<const T*>(given.values), entries});
}

template <class T>
palmette_status update_factor(palmette_solver* handle, const palmette_sparse_columns* w, int subtract) {
  Solver<T>& solver = typed_solver<T>(handle);
  require(w != nullptr, "w is NULL");
  require(w->num_columns >= 0, "num_columns is negative");
  const offset_t before = solver.matrix()->nnz();
  const auto made = solver.update_factor(sparse_columns_from<T>(solver.size(), *w),
                                         subtract != 0 ? UpdateSign::subtract : UpdateSign::add);
  if (!made) return record(made.failure());
  // The caller's arrays have no place for the new entries.
  if (solver.matrix()->nnz() != before) handle->given.in_order = true;
  return PALMETTE_OK;
}

template <class T>
palmette_status solve_updated(const palmette_updated* handle, palmette_operation operation,
                              const palmette_columns* columns, double* backward_error) {
  const UpdatedSolver<T>& solver = typed<UpdatedSolver, T>(handle);
  require(columns != nullptr, "columns is NULL");
  const index_t n = solver.size();
  check_columns(*columns, n);
  const DenseView<const T> b{reinterpret_cast<const T*>(columns->b), n, columns->num_rhs, columns->ldb};
  const DenseView<T> x{reinterpret_cast<T*>(columns->x), n, columns->num_rhs, columns->ldx};
  const UpdateReport report = solver.solve(b, x, operation_from(operation));
  if (backward_error != nullptr) *backward_error = report.backward_error;
  return report.verified ? PALMETTE_OK : record_unverified(report.notes.back());
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;

palmette_status palmette_inertia(const palmette_solver* solver, int32_t* positive, int32_t* negative,
                                 int32_t* undecided) {
  return capi::guarded([&] { return capi::count_inertia(solver, positive, negative, undecided); });
}

palmette_status palmette_null_space_d(palmette_solver* solver, int32_t max_columns, double* basis,
                                      int32_t* dimension) {
  return capi::guarded(
      [&] { return capi::find_null_vectors<double>(solver, max_columns, basis, dimension); });
}

palmette_status palmette_null_space_z(palmette_solver* solver, int32_t max_columns, double* basis,
                                      int32_t* dimension) {
  return capi::guarded(
      [&] { return capi::find_null_vectors<std::complex<double>>(solver, max_columns, basis, dimension); });
}

palmette_status palmette_update_d(palmette_solver* solver, const palmette_change* change,
                                  palmette_updated** updated) {
  return capi::guarded([&] { return capi::update<double>(solver, change, updated); });
}

palmette_status palmette_update_z(palmette_solver* solver, const palmette_change* change,
                                  palmette_updated** updated) {
  return capi::guarded([&] { return capi::update<std::complex<double>>(solver, change, updated); });
}

palmette_status palmette_solve_updated_d(const palmette_updated* updated, palmette_operation operation,
                                         const palmette_columns* columns, double* backward_error) {
  return capi::guarded(
      [&] { return capi::solve_updated<double>(updated, operation, columns, backward_error); });
}

palmette_status palmette_solve_updated_z(const palmette_updated* updated, palmette_operation operation,
                                         const palmette_columns* columns, double* backward_error) {
  return capi::guarded(
      [&] { return capi::solve_updated<std::complex<double>>(updated, operation, columns, backward_error); });
}

palmette_status palmette_update_factor_d(palmette_solver* solver, const palmette_sparse_columns* w,
                                         int subtract) {
  return capi::guarded([&] { return capi::update_factor<double>(solver, w, subtract); });
}

palmette_status palmette_update_factor_z(palmette_solver* solver, const palmette_sparse_columns* w,
                                         int subtract) {
  return capi::guarded([&] { return capi::update_factor<std::complex<double>>(solver, w, subtract); });
}

void palmette_destroy_updated(palmette_updated* updated) {
  delete updated;
}
