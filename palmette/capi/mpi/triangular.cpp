// C functions that make solvers of triangles and given factors over MPI ranks with one device each; they
// solve by the functions of one machine.
#include "palmette/capi/mpi/settings.hpp"
#include "palmette/capi/triangular.hpp"

namespace palmette::capi {
namespace {

/// An exchange of ranks, and what this rank solves with.
struct GivenCall {
  std::shared_ptr<Transport> transport;
  TriangularSolverOptions options;
  SolveRequest request;

  GivenCall(int communicator, const palmette_rank_options* given) {
    const RankSettings settings = settings_from(given);
    transport = make_mpi_exchange(communicator, settings.transport).transport;
    options.watchdog_seconds = settings.solver.watchdog_seconds;
    request = settings.request;
    agree_after(*transport, [&] {
      options.triangle.plan.device = open_device_of_rank(settings.device, transport->rank());
    });
  }
};

template <class T>
palmette_status create_triangular(const palmette_triangle* triangle, int communicator,
                                  const palmette_rank_options* given, palmette_triangular** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  GivenCall call(communicator, given);
  std::shared_ptr<const SparseMatrix<T>> matrix;
  agree_after(*call.transport, [&] { matrix = triangle_from<T>(triangle, call.options); });
  auto made = TriangularSolver<T>::create(std::move(matrix), call.options, *call.transport);
  return keep(std::move(made), call.transport, call.request, out);
}

template <class T>
palmette_status create_from_factors(const palmette_factors* factors, int communicator,
                                    const palmette_rank_options* given, palmette_triangular** out) {
  require(out != nullptr, "solver is NULL; pass a pointer for the handle");
  *out = nullptr;
  GivenCall call(communicator, given);
  GivenFactors<T> own;
  agree_after(*call.transport, [&] { own = factors_from<T>(factors, call.options); });
  auto made = TriangularSolver<T>::from_factors(std::move(own.factors), std::move(own.matrix), call.options,
                                                *call.transport);
  return keep(std::move(made), call.transport, call.request, out);
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;
using complex_of_columns = std::complex<double>;

palmette_status palmette_triangular_create_over_ranks_d(const palmette_triangle* triangle, int communicator,
                                                        const palmette_rank_options* options,
                                                        palmette_triangular** solver) {
  return capi::guarded(
      [&] { return capi::create_triangular<double>(triangle, communicator, options, solver); });
}
palmette_status palmette_triangular_create_over_ranks_z(const palmette_triangle* triangle, int communicator,
                                                        const palmette_rank_options* options,
                                                        palmette_triangular** solver) {
  return capi::guarded(
      [&] { return capi::create_triangular<complex_of_columns>(triangle, communicator, options, solver); });
}

palmette_status palmette_triangular_from_factors_over_ranks_d(const palmette_factors* factors,
                                                              int communicator,
                                                              const palmette_rank_options* options,
                                                              palmette_triangular** solver) {
  return capi::guarded(
      [&] { return capi::create_from_factors<double>(factors, communicator, options, solver); });
}
palmette_status palmette_triangular_from_factors_over_ranks_z(const palmette_factors* factors,
                                                              int communicator,
                                                              const palmette_rank_options* options,
                                                              palmette_triangular** solver) {
  return capi::guarded([&] {
    return capi::create_from_factors<complex_of_columns>(factors, communicator, options, solver);
  });
}
