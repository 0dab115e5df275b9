// Solves for single entries by blocks of right-hand sides, each checked, and whole solves where that is not
// enough.
#include "palmette/solver/entry_solve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "palmette/solver/entry_blocks.hpp"

namespace palmette {
namespace {

/// Those whose entries lie in common branches side by side: by the first supernode that they reach.
template <class T>
std::vector<index_t> columns_by_branch(const SparseMatrix<T>& b, std::span<const index_t> place) {
  std::vector<index_t> first(b.cols(), b.rows()), columns(b.cols());
  for (index_t j = 0; j < b.cols(); ++j)
    for (const index_t row : b.pattern.column(j)) first[j] = std::min(first[j], place[row]);
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](index_t left, index_t right) { return first[left] < first[right]; });
  return columns;
}

template <class T>
std::span<const T> values_of(const SparseMatrix<T>& b, index_t column) {
  const offset_t begin = b.pattern.column_ptr[column], end = b.pattern.column_ptr[column + 1];
  return {b.values.data() + begin, static_cast<std::size_t>(end - begin)};
}

/// x ← the wanted rows of the solutions for `columns` of b, which are `unknown` rows of x.
template <class T>
void take_wanted(std::span<const index_t> unknown, const DenseMatrix<T>& known,
                 std::span<const index_t> wanted, std::span<const index_t> columns, DenseMatrix<T>& x) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto at = std::lower_bound(unknown.begin(), unknown.end(), wanted[k]) - unknown.begin();
    for (std::size_t j = 0; j < columns.size(); ++j)
      x.view()(static_cast<index_t>(k), columns[j]) =
          known.view()(static_cast<index_t>(at), static_cast<index_t>(j));
  }
}

void add(EntryReport& report, const EntryTrace& trace) {
  report.method = trace.solve.method;
  report.threads = std::max(report.threads, trace.solve.threads);
  report.bytes += trace.bytes;
  report.whole_bytes += trace.whole_bytes;
  report.messages += trace.messages;
  report.message_bytes += trace.message_bytes;
  report.whole_messages += trace.whole_messages;
  report.whole_message_bytes += trace.whole_message_bytes;
}

/// b and the wanted rows of one block of right-hand sides.
template <class T>
struct SparseBlock {
  const SparseMatrix<T>& b;
  std::span<const index_t> columns;
  std::span<const index_t> wanted;
};

/// What is known of the solutions of a block, and the rows of the equations that can be checked with it.
template <class T>
struct KnownBlock {
  std::vector<index_t> rows, unknown;  ///< ascending
  DenseMatrix<T> x = {};               ///< one row for each unknown
};

template <class T>
void check_block(const SparseBlock<T>& block, const Equations<T>& equations, const KnownBlock<T>& known,
                 EntryReport& report) {
  report.checked_rows = std::max(report.checked_rows, static_cast<index_t>(known.rows.size()));
  std::vector<KnownEntries<T>> columns;
  for (std::size_t j = 0; j < block.columns.size(); ++j) {
    const index_t column = block.columns[j];
    columns.push_back({block.b.pattern.column(column), values_of(block.b, column), known.unknown,
                       known.x.view().column(static_cast<index_t>(j))});
  }
  report.backward_error = std::max(report.backward_error, equations.error(known.rows, columns));
}

template <class T>
void solve_block(const EntrySource<T>& source, const SparseBlock<T>& block, const EntryRequest& request,
                 SolvedEntries<T>& solved) {
  const std::vector<index_t> wanted(block.wanted.begin(), block.wanted.end());
  KnownBlock<T> known{wanted, wanted};
  if (request.check) {
    for (const index_t column : block.columns) {
      const auto given = block.b.pattern.column(column);
      known.rows.insert(known.rows.end(), given.begin(), given.end());
    }
    known.rows = sorted_once(std::move(known.rows));
    const std::vector<index_t> more = source.equations->unknowns(known.rows);
    known.unknown.insert(known.unknown.end(), more.begin(), more.end());
  }
  known.unknown = sorted_once(std::move(known.unknown));
  known.x = {static_cast<index_t>(known.unknown.size()), static_cast<index_t>(block.columns.size())};
  const Stopwatch timer;
  add(solved.report, source.solve(block.b, {block.columns, known.unknown}, known.x.view()));
  solved.report.seconds += timer.seconds();
  if (request.check) check_block(block, *source.equations, known, solved.report);
  take_wanted<T>(known.unknown, known.x, block.wanted, block.columns, solved.x);
}

