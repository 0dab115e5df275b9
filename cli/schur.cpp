// palmette schur: the Schur complement on unknowns that are not eliminated, as a dense matrix.
#include <fmt/format.h>

#include <numeric>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/rank_world.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/system_run.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct SchurCommand {
  MatrixOptions matrix;
  KindAndOrder kind_and_order;
  index_t first = 0;  // of the unknowns that stay, counted from 1; 0: not given
  index_t last = 0;
  int threads = 0;
  std::string out;
  OutputOptions output;
  RankOptions ranks;
};

Json json_of(const SchurReport& report) {
  return {{"kind", name_of(report.kind)},
          {"ordering", name_of(report.ordering)},
          {"threads", report.threads},
          {"size", report.size},
          {"boundary", report.boundary},
          {"nnz_factor", report.nnz_factor},
          {"flops", report.flops},
          {"memory_bytes_predicted", report.memory_bytes_predicted},
          {"memory_bytes", report.memory_bytes},
          {"order_seconds", report.order_seconds},
          {"analyze_seconds", report.analyze_seconds},
          {"factorize_seconds", report.factorize_seconds},
          {"perturbed_pivots", report.perturbed_pivots},
          {"backward_error", report.backward_error},
          {"bound", report.bound},
          {"verified", report.verified},
          {"notes", report.notes}};
}

std::string schur_text(const SchurCommand& command, const SchurReport& report) {
  FactList facts(16);
  facts.add("boundary",
            fmt::format("{} of {}", format_count(report.boundary), plural(report.size, "unknown")));
  facts.add("factorization",
            fmt::format("{}, {}, {} flops", kind_sentence(report.kind),
                        format_seconds(report.factorize_seconds), format_large(report.flops)));
  facts.add("memory", fmt::format("{}, {} predicted for the whole run",
                                  format_bytes(static_cast<double>(report.memory_bytes)),
                                  format_bytes(static_cast<double>(report.memory_bytes_predicted))));
  facts.add("verified", fmt::format("{}: backward error {:.1e} (at most {:.1e})",
                                    report.verified ? "yes" : "no", report.backward_error, report.bound));
  for (const std::string& note : report.notes) facts.add("note", note);
  if (!command.out.empty() && command.out != "-") facts.add("written to", command.out);
  return paragraph("", fmt::format("Palmette {}: schur {}", version(), command.matrix.path)) + "\n" +
         facts.text();
}

std::vector<index_t> boundary_of(const SchurCommand& command, index_t n) {
  if (command.last == 0) throw UsageError("--boundary is missing: which unknowns stay, FIRST:LAST");
  if (command.last > n)
    throw UsageError(fmt::format("--boundary ends with unknown {}, but the matrix has {}", command.last, n));
  std::vector<index_t> boundary(command.last - command.first + 1);
  std::iota(boundary.begin(), boundary.end(), command.first - 1);
  return boundary;
}

Json json_of(const RankSchurReport& report) {
  const auto figure = [](const RankFigure& of_ranks) {
    return Json{{"least", of_ranks.least}, {"mean", of_ranks.mean}, {"most", of_ranks.most}};
  };
  Json json = json_of(report.run);
  json["ranks"] = {{"num_ranks", report.num_ranks},
                   {"grid_rows", report.grid.rows},
                   {"grid_cols", report.grid.cols},
                   {"layers", report.layers},
                   {"map", name_of(report.map)},
                   {"delivery", name_of(report.delivery)},
                   {"transport", report.transport},
                   {"memory_bytes_predicted", figure(report.memory_bytes_predicted)},
                   {"memory_bytes", figure(report.memory_bytes)}};
  return json;
}

/// Write S and the reports. @returns the exit code
template <class T>
int tell_complement(const SchurCommand& command, DenseView<const T> s, const SchurReport& report, Json json) {
  std::optional<Failure> failure = write_result(command.out, [&](const std::string& path) {
    write_dense<T>(path, s, "Schur complement, made by palmette schur");
  });
  if (!failure && !report.verified) failure = describe_not_verified(report);
  if (command.output.shows_table() && command.out != "-") print(schur_text(command, report));
  return finish(command.output, Json{{"schur", std::move(json)}}, failure);
}

