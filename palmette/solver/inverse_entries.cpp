// The selected inverse, and solves for what it does not hold.
#include "palmette/solver/inverse_entries.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "palmette/solver/inverse_columns.hpp"

namespace palmette {
namespace {

template <class T>
DenseMatrix<T> unit_vectors(index_t n, std::span<const index_t> columns) {
  DenseMatrix<T> units(n, static_cast<index_t>(columns.size()));
  for (index_t k = 0; k < units.cols; ++k) units.view()(columns[k], k) = T(1);
  return units;
}

/// Largest difference of the known entries of a column from a solution, relative to the solution.
template <class T>
double difference_of(std::span<const KnownOfColumn<T>> known, DenseView<const T> z) {
  double size = 0, worst = 0;
  for (index_t i = 0; i < z.rows; ++i) size = std::max(size, double(std::abs(z(i, 0))));
  for (const auto& [row, value] : known) {
    // A comparison with NaN is false, and would hide it.
    const double difference = std::abs(value - z(row, 0));
    worst = std::isfinite(difference) ? std::max(worst, difference) : infinity;
  }
  return std::isfinite(size) && size > 0 ? worst / size : infinity;
}

template <class T>
Outcome<void> check(Solver<T>& solver, const InverseRequest& request, CheckedInverse<T>& made) {
  const WholeSolve<T> solve = [&](DenseView<T> x, const SolveRequest& how) {
    return solver.solve(DenseView<const T>(x), x, how);
  };
  const std::vector<index_t> columns = columns_to_check(solver.size(), request);
  const auto known = [&](std::size_t k) {
    std::vector<KnownOfColumn<T>> entries;
    for (index_t i = 0; i < solver.size(); ++i)
      if (const std::optional<T> entry = made.inverse.entry(i, columns[k])) entries.push_back({i, *entry});
    return entries;
  };
  InverseReport& report = made.report;
  const Outcome<void> compared =
      compare_columns<T>({solve, solver.size(), request.threads}, columns, known, report);
  if (!compared) return compared.failure();
  report.verified = report.checked_columns > 0 && report.notes.empty();
  return {};
}

template <class T>
CheckedInverse<T> select(Solver<T>& solver, const InverseRequest& request) {
  const auto factor = solver.factor();
  ThreadTeam team(request.threads);
  CheckedInverse<T> made{select_inverse(*factor, &team), {}};
  made.report.seconds = made.inverse.seconds;
  made.report.flops = made.inverse.flops;
  made.report.memory_bytes = made.inverse.memory_bytes();
  if (const index_t replaced = factor->pivots.perturbed; replaced > 0)
    made.report.notes.push_back(note_on_replaced_pivots(replaced));
  return made;
}

/// Solves for the columns of the entries that are missing. @param missing  column → places in the lists
template <class T>
Outcome<void> solve_for(Solver<T>& solver, const std::map<index_t, std::vector<std::size_t>>& missing,
                        std::span<const index_t> rows, int threads, InverseEntries<T>& entries) {
  std::vector<index_t> columns;
  for (const auto& one : missing) columns.push_back(one.first);
  SolveRequest how;
  how.threads = threads;
  for (std::size_t first = 0; first < columns.size(); first += columns_side_by_side) {
    const auto count = std::min<std::size_t>(columns_side_by_side, columns.size() - first);
    const auto some = std::span(columns).subspan(first, count);
    DenseMatrix<T> z = unit_vectors<T>(solver.size(), some);
    const auto answer = solver.solve(std::as_const(z).view(), z.view(), how);
    if (!answer) return answer.failure();
    if (!answer.value().verify->verified) {
      entries.report.verified = false;
      entries.report.notes.push_back(unverified_column);
    }
    for (std::size_t k = 0; k < some.size(); ++k)
      for (const std::size_t place : missing.at(some[k]))
        entries.values[place] = z.view()(rows[place], static_cast<index_t>(k));
  }
  entries.report.solved_columns = static_cast<index_t>(columns.size());
  return {};
}

}  // namespace

void check_entries_of_inverse(index_t n, std::span<const index_t> rows, std::span<const index_t> columns) {
  if (rows.size() != columns.size())
    throw DimensionError("entries of the inverse: " + std::to_string(rows.size()) + " rows but " +
                         std::to_string(columns.size()) + " columns");
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (rows[k] < 0 || rows[k] >= n || columns[k] < 0 || columns[k] >= n)
      throw UsageError("entry " + std::to_string(k) + " of the inverse, (" + std::to_string(rows[k]) + ", " +
                       std::to_string(columns[k]) + "), is outside the matrix of order " + std::to_string(n));
}

std::string note_on_replaced_pivots(index_t replaced) {
  return std::to_string(replaced) +
         " pivots were replaced: these are entries of the inverse of another matrix";
}

std::vector<index_t> columns_to_check(index_t count, const InverseRequest& request) {
  std::mt19937_64 random(request.seed);
  std::set<index_t> columns;
  while (static_cast<index_t>(columns.size()) < std::min(count, request.check_columns))
    columns.insert(static_cast<index_t>(random() % static_cast<std::uint64_t>(count)));
  return {columns.begin(), columns.end()};
}

template <class T>
Outcome<void> compare_columns(const ColumnSolve<T>& by, std::span<const index_t> columns,
                              const KnownEntriesOf<T>& known, InverseReport& report) {
  SolveRequest how;
  how.condition = true;
  how.threads = by.threads;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    DenseMatrix<T> z = unit_vectors<T>(by.n, columns.subspan(k, 1));
    const Outcome<Report> answer = by.solve(z.view(), how);
    if (!answer) return answer.failure();
    const Verification& verification = *answer.value().verify;
    if (!verification.verified)
      report.notes.push_back("column " + std::to_string(columns[k]) +
                             " of the inverse could not be checked: its solution failed verification");
    const std::vector<KnownOfColumn<T>> entries = known(k);
    report.difference = std::max(report.difference, difference_of<T>(entries, std::as_const(z).view()));
    if (verification.forward_error_bound)
      report.bound = std::max(report.bound, times_the_bound * *verification.forward_error_bound);
    ++report.checked_columns;
  }
  if (report.checked_columns > 0 && !(report.difference <= report.bound))
    report.notes.push_back(
        "entries of the inverse differ from solutions by more than the bound of their errors");
  return {};
}