template <class T>
SolvedEntries<T> room_for(const SparseMatrix<T>& b, std::span<const index_t> wanted) {
  SolvedEntries<T> solved{{static_cast<index_t>(wanted.size()), b.cols()}, {}};
  solved.report.bound = verification_bound(unit_roundoff<T>);
  return solved;
}

}  // namespace

template <class T>
SolvedEntries<T> solve_by_branches(const EntrySource<T>& source, const SparseMatrix<T>& b,
                                   std::span<const index_t> wanted, const EntryRequest& request) {
  SolvedEntries<T> solved = room_for(b, wanted);
  const std::vector<index_t> columns = columns_by_branch(b, source.place);
  const std::span<const index_t> all(columns);
  for (std::size_t first = 0; first < all.size(); first += columns_side_by_side) {
    const auto count = std::min<std::size_t>(columns_side_by_side, all.size() - first);
    solve_block(source, SparseBlock<T>{b, all.subspan(first, count), wanted}, request, solved);
  }
  EntryReport& report = solved.report;
  report.verified = request.check && report.backward_error <= report.bound;
  return solved;
}

template <class T>
Outcome<SolvedEntries<T>> solve_whole_for_entries(const WholeSolve<T>& solve_whole, const SparseMatrix<T>& b,
                                                  std::span<const index_t> wanted,
                                                  const EntryRequest& request, const std::string& why) {
  SolvedEntries<T> solved = room_for(b, wanted);
  EntryReport& report = solved.report;
  report.solved_whole = true;
  report.verified = true;
  report.checked_rows = b.rows();
  report.notes.push_back("solved whole: " + why);
  SolveRequest how;
  how.operation = request.operation;
  how.threads = request.threads;
  for (index_t first = 0; first < b.cols(); first += columns_side_by_side) {
    DenseMatrix<T> x(b.rows(), std::min(columns_side_by_side, b.cols() - first));
    for (index_t j = 0; j < x.cols; ++j) {
      const auto rows = b.pattern.column(first + j);
      const auto values = values_of(b, first + j);
      for (std::size_t k = 0; k < rows.size(); ++k) x.view()(rows[k], j) = values[k];
    }
    const Outcome<Report> answer = solve_whole(x.view(), how);
    if (!answer) return answer.failure();
    const SolveReport& solve = *answer.value().solve;
    EntryTrace trace;
    trace.solve = {solve.method, solve.threads, {}};
    trace.bytes = trace.whole_bytes = solve.bytes;
    add(report, trace);
    report.seconds += solve.seconds;
    report.backward_error = std::max(report.backward_error, answer.value().verify->backward_error);
    report.verified = report.verified && answer.value().verify->verified;
    for (index_t j = 0; j < x.cols; ++j)
      for (std::size_t k = 0; k < wanted.size(); ++k)
        solved.x.view()(static_cast<index_t>(k), first + j) = x.view()(wanted[k], j);
  }
  return solved;
}

void check_wanted_rows(index_t n, std::span<const index_t> wanted) {
  for (const index_t row : wanted)
    if (row < 0 || row >= n)
      throw UsageError("row " + std::to_string(row) + " of x is wanted, but the matrix is of order " +
                       std::to_string(n));
}

template <class T>
void check_entry_request(index_t n, const SparseMatrix<T>& b, std::span<const index_t> wanted,
                         index_t first_row) {
  if (b.rows() != n)
    throw DimensionError("b has " + std::to_string(b.rows()) + " rows, but the matrix is of order " +
                         std::to_string(n));
  check_wanted_rows(n, wanted);
  for (index_t j = 0; j < b.cols(); ++j) {
    const auto rows = b.pattern.column(j);
    const auto values = values_of(b, j);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!std::isfinite(std::abs(values[k])))
        throw UsageError("the entry of b in row " + std::to_string(first_row + rows[k]) + " and column " +
                         std::to_string(j) + " is not finite");
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                             \
  template SolvedEntries<T> solve_by_branches(const EntrySource<T>&, const SparseMatrix<T>&,                \
                                              std::span<const index_t>, const EntryRequest&);               \
  template Outcome<SolvedEntries<T>> solve_whole_for_entries(const WholeSolve<T>&, const SparseMatrix<T>&,  \
                                                             std::span<const index_t>, const EntryRequest&, \
                                                             const std::string&);                           \
  template void check_entry_request(index_t, const SparseMatrix<T>&, std::span<const index_t>, index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
