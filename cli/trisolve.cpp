// palmette trisolve: solve with a sparse triangular matrix as it is.
#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/rank_world.hpp"
#include "cli/system_run.hpp"

namespace palmette::cli {
namespace {

struct TrisolveCommand {
  MatrixOptions matrix;
  SolvingOptions solving;
  OutputOptions output;
  RankOptions ranks;
  bool upper = false;
  bool unit_diagonal = false;
  index_t gpus = 1;
  index_t tasks_per_gpu = WorldOptions().tasks_per_element;
};

TriangularSolverOptions solver_options_of(const TrisolveCommand& command) {
  TriangularSolverOptions options;
  options.triangle.lower = !command.upper;
  options.triangle.unit_diagonal = command.unit_diagonal;
  options.triangle.plan.of_world.tasks_per_element = command.tasks_per_gpu;
  options.method = command.solving.method;
  options.threads = command.solving.threads;
  options.cache_folder = cache_folder();
  options.watchdog_seconds = command.ranks.watchdog_seconds;
  return options;
}

/// A device on each rank.
void refuse_what_ranks_cannot(const TrisolveCommand& command) {
  if (command.gpus > 1) throw UsageError("--gpus is for one process; over ranks each has one device");
  if (command.solving.device == "none" || command.solving.device.starts_with("auto"))
    throw UsageError("a triangle over ranks needs a device on each: add --device emulated, or cuda");
}

/// What was read, for as long as ranks solve with it.
struct SystemOfRanks {
  SolvingOptions solving;
  OutputOptions output;
  SystemRun run;
  AnyMatrix matrix;

  SystemOfRanks(const TrisolveCommand& command, bool speaks)
      : solving(speaks ? command.solving : without_output(command.solving)),
        output(speaks ? command.output : no_output()),
        run("trisolve", command.matrix, solving, output),
        matrix(run.take_matrix()) {}
};

/// Rank 0 writes and reports. @param system  of all ranks of this process; null: this one reads the files
int trisolve_as_rank(const TrisolveCommand& command, std::shared_ptr<SystemOfRanks> system,
                     const RankSeat& seat) {
  seat.transport.set_watchdog(command.ranks.watchdog_seconds);
  TriangularSolverOptions options = solver_options_of(command);
  agree_after(seat.transport, [&] {
    refuse_what_ranks_cannot(command);
    if (!system && seat.transport.num_ranks() > 1 &&
        (command.matrix.path == "-" || command.solving.rhs == "-"))
      throw UsageError("several processes cannot read one standard input; give a file");
    if (!system) system = std::make_shared<SystemOfRanks>(command, seat.speaks());
    options.triangle.plan.device = open_device_of_rank(command.solving.device, seat.transport.rank());
  });
  return std::visit(
      [&]<class T>(const SparseMatrix<T>& given) {
        auto solver = TriangularSolver<T>::create(std::shared_ptr<const SparseMatrix<T>>(system, &given),
                                                  options, seat.transport)
                          .value();
        DenseMatrix<T> solution;
        agree_after(seat.transport, [&] { solution = system->run.right_hand_sides<T>(solver.size()); });
        const Report report =
            solver.solve(std::as_const(solution).view(), solution.view(), command.solving.request).value();
        int code = exit_success;
        exchange(seat.transport, [&] {
          if (seat.speaks()) code = system->run.report_solution<T>(report, solution);
        });
        return code;
      },
      std::as_const(system->matrix));
}

/// Threads share what is read once; processes read it each.
int trisolve_over_ranks(const TrisolveCommand& command) {
  std::shared_ptr<SystemOfRanks> shared;
  if (transport_of_run(command.ranks).world != RankWorld::mpi) {
    refuse_what_ranks_cannot(command);
    shared = std::make_shared<SystemOfRanks>(command, true);
  }
  return run_on_every_rank(command.ranks, command.output, [&](const RankSeat& seat) {
    return trisolve_as_rank(command, shared, seat);
  });
}

int run_trisolve(const TrisolveCommand& command) {
  // A launcher of a single process does not ask for ranks, which need devices.
  if (command.ranks.transport || launched_ranks() > 1) return trisolve_over_ranks(command);
  SystemRun run("trisolve", command.matrix, command.solving, command.output);
  TriangularSolverOptions options = solver_options_of(command);
  set_devices(options, command.solving.device, command.gpus);
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

void add_devices(CLI::App& app, TrisolveCommand& command) {
  constexpr index_t most_gpus = 32, most_tasks = 1 << 20;
  OptionGroup method(app, "Method");
  method.value({"--gpus", "N", "so many devices of that kind, the columns dealt to them (default: 1)"},
               [&command](const std::string& text) {
                 command.gpus = static_cast<index_t>(parse_integer("--gpus", text, 1, most_gpus));
               });
  method.value({"--tasks-per-gpu", "K",
                "into how many tasks of neighbouring columns each device's share is cut (default: 8)"},
               [&command](const std::string& text) {
                 command.tasks_per_gpu =
                     static_cast<index_t>(parse_integer("--tasks-per-gpu", text, 1, most_tasks));
               });
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
                     "  palmette trisolve L.mtx --unit-diagonal --method sync_free --repeat 9\n"
                     "  palmette trisolve L.mtx --transport threads:3 --device emulated\n");
  const auto command = std::make_shared<TrisolveCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup system(app, "System");
  system.flag("--upper", "T is the upper triangle (default: the lower one)", command->upper);
  system.flag("--unit-diagonal", "take every diagonal entry as 1, whatever is stored",
              command->unit_diagonal);
  add_solving_options(app, command->solving, false);
  add_devices(app, *command);
  OptionGroup ranks(app, "Ranks");
  add_transport_options(ranks, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_trisolve(*command); }};
}

}  // namespace palmette::cli
