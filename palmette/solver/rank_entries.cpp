// Solves for single entries over ranks: what Solver does, with checks that all ranks make together.
#include <algorithm>

#include "palmette/solver/entry_blocks.hpp"
#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/rank_state.hpp"

namespace palmette {
namespace {

constexpr const char* no_memory_for_entries =
    "out of memory while a system was solved for single entries over ranks";

constexpr const char* arguments_of_entries = "b, the wanted rows or the request";
constexpr const char* same_everywhere =
    "pass the same on all ranks, or each rank's rows to solve_entries_rows";

template <class T>
std::uint64_t fingerprint_of(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                             const EntryRequest& request) {
  const index_t sizes[] = {b.rows(), b.cols(), static_cast<index_t>(request.operation),
                           request.check ? 1 : 0};
  std::uint64_t print = checksum(std::as_bytes(std::span(sizes)));
  print = checksum(std::as_bytes(wanted), print);
  print = checksum(std::as_bytes(std::span(b.pattern.column_ptr)), print);
  print = checksum(std::as_bytes(std::span(b.pattern.row_index)), print);
  return checksum(std::as_bytes(std::span(b.values)), print);
}

/// What all ranks want together, ascending. Inside `exchange`.
std::vector<index_t> wanted_by_all(const RankTeam& ranks, std::span<const index_t> mine) {
  std::vector<SharedBytes> pieces;
  BytePool pool;
  exchange(ranks.transport, [&] {
    pieces = gather_from_all(ranks.transport, ranks.team, pool.copy(std::as_bytes(mine)), ranks.drive);
  });
  return rows_of_all(pieces);
}

template <class T>
DenseMatrix<T> rows_among(const DenseMatrix<T>& x, std::span<const index_t> all,
                          std::span<const index_t> wanted) {
  DenseMatrix<T> mine(static_cast<index_t>(wanted.size()), x.cols);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto row = static_cast<index_t>(std::lower_bound(all.begin(), all.end(), wanted[k]) - all.begin());
    for (index_t column = 0; column < x.cols; ++column)
      mine.view()(static_cast<index_t>(k), column) = x.view()(row, column);
  }
  return mine;
}

}  // namespace

template <class T>
Outcome<SolvedEntries<T>> RankSolver<T>::State::solve_entries(const SparseMatrix<T>& b,
                                                              std::span<const index_t> wanted,
                                                              const EntryRequest& request) {
  std::string why = why_whole();
  if (why.empty()) {
    const SymbolicFactor& symbolic = *made.symbolic;
    EntrySource<T> source;
    source.solve = [&](const SparseMatrix<T>& rhs, const WantedEntries& entries, DenseView<T> x) {
      EntryTrace trace = made.inverse->solve_entries(request.operation, rhs, entries, x);
      trace.solve = {made.report.method, team.size()};
      return trace;
    };
    source.place = (request.operation == Operation::plain ? symbolic.row : symbolic.column).old_to_new();
    if (request.check) source.equations = made.input->equations(request.operation);
    SolvedEntries<T> solved = solve_by_branches(source, b, wanted, request);
    const bool holds = transport.agree(solved.report.verified ? 0 : 1) == 0;
    if (!request.check || holds) return solved;
    why = "equations of the wanted rows did not hold";
  }
  return solve_whole_for_entries(solve_whole(), b, wanted, request, why);
}

template <class T>
Outcome<SolvedEntries<T>> RankSolver<T>::State::solve_and_count_entries(const SparseMatrix<T>& b,
                                                                        std::span<const index_t> wanted,
                                                                        const EntryRequest& request) {
  return result_of_exchange(transport, [&] {
    Outcome<SolvedEntries<T>> solved = solve_entries(b, wanted, request);
    if (solved && !solved.value().report.solved_whole) made.inverse->sum_counts(solved.value().report);
    return solved;
  });
}

template <class T>
Outcome<SolvedEntries<T>> RankSolver<T>::solve_entries(const SparseMatrix<T>& b,
                                                       std::span<const index_t> wanted,
                                                       const EntryRequest& request) {
  return with_memory_errors(no_memory_for_entries, [&]() -> Outcome<SolvedEntries<T>> {
    check_on_all(state_->ranks(), [&] {
      state_->made.input->check_unchanged();
      check_entry_request(size(), b, wanted);
    });
    check_same_on_all(state_->ranks(), fingerprint_of(b, wanted, request), arguments_of_entries,
                      same_everywhere);
    return state_->solve_and_count_entries(b, wanted, request);
  });
}

template <class T>
Outcome<SolvedEntries<T>> RankSolver<T>::solve_entries_rows(const SparseMatrix<T>& b,
                                                            std::span<const index_t> wanted,
                                                            const EntryRequest& request) {
  return with_memory_errors(no_memory_for_entries, [&]() -> Outcome<SolvedEntries<T>> {
    State& state = *state_;
    check_on_all(state.ranks(), [&] {
      state.made.input->check_unchanged();
      if (b.rows() != num_rows())
        throw DimensionError("b has " + std::to_string(b.rows()) + " rows, but this rank has " +
                             std::to_string(num_rows()) + " rows of the matrix");
      check_entry_request(b.rows(), b, {}, first_row());
      check_wanted_rows(size(), wanted);
    });
    check_same_columns(state.ranks(), b.cols());
    SparseMatrix<T> whole;
    std::vector<index_t> all;
    exchange(state.transport, [&] {
      whole = state.rows != nullptr ? state.rows->whole_columns(b) : b;
      all = wanted_by_all(state.ranks(), wanted);
    });
    check_same_on_all(state.ranks(), fingerprint_of<T>(whole, all, request), arguments_of_entries,
                      same_everywhere);
    return result_of_exchange(state.transport, [&] {
      Outcome<SolvedEntries<T>> solved = state.solve_and_count_entries(whole, all, request);
      if (solved) solved.value().x = rows_among(solved.value().x, all, wanted);
      return solved;
    });
  });
}

#define PALMETTE_INSTANTIATE(T)                                                     \
  template Outcome<SolvedEntries<T>> RankSolver<T>::State::solve_entries(           \
      const SparseMatrix<T>&, std::span<const index_t>, const EntryRequest&);       \
  template Outcome<SolvedEntries<T>> RankSolver<T>::State::solve_and_count_entries( \
      const SparseMatrix<T>&, std::span<const index_t>, const EntryRequest&);       \
  template Outcome<SolvedEntries<T>> RankSolver<T>::solve_entries(                  \
      const SparseMatrix<T>&, std::span<const index_t>, const EntryRequest&);       \
  template Outcome<SolvedEntries<T>> RankSolver<T>::solve_entries_rows(       \
      const SparseMatrix<T>&, std::span<const index_t>, const EntryRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
