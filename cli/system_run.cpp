// The beginning and the end of solve and trisolve.
#include "cli/system_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/text.hpp"

namespace palmette::cli {
namespace {

/// Checks that cost nothing come before files are read.
const SolvingOptions& checked(const MatrixOptions& matrix, const SolvingOptions& solving,
                              const OutputOptions& output) {
  if (matrix.path == "-" && solving.rhs == "-")
    throw UsageError("the matrix and --rhs cannot both come from standard input; give one of them as a file");
  check_destinations(solving.out, output.json, matrix.path);
  return solving;
}

}  // namespace

SystemRun::SystemRun(std::string command, const MatrixOptions& matrix, const SolvingOptions& solving,
                     const OutputOptions& output)
    : command_(std::move(command)),
      solving_(&solving),
      output_(&output),
      progress_(!output.quiet),
      rhs_(checked(matrix, solving, output)) {
  const Stopwatch read;
  input_ = read_input(matrix, solving.threads, progress_);
  progress_.end();
  figures_.read_seconds = read.seconds();
  figures_.repeat = solving.request.repeat;
  figures_.command = command_;
  figures_.path = matrix.path == "-" ? "standard input" : matrix.path;
  figures_.header = input_.header;
  check_square(input_, figures_.path, command_);
  rhs_.check(input_.header.rows);
}

SystemRun::SystemRun(const std::string& factors, index_t n, const SolvingOptions& solving,
                     const OutputOptions& output)
    : command_("solve"),
      solving_(&solving),
      output_(&output),
      progress_(!output.quiet),
      rhs_(checked({factors, {}}, solving, output)) {
  figures_.repeat = solving.request.repeat;
  figures_.command = command_;
  figures_.path = factors;
  rhs_.check(n);
}

AnyMatrix SystemRun::take_matrix() {
  return with_scalar(std::move(input_.matrix), rhs_.is_complex(),
                     solving_->precision == Precision::float_precision);
}

std::optional<Failure> SystemRun::write_solution(const WriteSolution& write) {
  if (solving_->out.empty()) return {};
  const Stopwatch watch;
  if (std::optional<Failure> failure = write_result(solving_->out, write)) return failure;
  figures_.write_seconds = watch.seconds();
  figures_.out = solving_->out;
  return {};
}

namespace {

Json json_of(const EntryReport& rows) {
  return {{"method", std::string(name_of(rows.method))},
          {"threads", rows.threads},
          {"seconds", rows.seconds},
          {"bytes", rows.bytes},
          {"whole_bytes", rows.whole_bytes},
          {"solved_whole", rows.solved_whole},
          {"checked_rows", rows.checked_rows},
          {"backward_error", number_or_null(rows.backward_error)},
          {"bound", rows.bound},
          {"verified", rows.verified},
          {"notes", rows.notes}};
}

std::string rows_text(const Report& report, const EntryReport& rows, offset_t entries) {
  FactList facts(16);
  facts.add("matrix", matrix_sentence(report.matrix));
  facts.add("factorization", fmt::format("{}, {}", kind_sentence(report.factorize->kind),
                                         format_seconds(report.factorize->seconds)));
  facts.add("right-hand side", plural(entries, "entry"));
  facts.add("rows of x", fmt::format("{}, {} of the factor read of {}", format_seconds(rows.seconds),
                                     format_bytes(rows.bytes), format_bytes(rows.whole_bytes)));
  facts.add("verified",
            fmt::format("{}: backward error {:.1e} of {} (at most {:.1e})", rows.verified ? "yes" : "no",
                        rows.backward_error, plural(rows.checked_rows, "equation"), rows.bound));
  for (const std::string& note : rows.notes) facts.add("note", note);
  return facts.text();
}

}  // namespace

int SystemRun::report_rows(const Report& report, const EntryReport& rows, offset_t entries,
                           const WriteSolution& write) {
  std::optional<Failure> failure = write_solution(write);
  if (!failure && !rows.verified) failure = describe_not_verified(rows);
  if (output_->shows_table() && solving_->out != "-") {
    const std::string title = fmt::format("Palmette {}: solve {}", version(), figures_.path);
    const std::optional<Failure> unprinted =
        print_table(paragraph("", title) + "\n" + rows_text(report, rows, entries));
    if (!failure) failure = unprinted;
  }
  Json document = to_json(report);
  document["rows"] = json_of(rows);
  return finish(*output_, std::move(document), failure);
}

int SystemRun::report(const Report& report, Json document, const WriteSolution& write) {
  std::optional<Failure> failure = write_solution(write);
  if (!failure && report.verify && !report.verify->verified) failure = describe_not_verified(*report.verify);
  figures_.total_seconds = since_start_.seconds();
  if (output_->shows_table() && solving_->out != "-") {
    const std::optional<Failure> unprinted = print_table(report_table(report, figures_));
    if (!failure) failure = unprinted;
  }
  return finish(*output_, std::move(document), failure);
}

}  // namespace palmette::cli
