// Every process reads the same files; the ranks solve together; rank 0 writes, prints and reports.
#include "cli/rank_solve.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/method_options.hpp"
#include "cli/rank_world.hpp"
#include "cli/system_run.hpp"
#include "cli/this_machine.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {
namespace {

/// Layers of the grid, as far as the options say; 0: prediction chooses.
index_t given_layers(const RankOptions& ranks) {
  if (ranks.chooses_grid) return ranks.chosen_layers;
  return ranks.grid ? ranks.grid->layers : 1;
}

void refuse_what_ranks_cannot(const RankSolveRequest& request, bool several_processes) {
  if (request.solving.device.starts_with("auto"))
    throw UsageError(
        "--device auto is for one process; over ranks name a kind, and each rank takes one of it");
  if (request.solving.device == "none" && request.ranks.memory)
    throw UsageError("--memory is for ranks with devices: add --device");
  if (request.solving.offload == OffloadWhen::always)
    throw UsageError("--offload always is for one process; over ranks the hosts factorize");
  if (request.solving.precision == Precision::mixed)
    throw UsageError("--precision mixed does not work over ranks yet; use double or float");
  check_method(request.solving.method, given_layers(request.ranks));
  if (several_processes && (request.matrix.path == "-" || request.solving.rhs == "-"))
    throw UsageError("several processes cannot read one standard input; give a file");
}

/// Numbers of layers that prediction may choose: `given`, or all that the method allows if that is 0.
std::vector<index_t> allowed_layers(index_t given, SolveMethod method, index_t num_ranks) {
  if (given != 0) return {given};
  std::vector<index_t> layers = layers_to_choose_from(method, num_ranks);
  if (layers.empty())
    throw UsageError(fmt::format("--method {} needs several layers, and {} ranks cannot be several layers of "
                                 "equal size: use message_driven, or more ranks",
                                 name_of(method), num_ranks));
  return layers;
}

/// Of ranks with a device each, by the programs of its kernels: hosts carry what kernels send, so each
/// message also waits for the end of one kernel and the start of another. One column where nothing is known.
RankLayout layout_of_devices(const RankSolveRequest& request, const DeviceLayoutQuestion& question) {
  const DeviceInfo info = open_device_of_rank(request.solving.device, 0)->info();
  std::optional<Cluster> cluster = request.ranks.machine == "this"
                                       ? cluster_of(info, question.num_devices)
                                       : machine_by_name(request.ranks.machine).cluster;
  RankLayout layout{{{question.num_devices / question.layers.front(), 1}, question.layers.front()},
                    PlacementMap::block_cyclic};
  if (!cluster) return layout;
  for (LinkLevel& level : cluster->links) {
    level.link.latency_us += cluster->launch_us;
    for (Link& pair : level.pairs) pair.latency_us += cluster->launch_us;
  }
  layout.ranks = ranked_device_layouts(question, *cluster).front().devices;
  return layout;
}

/// Without a machine of ranks.
void let_prices_choose(const RankSolveRequest& request, RankSolverOptions& options) {
  options.choose_layout = [request, num_rhs = options.max_rhs, trees = options.trees](
                              const SymbolicFactor& symbolic, index_t num_ranks, int scalar_bytes) {
    DeviceLayoutQuestion question{symbolic, num_ranks};
    question.layers = allowed_layers(request.ranks.chosen_layers, request.solving.method, num_ranks);
    question.of_world.trees = trees;
    question.num_rhs = num_rhs;
    question.scalar_bytes = scalar_bytes;
    return layout_of_devices(request, question);
  };
}

/// Only the rank that predicts needs the machine.
void let_prediction_choose(const RankSolveRequest& request, bool is_asked, RankSolverOptions& options) {
  const auto cluster =
      is_asked ? std::make_shared<const Cluster>(machine_by_name(request.ranks.machine).cluster) : nullptr;
  const RankOptions ranks = request.ranks;
  options.choose_layout = [cluster, ranks, method = request.solving.method, num_rhs = options.max_rhs,
                           trees = options.trees, has_device = request.solving.device != "none"](
                              const SymbolicFactor& symbolic, index_t num_ranks, int scalar_bytes) {
    GridQuestion question{
        symbolic, num_ranks,   {PlacementMap::subtree_to_subcube, PlacementMap::block_cyclic}, {}, trees,
        num_rhs,  scalar_bytes};
    if (ranks.map) question.maps = {*ranks.map};
    question.methods = layered_methods(method);
    question.layers = allowed_layers(ranks.chosen_layers, method, num_ranks);
    const GridChoice best = chosen_layout(question, *cluster);
    const SolveGraph tasks = tasks_of(question, best);
    const index_t groups =
        has_device ? 1 : choose_rhs_groups(tasks, rank_rates(tasks, *cluster, num_rhs, scalar_bytes)).groups;
    return RankLayout{{best.grid, best.layers}, best.map, best.method, groups};
  };
}

RankSolverOptions solver_options(const RankSolveRequest& request, const RankTransport& transport,
                                 const SystemRun& run, bool is_first = true) {
  RankSolverOptions options = rank_solver_options(request.kind_and_order, request.ranks,
                                                  request.solving.threads, run.input().header.rows);
  options.singular = request.solving.singular;
  if (is_layered(request.solving.method)) options.layered_method = layered_method(request.solving.method);
  // no memory for right-hand sides that are never read
  options.max_rhs = std::clamp<index_t>(run.num_rhs(), 1, options.max_rhs);
  options.transport_name = transport.name;
  if (request.ranks.chooses_grid && request.solving.device != "none") let_prices_choose(request, options);
  else if (request.ranks.chooses_grid) let_prediction_choose(request, is_first, options);
  return options;
}

/// One rank's solve; x is left in `solution`.
template <class T>
RankReport solve_as_rank(const std::shared_ptr<const SparseMatrix<T>>& matrix,
                         const RankSolverOptions& options, const SolveRequest& request,
                         DenseMatrix<T>& solution, Transport& transport) {
  RankSolver<T> solver = RankSolver<T>::create(matrix, options, transport).value();
  return solver.solve(std::as_const(solution).view(), solution.view(), request).value();
}

/// Ranks as threads: one matrix for all, each with its own right-hand sides.
template <class T>
int solve_by_threads(SystemRun& run, const std::shared_ptr<const SparseMatrix<T>>& matrix,
                     const RankSolverOptions& options, const RankSolveRequest& request) {
  DenseMatrix<T> first;
  RankReport report;
  ThreadWorld world(request.ranks.thread_ranks);
  world.run([&](Transport& thread) {
    Checked checked(thread);
    Transport& transport = request.ranks.checked ? static_cast<Transport&>(checked) : thread;
    RankSolverOptions own_options = options;
    own_options.device = open_device_of_rank(request.solving.device, transport.rank());
    DenseMatrix<T> solution = run.right_hand_sides<T>(matrix->rows());
    RankReport own = solve_as_rank(matrix, own_options, request.solving.request, solution, transport);
    if (transport.rank() != 0) return;
    report = std::move(own);
    first = std::move(solution);
  });
  return run.report_ranks<T>(report, first);
}

int run_in_this_process(const RankSolveRequest& request) {
  const RankTransport transport = transport_of_run(request.ranks);
  refuse_what_ranks_cannot(request, false);
  SystemRun run("solve", request.matrix, request.solving, request.output);
  RankSolverOptions options = solver_options(request, transport, run);
  if (transport.world == RankWorld::loopback)
    options.device = open_device_of_rank(request.solving.device, 0);
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& given) {
        const auto matrix = std::make_shared<const SparseMatrix<T>>(std::move(given));
        if (transport.world == RankWorld::threads) return solve_by_threads<T>(run, matrix, options, request);
        const std::unique_ptr<Transport> alone = make_loopback();
        DenseMatrix<T> solution = run.right_hand_sides<T>(matrix->rows());
        const RankReport report = solve_as_rank(matrix, options, request.solving.request, solution, *alone);
        return run.report_ranks<T>(report, solution);
      },
      run.take_matrix());
}

