// palmette generate: write a model problem.
#include <memory>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/progress_bar.hpp"
#include "cli/report_table.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct GenerateCommand {
  GenerateOptions options;
  OutputOptions output;
  std::string out;
  bool list = false;
};

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : generator_list()) names.push_back(info.name);
  return names;
}

int run_list(const GenerateCommand& command) {
  std::string text;
  Json problems = Json::array();
  for (const GeneratorInfo& info : generator_list()) {
    text += paragraph(fmt::format("{:<24}", info.name), info.summary);
    text += paragraph(std::string(26, ' '), fmt::format("--n: {}", info.n_meaning));
    if (!info.parameter_meaning.empty())
      text += paragraph(
          std::string(26, ' '),
          fmt::format("--parameter: {}{}", info.parameter_meaning,
                      info.default_parameter == 0 ? std::string()
                                                  : fmt::format(" (default: {})", info.default_parameter)));
    problems.push_back({{"name", info.name},
                        {"summary", info.summary},
                        {"n", info.n_meaning},
                        {"parameter", info.parameter_meaning},
                        {"default_parameter", info.default_parameter}});
  }
  if (command.output.shows_table()) print(text);
  return finish(command.output, {{"problems", problems}});
}

int run_generate(const GenerateCommand& command) {
  check_writable("--json", command.output.json);
  if (command.list) return run_list(command);
  if (command.options.problem.empty())
    throw UsageError("generate: the problem is missing; give a NAME; 'palmette generate --list' shows them");
  choose_name("generate", command.options.problem, generator_names());
  if (command.options.n == 0)
    throw UsageError(fmt::format("generate {}: the size is missing; use --n N", command.options.problem));
  if (command.out.empty())
    throw UsageError(fmt::format(
        "generate {}: the output is missing; use --out A.mtx, or --out - for standard output",
        command.options.problem));
  if (command.out == "-" && command.output.json == "-")
    throw UsageError("--out and --json cannot both go to standard output; give a file to one of them");
  check_apart("--out", command.out, "--json", command.output.json);
  check_writable("--out", command.out);
  ProgressBar progress(!command.output.quiet);
  progress.begin("generate");
  const SparseMatrix<double> matrix = generate(command.options);
  progress.begin("write");
  const std::string comment = fmt::format("palmette generate {} --n {} --seed {}", command.options.problem,
                                          command.options.n, command.options.seed);
  const auto write = [&](const std::string& path) { write_matrix(path, matrix, comment); };
  if (command.out == "-") print_file(write);
  else write_or_rescue(command.out, write);
  progress.end();
  const MatrixReport report = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarType::float64,
                               matrix.symmetry};
  if (command.output.shows_table() && command.out != "-")
    print(paragraph("", fmt::format("{}: {}", command.out, matrix_sentence(report))));
  return finish(command.output, {{"file", command.out},
                                 {"problem", command.options.problem},
                                 {"rows", matrix.rows()},
                                 {"cols", matrix.cols()},
                                 {"nnz", matrix.nnz()},
                                 {"symmetry", name_of(matrix.symmetry)}});
}

}  // namespace

Command add_generate(CLI::App& root) {
  CLI::App& app = new_subcommand(
      root, "generate",
      "Write a model problem as a Matrix Market file.\n"
      "The same name, size, seed and parameter give the same matrix on every machine.",
      "  palmette generate --list\n"
      "  palmette generate poisson3d7 --n 30 --out A.mtx\n"
      "  palmette generate random_triangular --n 100000 --parameter 50 --seed 3 --out T.mtx.gz\n");
  const auto command = std::make_shared<GenerateCommand>();
  add_argument(app, {"name", "NAME", "name of the problem: see --list"}, command->options.problem, false);
  OptionGroup system(app, "Problem");
  system.flag("--list", "list all problems, with the meaning of --n and --parameter", command->list);
  system.value({"--n", "N", "size; its meaning is in the list"}, [command](const std::string& text) {
    command->options.n = static_cast<index_t>(parse_integer("--n", text, 1, 2147483647));
  });
  system.value(
      {"--seed", "S", "seed of the random problems (default: 1)"}, [command](const std::string& text) {
        command->options.seed = static_cast<std::uint64_t>(parse_integer("--seed", text, 0, INT64_MAX));
      });
  system.value(
      {"--parameter", "P", "parameter; its meaning and default are in the list"},
      [command](const std::string& text) { command->options.parameter = parse_real("--parameter", text); });
  system.text({"--out", "A.mtx", "file to write (.gz: compressed); -: standard output"}, command->out);
  add_output_options(app, command->output);
  return {&app, [command] { return run_generate(*command); }};
}

}  // namespace palmette::cli
