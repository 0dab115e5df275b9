// Ranks of one process read the matrix once; processes read it each.
#include "cli/rank_factors.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

#include "cli/names.hpp"
#include "cli/rank_world.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/system_run.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

/// The layout of a set is that of its factorization, which right-hand sides say nothing about.
void refuse_what_sets_cannot(const RankFactorizeRequest& request) {
  if (request.ranks.chooses_grid)
    throw UsageError("--grid auto is for 'palmette solve A.mtx'; factorize takes numbers, as 2x3");
  if (request.ranks.memory) throw UsageError("--memory is for ranks with devices, which solve: leave it out");
  if (request.precision == Precision::mixed)
    throw UsageError("--precision mixed does not work over ranks yet; use double or float");
}

void refuse_what_files_settle(const SolvingOptions& solving, const RankOptions& ranks, index_t num_ranks) {
  if (ranks.grid || ranks.chooses_grid || ranks.map || ranks.trees || ranks.delivery)
    throw UsageError(
        "--factors comes without --grid, --map, --trees and --delivery: the files say over which ranks the "
        "matrix was factorized");
  if (solving.device.starts_with("auto"))
    throw UsageError(
        "--device auto is for one process; over ranks name a kind, and each rank takes one of it");
  if (num_ranks > 1 && solving.rhs == "-")
    throw UsageError("several ranks cannot read one standard input; give a file");
}

double bytes_of_set(const std::string& path, index_t num_ranks) {
  double bytes = 0;
  for (index_t rank = 0; rank < num_ranks; ++rank) {
    struct stat status;
    if (::stat(file_of_rank(path, rank).c_str(), &status) == 0) bytes += static_cast<double>(status.st_size);
  }
  return bytes;
}

int report_set(const RankFactorizeRequest& request, const RankReport& report, double seconds) {
  const double bytes = bytes_of_set(request.out, report.num_ranks);
  if (request.output.shows_table()) {
    FactList facts(16);
    facts.add("matrix", matrix_sentence(report.run.matrix));
    facts.add("factorization",
              fmt::format("{} over {}, {}, {} in the factor", kind_sentence(report.run.factorize->kind),
                          plural(report.num_ranks, "rank"), format_seconds(report.run.factorize->seconds),
                          plural(report.run.analyze->nnz_factor, "entry")));
    for (const std::string& note : report.run.notes) facts.add("note", note);
    facts.add("written to", fmt::format("{} and the other files of its set, {} in {}",
                                        file_of_rank(request.out, 0), format_bytes(bytes),
                                        format_seconds(seconds)));
    print(paragraph("", fmt::format("Palmette {}: factorize {}", version(), request.matrix.path)) + "\n" +
          facts.text());
  }
  Json document = to_json(report);
  document["saved"] = {{"path", request.out}, {"bytes", bytes}, {"seconds", seconds}};
  return finish(request.output, std::move(document), {});
}

AnyMatrix matrix_of(const RankFactorizeRequest& request, bool speaks) {
  ProgressBar progress(speaks && !request.output.quiet);
  ReadResult input = read_input(request.matrix, request.threads, progress);
  check_square(input, request.matrix.path, "factorize");
  progress.end();
  return with_scalar(std::move(input.matrix), false, request.precision == Precision::float_precision);
}

template <class T>
int factorize_and_save(const RankFactorizeRequest& request, std::shared_ptr<const SparseMatrix<T>> matrix,
                       const RankSeat& seat) {
  RankSolverOptions options;
  agree_after(seat.transport, [&] {
    options = rank_solver_options(request.kind_and_order, request.ranks, request.threads, matrix->rows());
  });
  set_transport(seat, options);
  const RankSolver<T> solver = RankSolver<T>::create(std::move(matrix), options, seat.transport).value();
  const Stopwatch watch;
  solver.save(request.out);
  int code = exit_success;
  exchange(seat.transport, [&] {
    if (seat.speaks()) code = report_set(request, solver.report(), watch.seconds());
  });
  return code;
}

/// Rank 0's solution and report; the others only solve.
template <class T>
int solve_with_set(const std::string& factors, const SolvingOptions& solving, const OutputOptions& output,
                   const RankOptions& ranks, const RankSeat& seat) {
  RankLoadOptions options;
  options.threads = std::max(1, solving.threads);
  options.watchdog_seconds = ranks.watchdog_seconds;
  options.memory = ranks.memory.value_or(MemoryKind::automatic);
  set_transport(seat, options);
  agree_after(seat.transport, [&] {
    options.device = open_device_of_rank(solving.device, seat.transport.rank());
  });
  RankSolver<T> solver = RankSolver<T>::load(factors, options, seat.transport);
  std::optional<SystemRun> run;
  DenseMatrix<T> solution;
  agree_after(seat.transport, [&] {
    run.emplace(factors, solver.size(), solving, output);
    if (run->has_complex_rhs() && !is_complex_v<T>)
      throw UsageError(
          fmt::format("'{}' is complex, but the factors in '{}' are real; solve with its real and "
                      "imaginary parts, or factorize a complex matrix",
                      solving.rhs, factors));
    solution = run->right_hand_sides<T>(solver.size());
  });
  const RankReport report =
      solver.solve(std::as_const(solution).view(), solution.view(), solving.request).value();
  int code = exit_success;
  exchange(seat.transport, [&] {
    if (seat.speaks()) code = run->report_ranks<T>(report, solution);
  });
  return code;
}

int solve_on_seat(const std::string& factors, const SolvingOptions& given, const OutputOptions& output,
                  const RankOptions& ranks, const RankSeat& seat) {
  const SolvingOptions solving = seat.speaks() ? given : without_output(given);
  const OutputOptions own = seat.speaks() ? output : no_output();
  seat.transport.set_watchdog(ranks.watchdog_seconds);
  switch (saved_scalar_over_ranks(factors, seat.transport)) {
    case ScalarType::float32:
      return solve_with_set<float>(factors, solving, own, ranks, seat);
    case ScalarType::float64:
      return solve_with_set<double>(factors, solving, own, ranks, seat);
    case ScalarType::complex64:
      return solve_with_set<std::complex<float>>(factors, solving, own, ranks, seat);
    case ScalarType::complex128:
      break;
  }
  return solve_with_set<std::complex<double>>(factors, solving, own, ranks, seat);
}

}  // namespace

int factorize_over_ranks(const RankFactorizeRequest& request) {
  const RankMatrix matrix{request.matrix.path, [&](bool speaks) { return matrix_of(request, speaks); },
                          [&](Transport& transport) { check_savable_over_ranks(request.out, transport); },
                          [&] { refuse_what_sets_cannot(request); }};
  return run_with_matrix(
      request.ranks, request.output, matrix, [&](std::shared_ptr<AnyMatrix> mine, const RankSeat& seat) {
        return std::visit(
            [&]<class T>(const SparseMatrix<T>& given) {
              // Refers to the matrix that `mine` keeps.
              return factorize_and_save<T>(request, std::shared_ptr<const SparseMatrix<T>>(mine, &given),
                                           seat);
            },
            *mine);
      });
}

int solve_with_rank_factors(const std::string& factors, const SolvingOptions& solving,
                            const OutputOptions& output, const RankOptions& ranks) {
  return run_on_every_rank(ranks, output, [&](const RankSeat& seat) {
    refuse_what_files_settle(solving, ranks, seat.transport.num_ranks());
    return solve_on_seat(factors, solving, output, ranks, seat);
  });
}

}  // namespace palmette::cli
