// Entries of A⁻¹ over ranks: columns with common branches together, by solves for single entries.
#include <algorithm>
#include <numeric>

#include "palmette/solver/inverse_columns.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/rank_state.hpp"

namespace palmette {
namespace {

/// Entries of a list, column after column; columns whose branches are common stand together.
class AskedColumns {
 public:
  /// @param place  of a column in the order of the factor
  AskedColumns(std::span<const index_t> rows, std::span<const index_t> columns,
               std::span<const index_t> place)
      : rows_(rows), columns_(columns), entry_(rows.size()) {
    std::iota(entry_.begin(), entry_.end(), std::size_t{0});
    std::stable_sort(entry_.begin(), entry_.end(),
                     [&](std::size_t a, std::size_t b) { return place[columns[a]] < place[columns[b]]; });
    for (std::size_t k = 0; k < entry_.size(); ++k)
      if (k == 0 || columns_[entry_[k]] != column_.back()) {
        column_.push_back(columns_[entry_[k]]);
        begin_.push_back(k);
      }
    begin_.push_back(entry_.size());
  }

  std::size_t count() const { return column_.size(); }
  index_t column(std::size_t at) const { return column_[at]; }
  /// Numbers in the lists, of the columns [first, end).
  std::span<const std::size_t> entries(std::size_t first, std::size_t end) const {
    return std::span(entry_).subspan(begin_[first], begin_[end] - begin_[first]);
  }
  /// Ascending.
  std::vector<index_t> rows(std::size_t first, std::size_t end) const {
    std::vector<index_t> all;
    for (const std::size_t entry : entries(first, end)) all.push_back(rows_[entry]);
    return sorted_once(std::move(all));
  }

 private:
  std::span<const index_t> rows_, columns_;
  std::vector<std::size_t> entry_, begin_;
  std::vector<index_t> column_;
};

template <class T>
SparseMatrix<T> unit_columns(index_t n, const AskedColumns& asked, std::size_t first, std::size_t end) {
  Triplets<T> units{n, static_cast<index_t>(end - first), {}, {}, {}};
  for (std::size_t at = first; at < end; ++at) {
    units.row.push_back(asked.column(at));
    units.column.push_back(static_cast<index_t>(at - first));
    units.value.push_back(T(1));
  }
  return from_triplets(units);
}

void note_once(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// Of solves for these columns, 64 at a time; counted no further once they exceed the limit, since each group
/// of columns costs O(num_supernodes).
double flops_of_solves(const SymbolicFactor& symbolic, const TreePartition& groups, const AskedColumns& asked,
                       double limit) {
  double flops = 0;
  for (std::size_t first = 0; first < asked.count() && flops <= limit;
       first += std::size_t{columns_side_by_side}) {
    const std::size_t end = std::min(first + std::size_t{columns_side_by_side}, asked.count());
    std::vector<index_t> given, wanted;
    for (std::size_t at = first; at < end; ++at) given.push_back(symbolic.row.old_to_new()[asked.column(at)]);
    for (const index_t row : asked.rows(first, end)) wanted.push_back(symbolic.column.old_to_new()[row]);
    flops += 2 * SolveReach(symbolic, groups, given, wanted).entries() * static_cast<double>(end - first);
  }
  return flops;
}

}  // namespace

/// Entries of a list that are asked for.
struct AskedEntries {
  std::vector<std::size_t> number;  // in the list
  std::vector<index_t> row, column;
  void add(std::size_t at, index_t of_row, index_t of_column) {
    number.push_back(at);
    row.push_back(of_row);
    column.push_back(of_column);
  }
};

/// Inside `exchange`.
template <class T, class State>
class InverseEntryFinder {
 public:
  InverseEntryFinder(State& state, std::span<const index_t> row, std::span<const index_t> column)
      : state_(state), row_(row), column_(column), found_{std::vector<T>(row.size()), {}} {}

  Outcome<InverseEntries<T>> run(const InverseRequest& request) {
    AskedEntries missing;
    split(missing);
    if (const auto solved = solve(missing); !solved) return solved.failure();
    const AskedColumns asked = asked_columns(row_, column_);
    InverseReport& report = found_.report;
    const std::size_t notes_before = report.notes.size();
    const std::vector<index_t> numbers = columns_to_check(static_cast<index_t>(asked.count()), request);
    std::vector<index_t> checked;
    for (const index_t at : numbers) checked.push_back(asked.column(at));
    const auto known = [&](std::size_t k) {
      std::vector<KnownOfColumn<T>> entries;
      for (const std::size_t entry : asked.entries(numbers[k], numbers[k] + 1))
        entries.push_back({row_[entry], found_.values[entry]});
      return entries;
    };
    const Outcome<void> compared =
        compare_columns<T>({state_.solve_whole(), state_.size()}, checked, known, report);
    if (!compared) return compared.failure();
    report.verified = report.checked_columns > 0 && all_hold_ && report.notes.size() == notes_before;
    return std::move(found_);
  }

 private:
  const SymbolicFactor& symbolic() const { return *state_.made.symbolic; }
  AskedColumns asked_columns(std::span<const index_t> row, std::span<const index_t> column) const {
    return {row, column, symbolic().row.old_to_new()};
  }
  double flops_of(std::span<const index_t> row, std::span<const index_t> column, double limit) const {
    return flops_of_solves(symbolic(), state_.made.placement->units, asked_columns(row, column), limit);
  }

