// C functions on Schur complements.
#include <algorithm>

#include "palmette/capi/handle.hpp"

struct palmette_schur {
  std::variant<palmette::SchurSolver<double>, palmette::SchurSolver<std::complex<double>>> solver;
};

namespace palmette::capi {

palmette_status told(const Verification& found) {
  if (found.verified) return PALMETTE_OK;
  return record_unverified("the solution is not verified: its backward error exceeds the bound");
}

palmette_status told(const SchurReport& report) {
  if (report.verified) return PALMETTE_OK;
  return record_unverified(report.notes.empty() ? "" : report.notes.front());
}

std::vector<index_t> unknowns_from(const palmette_boundary& boundary) {
  require(boundary.num_boundary >= 0, "num_boundary is negative");
  require(boundary.num_boundary == 0 || boundary.boundary != nullptr, "boundary.boundary is NULL");
  if (boundary.num_boundary == 0) return {};
  return {boundary.boundary, boundary.boundary + boundary.num_boundary};
}

namespace {

SchurOptions schur_options_from(const palmette_options* given) {
  palmette_options options;
  palmette_default_options(&options);
  if (given != nullptr) options = *given;
  SchurOptions made;
  made.kind = kind_from(options.kind);
  made.ordering = ordering_from(options.ordering);
  made.threads = options.threads;
  return made;
}

template <class T>
palmette_status create(const palmette_arrays* matrix, const palmette_boundary* boundary,
                       const palmette_options* options, palmette_schur** out) {
  require(out != nullptr, "schur is NULL; pass a pointer for the handle");
  *out = nullptr;
  require(matrix != nullptr && boundary != nullptr, "matrix or boundary is NULL");
  std::vector<index_t> unknowns = unknowns_from(*boundary);
  GivenPattern given;
  SparseMatrix<T> checked = checked_matrix<T>(*matrix, given);
  auto made = SchurSolver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(checked)),
                                     std::move(unknowns), schur_options_from(options));
  if (!made) return record(made.failure());
  *out = new palmette_schur{std::move(made).value()};
  return told(typed<SchurSolver, T>(*out).report());
}

/// Columns of `rows_of_x` rows of x, and n of b.
template <class T>
struct TypedColumns {
  DenseView<const T> b;
  DenseView<T> x;

  TypedColumns(const palmette_columns* given, index_t n, index_t rows_of_x) {
    require(given != nullptr, "columns is NULL");
    palmette_columns checked = *given;
    if (rows_of_x < n) checked.ldx += n - rows_of_x;
    if (rows_of_x == 0 && checked.x == nullptr) checked.x = const_cast<double*>(checked.b);
    check_columns(checked, n);
    b = {reinterpret_cast<const T*>(given->b), n, given->num_rhs, given->ldb};
    x = {reinterpret_cast<T*>(given->x), rows_of_x, given->num_rhs, given->ldx};
  }
};

template <class T>
palmette_status complement(const palmette_schur* handle, double* values) {
  const SchurSolver<T>& solver = typed<SchurSolver, T>(handle);
  const DenseView<const T> s = solver.complement();
  require(s.rows == 0 || values != nullptr, "complement is NULL");
  std::copy_n(s.data, static_cast<std::size_t>(s.rows) * static_cast<std::size_t>(s.cols),
              reinterpret_cast<T*>(values));
  return PALMETTE_OK;
}

template <class T>
palmette_status solve_interior(const palmette_schur* handle, const palmette_columns* given) {
  const SchurSolver<T>& solver = typed<SchurSolver, T>(handle);
  const TypedColumns<T> columns(given, solver.size(), solver.size());
  return told(solver.solve_interior(columns.b, columns.x));
}

template <class T>
palmette_status condense(const palmette_schur* handle, const palmette_columns* given) {
  const SchurSolver<T>& solver = typed<SchurSolver, T>(handle);
  const TypedColumns<T> columns(given, solver.size(), solver.complement().rows);
  solver.condense(columns.b, columns.x);
  return PALMETTE_OK;
}

template <class T>
palmette_status expand(const palmette_schur* handle, const double* boundary_part, int64_t ld_part,
                       const palmette_columns* given) {
  const SchurSolver<T>& solver = typed<SchurSolver, T>(handle);
  const TypedColumns<T> columns(given, solver.size(), solver.size());
  const index_t m = solver.complement().rows;
  const bool is_empty = m == 0 || given->num_rhs == 0;
  require(is_empty || (boundary_part != nullptr && ld_part >= m),
          "boundary_part is NULL, or ld_part smaller than the boundary");
  return told(solver.expand(
      columns.b, {reinterpret_cast<const T*>(boundary_part), m, given->num_rhs, ld_part}, columns.x));
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_of_two_doubles = std::complex<double>;

palmette_status palmette_schur_create_d(const palmette_arrays* matrix, const palmette_boundary* boundary,
                                        const palmette_options* options, palmette_schur** schur) {
  return capi::guarded([&] { return capi::create<double>(matrix, boundary, options, schur); });
}
palmette_status palmette_schur_create_z(const palmette_arrays* matrix, const palmette_boundary* boundary,
                                        const palmette_options* options, palmette_schur** schur) {
  return capi::guarded(
      [&] { return capi::create<complex_of_two_doubles>(matrix, boundary, options, schur); });
}
void palmette_destroy_schur(palmette_schur* schur) {
  delete schur;
}

palmette_status palmette_schur_complement_d(const palmette_schur* schur, double* complement) {
  return capi::guarded([&] { return capi::complement<double>(schur, complement); });
}
palmette_status palmette_schur_complement_z(const palmette_schur* schur, double* complement) {
  return capi::guarded([&] { return capi::complement<complex_of_two_doubles>(schur, complement); });
}
palmette_status palmette_schur_solve_interior_d(const palmette_schur* schur,
                                                const palmette_columns* columns) {
  return capi::guarded([&] { return capi::solve_interior<double>(schur, columns); });
}
palmette_status palmette_schur_solve_interior_z(const palmette_schur* schur,
                                                const palmette_columns* columns) {
  return capi::guarded([&] { return capi::solve_interior<complex_of_two_doubles>(schur, columns); });
}
palmette_status palmette_schur_condense_d(const palmette_schur* schur, const palmette_columns* columns) {
  return capi::guarded([&] { return capi::condense<double>(schur, columns); });
}
palmette_status palmette_schur_condense_z(const palmette_schur* schur, const palmette_columns* columns) {
  return capi::guarded([&] { return capi::condense<complex_of_two_doubles>(schur, columns); });
}
palmette_status palmette_schur_expand_d(const palmette_schur* schur, const double* boundary_part,
                                        int64_t ld_part, const palmette_columns* columns) {
  return capi::guarded([&] { return capi::expand<double>(schur, boundary_part, ld_part, columns); });
}
palmette_status palmette_schur_expand_z(const palmette_schur* schur, const double* boundary_part,
                                        int64_t ld_part, const palmette_columns* columns) {
  return capi::guarded(
      [&] { return capi::expand<complex_of_two_doubles>(schur, boundary_part, ld_part, columns); });
}