template <class T>
int complement(const SchurCommand& command, SparseMatrix<T> matrix, ProgressBar& progress) {
  SchurOptions options;
  options.kind = command.kind_and_order.kind;
  OrderChoice choice = order_choice(command.kind_and_order.order, matrix.rows());
  options.ordering = choice.method;
  options.threads = command.threads;
  options.progress = progress.callback();
  std::vector<index_t> boundary = boundary_of(command, matrix.rows());
  progress.begin("schur");
  const SchurSolver<T> solver =
      SchurSolver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), std::move(boundary),
                             options)
          .value();
  progress.end();
  return tell_complement<T>(command, solver.complement(), solver.report(), json_of(solver.report()));
}

/// Rank 0 gets S and reports; the others only compute.
template <class T>
int complement_on_rank(const SchurCommand& command, std::shared_ptr<const SparseMatrix<T>> matrix,
                       const RankSeat& seat) {
  RankSchurOptions options;
  std::vector<index_t> boundary;
  agree_after(seat.transport, [&] {
    boundary = boundary_of(command, matrix->rows());
    options.ranks = rank_solver_options(command.kind_and_order, command.ranks, std::max(1, command.threads),
                                        matrix->rows());
  });
  set_transport(seat, options.ranks);
  const RankSchurSolver<T> solver =
      RankSchurSolver<T>::create(std::move(matrix), std::move(boundary), options, seat.transport).value();
  int code = solver.report().run.verified ? exit_success : exit_not_verified;
  exchange(seat.transport, [&] {
    if (seat.speaks())
      code = tell_complement<T>(command, solver.complement(), solver.report().run, json_of(solver.report()));
  });
  return code;
}

int schur_over_ranks(const SchurCommand& command) {
  const RankMatrix matrix =
      square_matrix_of_ranks(command.matrix, command.threads, command.output, "schur", [&] {
        check_destinations(command.out, command.output.json, command.matrix.path);
        refuse_options_of_solves(command.ranks, "schur");
      });
  return run_with_typed_matrix(
      command.ranks, command.output, matrix,
      [&]<class T>(std::shared_ptr<const SparseMatrix<T>> mine, const RankSeat& seat) {
        return complement_on_rank<T>(command, std::move(mine), seat);
      });
}

int run_schur(const SchurCommand& command) {
  if (command.ranks.wanted()) return schur_over_ranks(command);
  check_destinations(command.out, command.output.json, command.matrix.path);
  ProgressBar progress(!command.output.quiet);
  ReadResult input = read_input(command.matrix, command.threads, progress);
  check_square(input, command.matrix.path, "schur");
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) { return complement<T>(command, std::move(matrix), progress); },
      std::move(input.matrix));
}

void read_boundary(const std::string& text, SchurCommand& command) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw UsageError("--boundary is " + text + "; give FIRST:LAST, such as 900:1000");
  command.first = static_cast<index_t>(parse_integer("--boundary", text.substr(0, colon), 1, 2147483647));
  command.last =
      static_cast<index_t>(parse_integer("--boundary", text.substr(colon + 1), command.first, 2147483647));
}

}  // namespace

Command add_schur(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "schur",
                     "Compute the Schur complement of A on unknowns that are not eliminated.\n"
                     "Dense, and verified against A. The factorization stops before these unknowns.\n"
                     "Over ranks the factor is distributed, and rank 0 gets S.",
                     "  palmette schur A.mtx --boundary 900:1000 --out S.mtx\n"
                     "  palmette schur A.mtx --boundary 1:50 --json -\n"
                     "  mpiexec -n 4 palmette schur A.mtx --boundary 900:1000 --out S.mtx\n");
  const auto command = std::make_shared<SchurCommand>();
  add_matrix_options(app, command->matrix);
  OptionGroup method(app, "Method");
  method.value({"--boundary", "FIRST:LAST", "unknowns that stay, counted from 1"},
               [command](const std::string& text) { read_boundary(text, *command); });
  add_kind_and_order(app, command->kind_and_order);
  add_threads(app, "Method", command->threads);
  OptionGroup report(app, "Report");
  report.text({"--out", "FILE", "write S as a Matrix Market file; -: to standard output"}, command->out);
  add_rank_options(app, command->ranks);
  add_output_options(app, command->output);
  return {&app, [command] { return run_schur(*command); }};
}

}  // namespace palmette::cli
