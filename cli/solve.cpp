// palmette solve: order, analyze, factorize, solve and verify.
#include "cli/commands.hpp"
#include "cli/offload_model_file.hpp"
#include "cli/rank_solve.hpp"
#include "cli/system_run.hpp"

namespace palmette::cli {
namespace {

struct SolveCommand {
  MatrixOptions matrix;
  KindAndOrder kind_and_order;
  SolvingOptions solving;
  OutputOptions output;
  RankOptions ranks;
};

SolverOptions solver_options(const SolveCommand& command, SystemRun& run, index_t n) {
  OrderChoice choice = order_choice(command.kind_and_order.order, n);
  SolverOptions options;
  options.kind = command.kind_and_order.kind;
  options.ordering = choice.method;
  options.user_ordering = std::move(choice.user);
  options.method = command.solving.method;
  check_gpus(command.solving);
  if (const std::optional<LayeredGrid>& gpus = command.solving.gpus)
    set_devices(options, command.solving.device, gpus->grid, gpus->layers);
  else set_device(options, command.solving.device);
  options.offload = command.solving.offload;
  if (options.device) options.offload_model = kept_offload_model(options.device->info());
  options.threads = command.solving.threads;
  options.mixed_precision = command.solving.precision == Precision::mixed;
  options.singular = command.solving.singular;
  options.cache_folder = cache_folder();
  options.progress = run.progress().callback();
  return options;
}

int run_solve(const SolveCommand& command) {
  if (command.ranks.wanted() && command.solving.singular != SingularAnswer::raise)
    throw UsageError(
        "--singular takes only raise over ranks; solve with threads alone for an answer to a singular "
        "system");
  if (command.ranks.wanted() && command.solving.gpus)
    throw UsageError(
        "--gpus is for one process; over ranks --device gives each rank one device, and --grid says how they "
        "are arranged");
  if (command.solving.device == "none" && command.solving.offload == OffloadWhen::always)
    throw UsageError("--offload always needs a device: add --device");
  if (command.ranks.wanted())
    return solve_over_ranks(
        {command.matrix, command.kind_and_order, command.solving, command.output, command.ranks});
  SystemRun run("solve", command.matrix, command.solving, command.output);
  const SolverOptions options = solver_options(command, run, run.input().header.rows);
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) {
        run.progress().begin("order");
        Solver<T> solver =
            Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options).value();
        return run.solve_and_report<T>(solver);
      },
      run.take_matrix());
}

}  // namespace

Command add_solve(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "solve",
                     "Solve A x = b, and verify the answer.\n"
                     "Orders, analyzes and factorizes A, solves, refines where that helps, and reports\n"
                     "the backward error and the fraction of memory speed that the solve reached.",
                     "  palmette solve A.mtx --out x.mtx\n"
                     "  palmette solve A.mtx --rhs b.mtx --out x.mtx --condition\n"
                     "  palmette solve A.mtx --rhs random:7 --num-rhs 50 --repeat 5 --json report.json\n"
                     "  mpiexec -n 4 palmette solve A.mtx --grid 2x2\n"
                     "  mpiexec -n 4 palmette solve A.mtx --device cuda\n"
                     "  palmette generate poisson2d5 --n 300 --out - | palmette solve -\n");
  const auto command = std::make_shared<SolveCommand>();
  add_matrix_options(app, command->matrix);
  add_solving_options(app, command->solving, true);
  add_singular(app, command->solving.singular);
  add_kind_and_order(app, command->kind_and_order);
  add_rank_options(app, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_solve(*command); }};
}

}  // namespace palmette::cli
