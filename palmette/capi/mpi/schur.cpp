// C functions on Schur complements over MPI ranks.
#include <algorithm>

#include "palmette/capi/mpi/settings.hpp"

struct palmette_rank_schur {
  std::shared_ptr<palmette::MpiExchange> exchange;  // outlives the solver
  std::variant<palmette::RankSchurSolver<double>, palmette::RankSchurSolver<std::complex<double>>> solver;
};

namespace palmette::capi {
namespace {

RankSchurOptions rank_schur_options(const palmette_rank_schur_request& request, RankSolverOptions ranks) {
  RankSchurOptions options;
  options.ranks = std::move(ranks);
  options.complement.block_cyclic = request.block_cyclic != 0;
  options.complement.root = request.root;
  options.complement.grid = {request.grid_rows, request.grid_cols};
  if (request.block != 0) options.complement.block = request.block;
  return options;
}

template <class T>
palmette_status create_schur(const palmette_rows* rows, int communicator,
                             const palmette_rank_schur_request* request, palmette_rank_schur** out) {
  require(out != nullptr, "schur is NULL; pass a pointer for the handle");
  *out = nullptr;
  require(request != nullptr, "request is NULL");
  RankSettings settings = settings_from(request->options);
  auto [exchange, given] = begin_call(rows, communicator, settings);
  std::vector<index_t> unknowns;
  agree_after(*exchange.transport, [&] { unknowns = unknowns_from(request->boundary); });
  auto made = RankSchurSolver<T>::create_from_rows(
      given.with(reinterpret_cast<const T*>(rows->values)), std::move(unknowns),
      rank_schur_options(*request, std::move(settings.solver)), *exchange.transport);
  if (!made) return record(made.failure());
  *out = new palmette_rank_schur{std::make_shared<MpiExchange>(std::move(exchange)), std::move(made).value()};
  return told(typed<RankSchurSolver, T>(*out).report().run);
}

palmette_status tell_part(const palmette_rank_schur* handle, int32_t* num_rows, int32_t* num_cols) {
  require(handle != nullptr, "schur is NULL");
  std::visit(
      [&](const auto& solver) {
        if (num_rows != nullptr) *num_rows = solver.complement().rows;
        if (num_cols != nullptr) *num_cols = solver.complement().cols;
      },
      handle->solver);
  return PALMETTE_OK;
}

template <class T>
palmette_status copy_part(const palmette_rank_schur* handle, double* part) {
  const DenseView<const T> s = typed<RankSchurSolver, T>(handle).complement();
  require(s.rows == 0 || s.cols == 0 || part != nullptr, "part is NULL");
  std::copy_n(s.data, static_cast<std::size_t>(s.rows) * static_cast<std::size_t>(s.cols),
              reinterpret_cast<T*>(part));
  return PALMETTE_OK;
}

/// This rank's rows of b, and so many of x.
template <class T>
struct OwnColumns {
  DenseView<const T> b;
  DenseView<T> x;

