// palmette convert: converts a matrix file of any supported format to Matrix Market.
#include <memory>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/report_table.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct ConvertCommand {
  MatrixOptions matrix;
  OutputOptions output;
  std::string out;
};

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

template <class T>
int write_converted(const ConvertCommand& command, const SparseMatrix<T>& matrix, const std::string& format) {
  const auto write = [&](const std::string& path) {
    write_matrix(path, matrix, "converted by palmette from " + format);
  };
  if (command.out == "-") print_file(write);
  else write_or_rescue(command.out, write);
  const MatrixReport report = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type,
                               matrix.symmetry};
  if (command.output.shows_table() && command.out != "-")
    print(paragraph("", fmt::format("{}: {}", command.out, matrix_sentence(report))));
  return finish(command.output, {{"file", command.out},
                                 {"format", format},
                                 {"rows", matrix.rows()},
                                 {"cols", matrix.cols()},
                                 {"nnz", matrix.nnz()},
                                 {"symmetry", name_of(matrix.symmetry)}});
}

int run_convert(const ConvertCommand& command) {
  if (command.out != "-" && !ends_with(command.out, ".mtx") && !ends_with(command.out, ".mtx.gz"))
    throw UsageError(fmt::format(
        "convert writes Matrix Market files: '{}' must end in .mtx or .mtx.gz, or be - for standard output",
        command.out));
  if (command.out == "-" && command.output.json == "-")
    throw UsageError("the matrix and --json cannot both go to standard output; give a file to one of them");
  check_writable("OUT", command.out);
  check_writable("--json", command.output.json);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, 0, progress);
  progress.begin("write");
  return std::visit([&](const auto& matrix) { return write_converted(command, matrix, input.header.format); },
                    input.matrix);
}

}  // namespace

Command add_convert(CLI::App& root) {
  CLI::App& app = new_subcommand(root, "convert",
                                 "Convert a matrix file of any supported format to Matrix Market.\n"
                                 "Values are written so that reading them back gives the same bits.",
                                 "  palmette convert bcsstk16.rb.gz bcsstk16.mtx\n"
                                 "  palmette convert A.rua A.mtx.gz\n"
                                 "  palmette convert pattern.mtx - --pattern-values laplacian\n");
  const auto command = std::make_shared<ConvertCommand>();
  add_matrix_options(app, command->matrix);
  add_argument(app, {"out", "OUT.mtx", "file to write, .mtx or .mtx.gz; -: standard output"}, command->out);
  add_output_options(app, command->output);
  return {&app, [command] { return run_convert(*command); }};
}

}  // namespace palmette::cli
