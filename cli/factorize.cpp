// palmette factorize: order, analyze, factorize, and keep the factors in a file.
#include <sys/stat.h>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/rank_factors.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/system_run.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct FactorizeCommand {
  MatrixOptions matrix;
  KindAndOrder kind_and_order;
  Precision precision = Precision::double_precision;
  int threads = 0;
  std::string out;
  OutputOptions output;
  RankOptions ranks;
};

double bytes_of_file(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? static_cast<double>(status.st_size) : 0;
}

std::string saved_text(const FactorizeCommand& command, const Report& report, double save_seconds) {
  FactList facts(16);
  facts.add("matrix", matrix_sentence(report.matrix));
  facts.add("factorization", fmt::format("{}, {}, {} in the factor", kind_sentence(report.factorize->kind),
                                         format_seconds(report.factorize->seconds),
                                         plural(report.analyze->nnz_factor, "entry")));
  for (const std::string& note : report.notes) facts.add("note", note);
  facts.add("written to", fmt::format("{}, {} in {}", command.out, format_bytes(bytes_of_file(command.out)),
                                      format_seconds(save_seconds)));
  return paragraph("", fmt::format("Palmette {}: factorize {}", version(), command.matrix.path)) + "\n" +
         facts.text();
}

template <class T>
int factorize_and_save(const FactorizeCommand& command, SparseMatrix<T> matrix, ProgressBar& progress) {
  SolverOptions options =
      unmeasured_options(command.kind_and_order, matrix.rows(), command.threads, progress);
  options.mixed_precision = command.precision == Precision::mixed;
  progress.begin("order");
  const Solver<T> solver =
      Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options).value();
  progress.end();
  const Stopwatch watch;
  solver.save(command.out);
  const double seconds = watch.seconds();
  const Report report = solver.report();
  if (command.output.shows_table()) print(saved_text(command, report, seconds));
  Json document = to_json(report);
  document["saved"] = {{"path", command.out}, {"bytes", bytes_of_file(command.out)}, {"seconds", seconds}};
  return finish(command.output, std::move(document), {});
}

/// The file is written beside its name and then put in place, so its folder must be writable, too.
void check_out(const std::string& out) {
  try {
    check_savable(out);
  } catch (const IoError& error) {
    throw OutputError(out, fmt::format("{}; choose another --out", error.what()));
  }
}

int run_factorize(const FactorizeCommand& command) {
  if (command.out.empty())
    throw UsageError("factorize needs --out FILE, where the factors are kept for 'palmette solve --factors'");
  if (command.out == "-")
    throw UsageError("--out - is not possible: factors are read where they lie in a file; give its name");
  check_destinations(command.out, command.output.json, command.matrix.path);
  if (command.ranks.wanted())
    return factorize_over_ranks({command.matrix, command.kind_and_order, command.precision, command.threads,
                                 command.out, command.output, command.ranks});
  check_out(command.out);
  ProgressBar progress(!command.output.quiet);
  ReadResult input = read_input(command.matrix, command.threads, progress);
  check_square(input, command.matrix.path, "factorize");
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) {
        return factorize_and_save<T>(command, std::move(matrix), progress);
      },
      with_scalar(std::move(input.matrix), false, command.precision == Precision::float_precision));
}

}  // namespace

Command add_factorize(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "factorize",
                     "Factorize A, and keep matrix and factors in a file for later solves.\n"
                     "The file is checked by sections when it is used, and is refused if it was cut or\n"
                     "changed. It fits this version of Palmette. Over ranks each rank writes a file,\n"
                     "FILE.rank0 and so on, and as many ranks solve with them.",
                     "  palmette factorize A.mtx --out A.factors\n"
                     "  palmette solve --factors A.factors --rhs b.mtx --out x.mtx\n"
                     "  mpiexec -n 4 palmette factorize A.mtx --out A.factors\n"
                     "  mpiexec -n 4 palmette solve --factors A.factors --rhs b.mtx --out x.mtx\n");
  const auto command = std::make_shared<FactorizeCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup method(app, "Method");
  add_precision(method, command->precision, true);
  add_kind_and_order(app, command->kind_and_order);
  add_threads(app, "Method", command->threads);
  OptionGroup report(app, "Report");
  report.text(
      {"--out", "FILE", "the file for the factors; a file of that name is replaced when it is complete"},
      command->out);
  add_rank_options(app, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_factorize(*command); }};
}

}  // namespace palmette::cli
