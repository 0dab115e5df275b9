// palmette inverse: the diagonal of the inverse, or its entries where the factors have entries.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/system_run.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

enum class InverseParts { diagonal, selected };
constexpr InverseParts inverse_parts[] = {InverseParts::diagonal, InverseParts::selected};
std::string_view name_of(InverseParts parts) {
  return parts == InverseParts::diagonal ? "diagonal" : "selected";
}

struct InverseCommand {
  MatrixOptions matrix;
  KindAndOrder kind_and_order;
  InverseParts parts = InverseParts::diagonal;
  InverseRequest request;
  std::string out;
  OutputOptions output;
};

using Write = std::function<void(const std::string& path)>;

Json json_of(const InverseReport& report) {
  return {{"seconds", report.seconds},
          {"flops", report.flops},
          {"memory_bytes", report.memory_bytes},
          {"solved_columns", report.solved_columns},
          {"checked_columns", report.checked_columns},
          {"difference", report.difference},
          {"bound", report.bound},
          {"verified", report.verified},
          {"notes", report.notes}};
}

std::string inverse_text(const InverseCommand& command, const Report& made, const InverseReport& report,
                         offset_t entries) {
  FactList facts(16);
  facts.add("matrix", matrix_sentence(made.matrix));
  facts.add("factorization", fmt::format("{}, {}", kind_sentence(made.factorize->kind),
                                         format_seconds(made.factorize->seconds)));
  facts.add("entries", fmt::format("{} of the inverse, {} of memory", format_count(entries),
                                   format_bytes(static_cast<double>(report.memory_bytes))));
  facts.add("inverse", fmt::format("{}, {:.1f} Gflop/s", format_seconds(report.seconds),
                                   report.seconds > 0 ? report.flops / report.seconds / 1e9 : 0));
  if (report.solved_columns > 0) facts.add("solved for", plural(report.solved_columns, "column"));
  facts.add("verified", fmt::format("{}: {} solved for, largest difference {:.1e} (at most {:.1e})",
                                    report.verified ? "yes" : "no", plural(report.checked_columns, "column"),
                                    report.difference, report.bound));
  for (const std::string& note : report.notes) facts.add("note", note);
  if (!command.out.empty() && command.out != "-") facts.add("written to", command.out);
  return paragraph("", fmt::format("Palmette {}: inverse {}", version(), command.matrix.path)) + "\n" +
         facts.text();
}

int report_inverse(const InverseCommand& command, const Report& made, const InverseReport& report,
                   offset_t entries, const Write& write) {
  std::optional<Failure> failure = write_result(command.out, write);
  if (!failure && report.checked_columns > 0 && !report.verified) failure = describe_not_verified(report);
  if (command.output.shows_table() && command.out != "-")
    print(inverse_text(command, made, report, entries));
  Json document = to_json(made);
  document["inverse"] = json_of(report);
  return finish(command.output, std::move(document), failure);
}

template <class T>
int invert(const InverseCommand& command, SparseMatrix<T> matrix, ProgressBar& progress) {
  const SolverOptions options =
      unmeasured_options(command.kind_and_order, matrix.rows(), command.request.threads, progress);
  progress.begin("order");
  Solver<T> solver =
      Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options).value();
  progress.begin("inverse");
  const std::string comment = "of the inverse, made by palmette inverse";
  if (command.parts == InverseParts::diagonal) {
    const InverseEntries<T> made = inverse_diagonal(solver, command.request).value();
    progress.end();
    const auto n = static_cast<index_t>(made.values.size());
    return report_inverse(command, solver.report(), made.report, n, [&](const std::string& path) {
      write_dense<T>(path, {made.values.data(), n, 1, n}, "diagonal " + comment);
    });
  }
  const CheckedInverse<T> made = selected_inverse(solver, command.request).value();
  const SparseMatrix<T> entries = made.inverse.matrix();
  progress.end();
  return report_inverse(command, solver.report(), made.report, entries.nnz(), [&](const std::string& path) {
    write_matrix(path, entries, "entries " + comment);
  });
}

int run_inverse(const InverseCommand& command) {
  check_destinations(command.out, command.output.json, command.matrix.path);
  ProgressBar progress(!command.output.quiet);
  ReadResult input = read_input(command.matrix, command.request.threads, progress);
  check_square(input, command.matrix.path, "inverse");
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) { return invert<T>(command, std::move(matrix), progress); },
      std::move(input.matrix));
}

}  // namespace

Command add_inverse(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "inverse",
                     "Compute entries of the inverse of A, without the whole inverse.\n"
                     "The diagonal, or all entries where the factors have entries; a few columns are\n"
                     "solved for and compared. Costs about twice the factorization.",
                     "  palmette inverse A.mtx --out variances.mtx\n"
                     "  palmette inverse A.mtx --entries selected --out Z.mtx\n"
                     "  palmette inverse A.mtx --check 10 --json -\n");
  const auto command = std::make_shared<InverseCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup entries(app, "Method");
  entries.value({"--entries", bars(names_of(inverse_parts)),
                "diagonal: of the inverse; selected: all entries on the pattern of the factors (default: "
                "diagonal)"},
               [command](const std::string& text) {
                 command->parts = choose_of("--entries", text, inverse_parts);
               });
  entries.value({"--check", "K", "columns of the inverse that are solved for and compared (default: 3)"},
               [command](const std::string& text) {
                 command->request.check_columns =
                     static_cast<index_t>(parse_integer("--check", text, 0, 2147483647));
               });
  add_kind_and_order(app, command->kind_and_order);
  add_threads(app, "Method", command->request.threads);
  OptionGroup report(app, "Report");
  report.text({"--out", "FILE", "write the entries as a Matrix Market file; -: to standard output"},
              command->out);
  add_output_options(app, command->output);
  return {&app, [command] { return run_inverse(*command); }};
}

}  // namespace palmette::cli
