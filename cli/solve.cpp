// palmette solve: order, analyze, factorize, solve and verify.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/offload_model_file.hpp"
#include "cli/rank_factors.hpp"
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
  std::string factors;        ///< in place of a matrix
  offset_t memory_budget = 0;  ///< bytes; 0: panels are mapped
  std::vector<index_t> rows;  ///< of x, if not all
};

SolverOptions solver_options(const SolveCommand& command, SystemRun& run, index_t n) {
  OrderChoice choice = order_choice(command.kind_and_order.order, n);
  SolverOptions options;
  options.kind = command.kind_and_order.kind;
  options.ordering = choice.method;
  options.user_ordering = std::move(choice.user);
  options.method = command.solving.method;
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

/// Rows count from 1, as in Matrix Market files.
void check_rows(const std::vector<index_t>& rows, index_t n) {
  for (const index_t row : rows)
    if (row >= n)
      throw DimensionError(fmt::format("--rows names row {}, but the matrix has {} rows", row + 1, n));
}

template <class T>
int solve_with(SystemRun& run, const SolveCommand& command, Solver<T>& solver) {
  check_rows(command.rows, solver.size());
  if (command.rows.empty()) return run.solve_and_report<T>(solver);
  return run.solve_rows_and_report<T>(solver, command.rows);
}

/// Options that a file of factors has already settled.
void check_factors_alone(const SolveCommand& command) {
  const auto refuse = [&](std::string_view what) {
    throw UsageError(fmt::format("--factors {} comes without {}: the file says what was factorized, and how",
                                 command.factors, what));
  };
  if (!command.matrix.path.empty()) refuse("a matrix");
  if (command.kind_and_order.kind || command.kind_and_order.order != "auto") refuse("--kind and --order");
  if (command.solving.precision != Precision::double_precision) refuse("--precision");
  if (command.solving.singular != SingularAnswer::raise) refuse("--singular");
  if (command.solving.gpus) refuse("--gpus");
  if (command.solving.device != "none" && !command.ranks.wanted()) refuse("--device");
  if (!command.ranks.wanted()) return;
  if (command.memory_budget > 0)
    throw UsageError("--memory-budget is for one process; leave it out over ranks");
  if (!command.rows.empty())
    throw UsageError("--rows is for one process; over ranks leave it out, and take the rows from all of x");
}

template <class T>
int solve_with_saved(const SolveCommand& command) {
  LoadOptions options;
  options.method = command.solving.method;
  options.threads = command.solving.threads;
  options.cache_folder = cache_folder();
  options.memory_budget = command.memory_budget;
  Solver<T> solver = Solver<T>::load(command.factors, options);
  SystemRun run(command.factors, solver.size(), command.solving, command.output);
  if (run.has_complex_rhs() && !is_complex_v<T>)
    throw UsageError(
        fmt::format("'{}' is complex, but the factors in '{}' are real; solve with its real and "
                    "imaginary parts, or factorize a complex matrix",
                    command.solving.rhs, command.factors));
  return solve_with(run, command, solver);
}

int solve_with_factors(const SolveCommand& command) {
  check_factors_alone(command);
  if (command.ranks.wanted())
    return solve_with_rank_factors(command.factors, command.solving, command.output, command.ranks);
  switch (saved_scalar(command.factors)) {
    case ScalarType::float32:
      return solve_with_saved<float>(command);
    case ScalarType::float64:
      return solve_with_saved<double>(command);
    case ScalarType::complex64:
      return solve_with_saved<std::complex<float>>(command);
    case ScalarType::complex128:
      break;
  }
  return solve_with_saved<std::complex<double>>(command);
}

int run_solve(const SolveCommand& command) {
  if (command.memory_budget > 0 && command.factors.empty())
    throw UsageError("--memory-budget is for --factors: the panels stay in that file; keep the factors with "
                     "'palmette factorize' first");
  if (!command.factors.empty()) return solve_with_factors(command);
  if (command.matrix.path.empty())
    throw UsageError(
        "solve: A.mtx is missing, or --factors with a file of 'palmette factorize'; see 'palmette solve "
        "--help'");
  if (command.ranks.wanted() && !command.rows.empty())
    throw UsageError("--rows is for one process; over ranks leave it out, and take the rows from all of x");
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
        return solve_with(run, command, solver);
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
                     "  palmette solve --factors A.factors --rhs b.mtx --out x.mtx\n"
                     "  palmette solve --factors A.factors --memory-budget 2G --out x.mtx\n"
                     "  palmette solve A.mtx --rhs load.mtx --rows 17,18 --out x17.mtx\n"
                     "  mpiexec -n 4 palmette solve A.mtx --grid 2x2\n"
                     "  mpiexec -n 4 palmette solve A.mtx --device cuda\n"
                     "  palmette generate poisson2d5 --n 300 --out - | palmette solve -\n");
  const auto command = std::make_shared<SolveCommand>();
  add_matrix_options(app, command->matrix, false);
  OptionGroup(app, "System")
      .text({"--factors", "FILE", "factors that 'palmette factorize' has kept, in place of a matrix"},
            command->factors);
  OptionGroup(app, "System")
      .value({"--memory-budget", "BYTES",
              "with --factors: bytes of memory, as 500M or 2G (powers of 1000); the factors are read from "
              "the file during the solve, in the order of its sweeps (default: they are mapped)"},
             [command](const std::string& text) {
               command->memory_budget = parse_bytes("--memory-budget", text);
             });
  OptionGroup(app, "System")
      .value(
          {"--rows", "I,J,...",
           "only these rows of x, from 1: visits only the branches of the tree that they and the entries of "
           "b lie in, and checks their equations (default: all of x, refined)"},
          [command](const std::string& text) {
            for (const std::int64_t row : parse_integers("--rows", text, 1, 2147483647))
              command->rows.push_back(static_cast<index_t>(row - 1));
          });
  add_solving_options(app, command->solving, true);
  add_singular(app, command->solving.singular);
  add_kind_and_order(app, command->kind_and_order);
  add_rank_options(app, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_solve(*command); }};
}

}  // namespace palmette::cli