template <class T>
Outcome<CheckedInverse<T>> selected_inverse(Solver<T>& solver, const InverseRequest& request) {
  CheckedInverse<T> made = select(solver, request);
  const Outcome<void> checked = check(solver, request, made);
  if (!checked) return checked.failure();
  return made;
}

template <class T>
Outcome<InverseEntries<T>> inverse_entries(Solver<T>& solver, std::span<const index_t> rows,
                                           std::span<const index_t> columns, const InverseRequest& request) {
  check_entries_of_inverse(solver.size(), rows, columns);
  auto made = selected_inverse(solver, request);
  if (!made) return made.failure();
  InverseEntries<T> entries{std::vector<T>(rows.size()), std::move(made.value().report)};
  std::map<index_t, std::vector<std::size_t>> missing;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (const std::optional<T> known = made.value().inverse.entry(rows[k], columns[k]))
      entries.values[k] = *known;
    else
      missing[columns[k]].push_back(k);
  }
  const Outcome<void> solved = solve_for(solver, missing, rows, request.threads, entries);
  if (!solved) return solved.failure();
  return entries;
}

template <class T>
Outcome<InverseEntries<T>> inverse_diagonal(Solver<T>& solver, const InverseRequest& request) {
  std::vector<index_t> all(solver.size());
  std::iota(all.begin(), all.end(), 0);
  return inverse_entries<T>(solver, all, all, request);
}

#define PALMETTE_INSTANTIATE(T)                                                                         \
  template Outcome<void> compare_columns(const ColumnSolve<T>&, std::span<const index_t>,               \
                                         const KnownEntriesOf<T>&, InverseReport&);                     \
  template Outcome<CheckedInverse<T>> selected_inverse(Solver<T>&, const InverseRequest&);              \
  template Outcome<InverseEntries<T>> inverse_entries(Solver<T>&, std::span<const index_t>,             \
                                                      std::span<const index_t>, const InverseRequest&); \
  template Outcome<InverseEntries<T>> inverse_diagonal(Solver<T>&, const InverseRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
