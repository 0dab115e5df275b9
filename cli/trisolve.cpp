// palmette trisolve: solve with a sparse triangular matrix as it is.
#include "cli/commands.hpp"
#include "cli/system_run.hpp"

namespace palmette::cli {
namespace {

struct TrisolveCommand {
  MatrixOptions matrix;
  SolvingOptions solving;
  OutputOptions output;
  bool upper = false;
  bool unit_diagonal = false;
};

int run_trisolve(const TrisolveCommand& command) {
  SystemRun run("trisolve", command.matrix, command.solving, command.output);
  TriangularSolverOptions options;
  options.triangle.lower = !command.upper;
  options.triangle.unit_diagonal = command.unit_diagonal;
  options.method = command.solving.method;
  set_device(options, command.solving.device);
  options.threads = command.solving.threads;
  options.cache_folder = cache_folder();
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) {
        run.progress().begin("plan");
        TriangularSolver<T> solver =
            TriangularSolver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options)
                .value();
        return run.solve_and_report<T>(solver);
      },
      run.take_matrix());
}

}  // namespace

Command add_trisolve(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "trisolve",
                     "Solve T x = b with a triangular matrix, and verify the solution.\n"
                     "Uses the lower triangle of the file (or the upper one) and ignores entries in the\n"
                     "other. A zero or missing diagonal entry is an error that names its row.",
                     "  palmette trisolve L.mtx --rhs b.mtx --out x.mtx\n"
                     "  palmette trisolve U.mtx --upper --transpose\n"
                     "  palmette trisolve L.mtx --unit-diagonal --method sync_free --repeat 9\n");
  const auto command = std::make_shared<TrisolveCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup system(app, "System");
  system.flag("--upper", "T is the upper triangle (default: the lower one)", command->upper);
  system.flag("--unit-diagonal", "take every diagonal entry as 1, whatever is stored",
              command->unit_diagonal);
  add_solving_options(app, command->solving, false);
  add_output_options(app, command->output);
  return {&app, [command] { return run_trisolve(*command); }};
}

}  // namespace palmette::cli