  /// Takes what the selected inverse gives, if that is worth it. @param missing  entries to be solved for
  void split(AskedEntries& missing) {
    AskedEntries off_pattern;
    for (std::size_t k = 0; k < row_.size(); ++k)
      if (!is_on_pattern(symbolic(), row_[k], column_[k])) off_pattern.add(k, row_[k], column_[k]);
    const bool replaced = state_.made.report.run.factorize->pivots.perturbed > 0;
    double with_recurrence = selected_inverse_flops(symbolic(), state_.made.kind);
    // Solved for in either case, so that counting them costs less than what follows.
    with_recurrence += flops_of(off_pattern.row, off_pattern.column, infinity);
    if (row_.empty() || replaced || flops_of(row_, column_, with_recurrence) <= with_recurrence) {
      for (std::size_t k = 0; k < row_.size(); ++k) missing.add(k, row_[k], column_[k]);
      return;
    }
    take_known(state_.select_inverse(found_.report));
    missing = std::move(off_pattern);
  }

  /// From their ranks to all.
  void take_known(const RankSelectedInverse<T>& inverse) {
    std::vector<std::vector<std::size_t>> of_rank(state_.transport.num_ranks());
    std::vector<T> mine;
    for (std::size_t k = 0; k < row_.size(); ++k)
      if (const index_t rank = inverse.owner(row_[k], column_[k]); rank >= 0) {
        of_rank[rank].push_back(k);
        if (rank == state_.transport.rank()) mine.push_back(*inverse.entry(row_[k], column_[k]));
      }
    BytePool pool;
    exchange(state_.transport, [&] {
      const std::vector<SharedBytes> pieces =
          gather_from_all(state_.transport, state_.team, pool.copy(std::as_bytes(std::span<const T>(mine))),
                          state_.ranks().drive);
      for (std::size_t rank = 0; rank < pieces.size(); ++rank)
        for (std::size_t at = 0; at < of_rank[rank].size(); ++at)
          found_.values[of_rank[rank][at]] = items_of<T>(pieces[rank])[at];
    });
  }

  Outcome<void> solve(const AskedEntries& missing) {
    InverseReport& report = found_.report;
    const AskedColumns asked = asked_columns(missing.row, missing.column);
    for (std::size_t first = 0; first < asked.count(); first += std::size_t{columns_side_by_side}) {
      const std::size_t end = std::min(first + std::size_t{columns_side_by_side}, asked.count());
      const std::vector<index_t> wanted = asked.rows(first, end);
      const auto solved = state_.solve_entries(unit_columns<T>(state_.size(), asked, first, end), wanted, {});
      if (!solved) return solved.failure();
      for (std::size_t at = first; at < end; ++at)
        for (const std::size_t entry : asked.entries(at, at + 1)) {
          const auto place =
              std::lower_bound(wanted.begin(), wanted.end(), missing.row[entry]) - wanted.begin();
          found_.values[missing.number[entry]] =
              solved.value().x.view()(static_cast<index_t>(place), static_cast<index_t>(at - first));
        }
      report.seconds += solved.value().report.seconds;
      report.solved_columns += static_cast<index_t>(end - first);
      note_once(report.notes, solved.value().report.notes);
      if (solved.value().report.verified) continue;
      all_hold_ = false;
      note_once(report.notes, {unverified_column});
    }
    return {};
  }

  State& state_;
  const std::span<const index_t> row_, column_;
  InverseEntries<T> found_;
  bool all_hold_ = true;  // the equations of what was solved for
};

template <class T>
Outcome<InverseEntries<T>> RankSolver<T>::State::inverse_entries(std::span<const index_t> row,
                                                                 std::span<const index_t> column,
                                                                 const InverseRequest& request) {
  return InverseEntryFinder<T, State>(*this, row, column).run(request);
}

template <class T>
Outcome<InverseEntries<T>> RankSolver<T>::inverse_entries(std::span<const index_t> rows,
                                                          std::span<const index_t> columns,
                                                          const InverseRequest& request) {
  return with_memory_errors(
      "out of memory while entries of an inverse were computed over ranks",
      [&]() -> Outcome<InverseEntries<T>> {
        check_on_all(state_->ranks(), [&] {
          state_->made.input->check_unchanged();
          check_entries_of_inverse(size(), rows, columns);
        });
        const std::uint64_t numbers[] = {request.seed, static_cast<std::uint64_t>(request.check_columns)};
        const std::uint64_t print =
            checksum(std::as_bytes(rows),
                     checksum(std::as_bytes(columns), checksum(std::as_bytes(std::span(numbers)))));
        check_same_on_all(state_->ranks(), print, "the entries or the request", "pass the same on all ranks");
        return result_of_exchange(state_->transport,
                                  [&] { return state_->inverse_entries(rows, columns, request); });
      });
}

template <class T>
Outcome<InverseEntries<T>> RankSolver<T>::inverse_diagonal(const InverseRequest& request) {
  std::vector<index_t> all;
  check_on_all(state_->ranks(), [&] { all.resize(size()); });
  std::iota(all.begin(), all.end(), 0);
  return inverse_entries(all, all, request);
}

#define PALMETTE_INSTANTIATE(T)                                                   \
  template Outcome<InverseEntries<T>> RankSolver<T>::State::inverse_entries(      \
      std::span<const index_t>, std::span<const index_t>, const InverseRequest&); \
  template Outcome<InverseEntries<T>> RankSolver<T>::inverse_entries(             \
      std::span<const index_t>, std::span<const index_t>, const InverseRequest&); \
  template Outcome<InverseEntries<T>> RankSolver<T>::inverse_diagonal(const InverseRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