/// Read, agree that all could, solve. @returns the exit code
int run_as_process(const RankSolveRequest& request, const RankTransport& wanted, const MpiExchange& mpi) {
  Checked checked(*mpi.transport);
  Transport& transport = request.ranks.checked ? static_cast<Transport&>(checked) : *mpi.transport;
  const bool speaks = transport.rank() == 0;
  const SolvingOptions solving = speaks ? request.solving : without_output(request.solving);
  const OutputOptions output = speaks ? request.output : no_output();
  std::optional<SystemRun> run;
  RankSolverOptions options;
  std::optional<AnyMatrix> matrix;
  agree_after(transport, [&] {
    refuse_what_ranks_cannot(request, transport.num_ranks() > 1);
    run.emplace("solve", request.matrix, solving, output);
    options = solver_options(request, wanted, *run, speaks);
    options.device = open_device_of_rank(solving.device, transport.rank());
    matrix = run->take_matrix();
  });
  options.transport_name = mpi.name;
  options.transport_note = mpi.note;
  options.planned = mpi.planned;
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& given) {
        const auto shared = std::make_shared<const SparseMatrix<T>>(std::move(given));
        DenseMatrix<T> solution;
        agree_after(transport, [&] { solution = run->right_hand_sides<T>(shared->rows()); });
        const RankReport report = solve_as_rank(shared, options, solving.request, solution, transport);
        int code = exit_success;
        exchange(transport, [&] {
          if (speaks) code = run->report_ranks<T>(report, solution);
        });
        return transport.agree(code);
      },
      *std::move(matrix));
}

}  // namespace

int solve_over_ranks(const RankSolveRequest& request) {
  const RankTransport transport = transport_of_run(request.ranks);
  if (transport.world != RankWorld::mpi) return run_in_this_process(request);
  return run_under_mpi(request.ranks, transport, request.output, [&](const MpiExchange& mpi) {
    return run_as_process(request, transport, mpi);
  });
}

}  // namespace palmette::cli
