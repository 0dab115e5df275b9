// The command palmette: reads the command line, runs one subcommand, and turns every failure into one
// sentence and an exit code.
#include <csignal>
#include <exception>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "cli/rank_options.hpp"
#include "palmette/blocks/blocks.hpp"

namespace palmette::cli {

CLI::App& new_subcommand(CLI::App& root, const std::string& name, const std::string& description,
                         const std::string& examples) {
  CLI::App& app = *root.add_subcommand(name, description);
  app.set_help_flag("-h,--help", "print this help and exit")->group("Report");
  app.formatter(help_formatter());
  app.footer(help_footer(examples));
  return app;
}

namespace {

constexpr const char* overview =
    "Palmette solves sparse linear systems A x = b, and reports the error of x and\n"
    "the speed of the solve compared with that of this machine's memory.";

constexpr const char* overview_footer =
    "Examples:\n"
    "  palmette generate poisson3d7 --n 30 --out A.mtx    a model problem to experiment with\n"
    "  palmette solve A.mtx --out x.mtx                   solve with a right-hand side of ones\n"
    "  palmette solve A.mtx --rhs b.mtx --json -          the report as JSON\n"
    "\n"
    "'palmette COMMAND --help' explains a command, with its options and examples.\n";

/// The next file that is opened must not take the place of a closed standard stream: it would receive our
/// output.
void occupy_closed_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) == -1 &&
        ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY) == -1)
      return;
}

/// The destination of --json on the command line, known even if the rest cannot be parsed.
std::string json_destination(const std::vector<std::string>& arguments) {
  for (std::size_t place = 1; place < arguments.size(); ++place) {
    if (arguments[place] == "--json" && place + 1 < arguments.size()) return arguments[place + 1];
    if (arguments[place].compare(0, 7, "--json=") == 0) return arguments[place].substr(7);
  }
  return "";
}

void describe_root(CLI::App& root) {
  root.name("palmette");
  root.set_help_flag("-h,--help", "print this help and exit");
  root.set_version_flag("--version", fmt::format("palmette {}", version()), "print the version and exit");
  root.formatter(help_formatter());
  root.footer(fmt::format("{}\n{}", overview_footer, exit_codes_text));
  root.require_subcommand(1);
}

int parse_and_run(int argc, char** argv) {
  CLI::App root(overview);
  describe_root(root);
  KernelChoice kernels;
  add_kernels(root, kernels);
  std::vector<Command> commands;
  for (const auto add :
       {add_solve, add_factorize, add_trisolve, add_inverse, add_schur, add_order, add_analyze, add_info,
        add_generate, add_convert, add_bench, add_predict, add_measure, add_simulate_cluster,
        add_simulate_transfers, add_advise_transfers})
    commands.push_back(add(root));
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto parsed = root.get_subcommands();
    print(parsed.empty() ? root.help() : parsed.front()->help());
    return exit_success;
  } catch (const CLI::CallForVersion& call) {
    print(std::string(call.what()) + "\n");
    return exit_success;
  } catch (const CLI::ParseError& error) {
    throw UsageError(usage_sentence(root, error));
  }
  take_kernels(kernels, argc, argv);
  for (const Command& command : commands)
    if (command.app->parsed()) return command.run();
  throw UsageError("the command is missing; see 'palmette --help'");
}

}  // namespace
}  // namespace palmette::cli

int main(int argc, char** argv) {
  using namespace palmette::cli;
  std::signal(SIGPIPE, SIG_IGN);
  occupy_closed_streams();
  palmette::blas::end_idle_threads();
  try {
    return parse_and_run(argc, argv);
  } catch (...) {
    if (launched_rank() > 0) return describe_current_exception().exit_code;  // rank 0 reports for all
    return finish_failed(json_destination(std::vector<std::string>(argv, argv + argc)),
                         describe_current_exception());
  }
}