  OwnColumns(palmette_rank_schur& handle, const palmette_columns* given, const ColumnRows& rows) {
    check_columns_together(*handle.exchange->transport, given, rows);
    b = {reinterpret_cast<const T*>(given->b), rows.of_b, given->num_rhs, given->ldb};
    x = {reinterpret_cast<T*>(given->x), rows.of_x, given->num_rhs, given->ldx};
  }
};

template <class T>
palmette_status solve_rank_interior(palmette_rank_schur* handle, const palmette_columns* given) {
  RankSchurSolver<T>& solver = typed<RankSchurSolver, T>(handle);
  const OwnColumns<T> columns(*handle, given, {solver.num_rows(), solver.num_rows()});
  return told(solver.solve_interior_rows(columns.b, columns.x));
}

template <class T>
palmette_status condense_ranks(palmette_rank_schur* handle, const palmette_columns* given) {
  RankSchurSolver<T>& solver = typed<RankSchurSolver, T>(handle);
  const OwnColumns<T> columns(*handle, given, {solver.num_rows(), solver.complement_places().size()});
  solver.condense_rows(columns.b, columns.x);
  return PALMETTE_OK;
}

template <class T>
palmette_status expand_ranks(palmette_rank_schur* handle, const double* boundary_part, int64_t ld_part,
                             const palmette_columns* given) {
  RankSchurSolver<T>& solver = typed<RankSchurSolver, T>(handle);
  const OwnColumns<T> columns(*handle, given, {solver.num_rows(), solver.num_rows()});
  const index_t m = solver.complement_places().size();
  agree_after(*handle->exchange->transport, [&] {
    const bool is_empty = m == 0 || given->num_rhs == 0;
    require(is_empty || (boundary_part != nullptr && ld_part >= m),
            "boundary_part is NULL, or ld_part smaller than the boundary");
  });
  return told(solver.expand_rows(
      columns.b, {reinterpret_cast<const T*>(boundary_part), m, given->num_rhs, ld_part}, columns.x));
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_of_ranks = std::complex<double>;

palmette_status palmette_schur_create_over_ranks_d(const palmette_rows* rows, int communicator,
                                                   const palmette_rank_schur_request* request,
                                                   palmette_rank_schur** schur) {
  return capi::guarded([&] { return capi::create_schur<double>(rows, communicator, request, schur); });
}
palmette_status palmette_schur_create_over_ranks_z(const palmette_rows* rows, int communicator,
                                                   const palmette_rank_schur_request* request,
                                                   palmette_rank_schur** schur) {
  return capi::guarded(
      [&] { return capi::create_schur<complex_of_ranks>(rows, communicator, request, schur); });
}

void palmette_destroy_schur_over_ranks(palmette_rank_schur* schur) {
  delete schur;
}

palmette_status palmette_schur_part_over_ranks(const palmette_rank_schur* schur, int32_t* num_rows,
                                               int32_t* num_cols) {
  return capi::guarded([&] { return capi::tell_part(schur, num_rows, num_cols); });
}

palmette_status palmette_schur_complement_over_ranks_d(const palmette_rank_schur* schur, double* part) {
  return capi::guarded([&] { return capi::copy_part<double>(schur, part); });
}
palmette_status palmette_schur_complement_over_ranks_z(const palmette_rank_schur* schur, double* part) {
  return capi::guarded([&] { return capi::copy_part<complex_of_ranks>(schur, part); });
}

palmette_status palmette_schur_solve_interior_over_ranks_d(palmette_rank_schur* schur,
                                                           const palmette_columns* columns) {
  return capi::guarded([&] { return capi::solve_rank_interior<double>(schur, columns); });
}
palmette_status palmette_schur_solve_interior_over_ranks_z(palmette_rank_schur* schur,
                                                           const palmette_columns* columns) {
  return capi::guarded([&] { return capi::solve_rank_interior<complex_of_ranks>(schur, columns); });
}

palmette_status palmette_schur_condense_over_ranks_d(palmette_rank_schur* schur,
                                                     const palmette_columns* columns) {
  return capi::guarded([&] { return capi::condense_ranks<double>(schur, columns); });
}
palmette_status palmette_schur_condense_over_ranks_z(palmette_rank_schur* schur,
                                                     const palmette_columns* columns) {
  return capi::guarded([&] { return capi::condense_ranks<complex_of_ranks>(schur, columns); });
}

palmette_status palmette_schur_expand_over_ranks_d(palmette_rank_schur* schur, const double* boundary_part,
                                                   int64_t ld_part, const palmette_columns* columns) {
  return capi::guarded([&] { return capi::expand_ranks<double>(schur, boundary_part, ld_part, columns); });
}
palmette_status palmette_schur_expand_over_ranks_z(palmette_rank_schur* schur, const double* boundary_part,
                                                   int64_t ld_part, const palmette_columns* columns) {
  return capi::guarded(
      [&] { return capi::expand_ranks<complex_of_ranks>(schur, boundary_part, ld_part, columns); });
}
