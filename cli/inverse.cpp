// palmette inverse: the diagonal of the inverse, or its entries where the factors have entries.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/rank_world.hpp"
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
  RankOptions ranks;
  OutputOptions output;
};

using Write = std::function<void(const std::string& path)>;

Json json_of(const InverseReport& report) {
  return {{"seconds", report.seconds},
          {"flops", report.flops},
          {"memory_bytes", report.memory_bytes},
          {"messages", report.messages},
          {"message_bytes", report.message_bytes},
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

constexpr const char* made_by = "of the inverse, made by palmette inverse";

/// What is told of entries of an inverse.
struct InverseAnswer {
  const Report& made;
  Json document;  // of `made`
  const InverseReport& report;
  offset_t entries;
};

int report_inverse(const InverseCommand& command, InverseAnswer answer, const Write& write) {
  const InverseReport& report = answer.report;
  std::optional<Failure> failure = write_result(command.out, write);
  if (!failure && report.checked_columns > 0 && !report.verified) failure = describe_not_verified(report);
  if (command.output.shows_table() && command.out != "-")
    print(inverse_text(command, answer.made, report, answer.entries));
  answer.document["inverse"] = json_of(report);
  return finish(command.output, std::move(answer.document), failure);
}

template <class T>
int invert(const InverseCommand& command, SparseMatrix<T> matrix, ProgressBar& progress) {
  const SolverOptions options =
      unmeasured_options(command.kind_and_order, matrix.rows(), command.request.threads, progress);
  progress.begin("order");
  Solver<T> solver =
      Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options).value();
  progress.begin("inverse");
  if (command.parts == InverseParts::diagonal) {
    const InverseEntries<T> made = inverse_diagonal(solver, command.request).value();
    progress.end();
    const auto n = static_cast<index_t>(made.values.size());
    const Report report = solver.report();
    return report_inverse(command, {report, to_json(report), made.report, n}, [&](const std::string& path) {
      write_dense<T>(path, {made.values.data(), n, 1, n}, std::string("diagonal ") + made_by);
    });
  }
  const CheckedInverse<T> made = selected_inverse(solver, command.request).value();
  const SparseMatrix<T> entries = made.inverse.matrix();
  progress.end();
  const Report report = solver.report();
  return report_inverse(
      command, {report, to_json(report), made.report, entries.nnz()},
      [&](const std::string& path) { write_matrix(path, entries, std::string("entries ") + made_by); });
}

/// Rank 0 gets the entries and reports; the others only compute.
template <class T>
int invert_on_rank(const InverseCommand& command, std::shared_ptr<const SparseMatrix<T>> matrix,
                   const RankSeat& seat) {
  RankSolverOptions options;
  agree_after(seat.transport, [&] {
    options = rank_solver_options(command.kind_and_order, command.ranks, std::max(1, command.request.threads),
                                  matrix->rows());
  });
  set_transport(seat, options);
  RankSolver<T> solver = RankSolver<T>::create(std::move(matrix), options, seat.transport).value();
  InverseEntries<T> diagonal;
  SparseMatrix<T> entries;
  InverseReport report;
  if (command.parts == InverseParts::diagonal) {
    diagonal = solver.inverse_diagonal(command.request).value();
    report = diagonal.report;
  } else {
    const CheckedRankInverse<T> made = solver.selected_inverse(command.request).value();
    report = made.report;
    ThreadTeam alone(1);
    entries = made.inverse.gathered(seat.transport, alone);
  }
  const auto n = static_cast<index_t>(diagonal.values.size());
  const Write write = [&](const std::string& path) {
    if (command.parts == InverseParts::selected)
      return write_matrix(path, entries, std::string("entries ") + made_by);
    write_dense<T>(path, {diagonal.values.data(), n, 1, n}, std::string("diagonal ") + made_by);
  };
  int code = report.checked_columns > 0 && !report.verified ? exit_not_verified : exit_success;
  exchange(seat.transport, [&] {
    if (!seat.speaks()) return;
    const RankReport made = solver.report();
    const offset_t count = command.parts == InverseParts::diagonal ? n : entries.nnz();
    code = report_inverse(command, {made.run, to_json(made), report, count}, write);
  });
  return code;
}

int invert_over_ranks(const InverseCommand& command) {
  const RankMatrix matrix =
      square_matrix_of_ranks(command.matrix, command.request.threads, command.output, "inverse", [&] {
        check_destinations(command.out, command.output.json, command.matrix.path);
        refuse_options_of_solves(command.ranks, "inverse");
      });
  return run_with_typed_matrix(
      command.ranks, command.output, matrix,
      [&]<class T>(std::shared_ptr<const SparseMatrix<T>> mine, const RankSeat& seat) {
        return invert_on_rank<T>(command, std::move(mine), seat);
      });
}

int run_inverse(const InverseCommand& command) {
  if (command.ranks.wanted()) return invert_over_ranks(command);
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
                     "solved for and compared. Costs about twice the factorization.\n"
                     "Over ranks the factor is distributed, and rank 0 gets the entries.",
                     "  palmette inverse A.mtx --out variances.mtx\n"
                     "  palmette inverse A.mtx --entries selected --out Z.mtx\n"
                     "  palmette inverse A.mtx --check 10 --json -\n"
                     "  mpiexec -n 4 palmette inverse A.mtx --out variances.mtx\n");
  const auto command = std::make_shared<InverseCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup entries(app, "Method");
  entries.value(
      {"--entries", bars(names_of(inverse_parts)),
       "diagonal: of the inverse; selected: all entries on the pattern of the factors (default: "
       "diagonal)"},
      [command](const std::string& text) { command->parts = choose_of("--entries", text, inverse_parts); });
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
  add_rank_options(app, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_inverse(*command); }};
}

}  // namespace palmette::cli
