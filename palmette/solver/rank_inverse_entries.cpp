// Single entries of solutions over ranks: sparse columns to the ranks of their rows, which all know; a solve
// by branches; and the wanted rows from those ranks that have some to all.
#include <algorithm>
#include <cstring>

#include "palmette/solver/entry_check.hpp"
#include "palmette/solver/rank_inverse.hpp"

namespace palmette {

template <class T>
const typename RankInverse<T>::Homes& RankInverse<T>::homes() {
  if (!homes_.rank.empty()) return homes_;
  homes_.rank.resize(symbolic_->n);
  homes_.number.resize(symbolic_->n);
  for (std::size_t rank = 0; rank < rows_.size(); ++rank)
    for (std::size_t k = 0; k < rows_[rank].size(); ++k) {
      homes_.rank[rows_[rank][k]] = static_cast<index_t>(rank);
      homes_.number[rows_[rank][k]] = static_cast<index_t>(k);
    }
  return homes_;
}

template <class T>
std::vector<RankEntry<T>> RankInverse<T>::own_entries(const SparseMatrix<T>& b,
                                                      std::span<const index_t> columns, const Side& in) {
  std::vector<RankEntry<T>> own;
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (offset_t e = b.pattern.column_ptr[columns[j]]; e < b.pattern.column_ptr[columns[j] + 1]; ++e) {
      const index_t row = b.pattern.row_index[e], k = in.old_to_new[row];
      if (homes().rank[k] == ranks_.transport.rank())
        own.push_back({homes().number[k], static_cast<index_t>(j), in.scaled(b.values[e], row)});
    }
  return own;
}

template <class T>
std::vector<typename RankInverse<T>::Given> RankInverse<T>::wanted_of_ranks(std::span<const index_t> wanted,
                                                                            const Side& out) {
  std::vector<Given> ranks(rows_.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const index_t row = out.old_to_new[wanted[k]];
    Given& one = ranks[homes().rank[row]];
    one.number.push_back(homes().number[row]);
    one.place.emplace_back(static_cast<index_t>(k), homes().number[row]);
  }
  for (Given& one : ranks) {
    one.number = sorted_once(std::move(one.number));
    for (auto& [row_of_x, number] : one.place)
      number = static_cast<index_t>(std::lower_bound(one.number.begin(), one.number.end(), number) -
                                    one.number.begin());
  }
  return ranks;
}

template <class T>
void RankInverse<T>::solve_block(Operation operation, const SparseMatrix<T>& b, const WantedEntries& wanted,
                                 DenseView<T> x) {
  const bool plain = operation == Operation::plain;
  const Side in = side(plain), out = side(!plain);
  std::vector<index_t> given_rows, wanted_rows;
  for (const index_t column : wanted.columns)
    for (const index_t row : b.pattern.column(column)) given_rows.push_back(in.old_to_new[row]);
  for (const index_t row : wanted.rows) wanted_rows.push_back(out.old_to_new[row]);
  const std::vector<Given> given = wanted_of_ranks(wanted.rows, out);
  const std::vector<RankEntry<T>> own = own_entries(b, wanted.columns, in);
  const Given& mine = given[ranks_.transport.rank()];
  DenseMatrix<T> found(static_cast<index_t>(mine.number.size()), x.cols);
  exchange(ranks_.transport, [&] {
    SendClock clock(run_->begin(), record_);
    Recorder run(clock);
    DriveOptions how = ranks_.drive;
    how.record = &record_;
    RankProgram& program =
        plan_.begin_entries(operation, {given_rows, wanted_rows, own, mine.number}, found.view(), run);
    drive(program, run, ranks_.team, how);
    const Traffic sent = run.sent();
    spent_.messages += static_cast<double>(sent.messages());
    spent_.message_bytes += static_cast<double>(sent.bytes());
    spent_.bytes += plan_.entry_counts().entries * sizeof(T);
  });
  std::vector<char> gives;
  for (const Given& one : given) gives.push_back(one.number.empty() ? 0 : 1);
  exchange(ranks_.transport, [&] {
    const std::vector<SharedBytes> pieces =
        gather_from(gives, run_->begin(), ranks_.team,
                    pool_.copy(std::as_bytes(std::span<const T>(found.values))), ranks_.drive);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
      const T* const value = reinterpret_cast<const T*>(pieces[rank].data());
      const std::size_t rows = given[rank].number.size();
      for (const auto& [row, number] : given[rank].place)
        for (index_t column = 0; column < x.cols; ++column)
          x(row, column) =
              out.scaled(value[static_cast<std::size_t>(number) + static_cast<std::size_t>(column) * rows],
                         wanted.rows[row]);
    }
  });
}

/// The first rank of a layer stands for what all of its ranks read together.
template <class T>
void RankInverse<T>::sum_counts(EntryReport& report) const {
  Transport& transport = ranks_.transport;
  const bool leads = transport.rank() % factor_->placement->num_ranks() == 0;
  report.bytes = transport.sum(leads ? report.bytes : 0);
  report.whole_bytes = transport.sum(leads ? report.whole_bytes : 0);
  for (double* const count : {&report.messages, &report.message_bytes, &report.whole_messages,
                              &report.whole_message_bytes})
    *count = transport.sum(*count);
}

template <class T>
EntryTrace RankInverse<T>::solve_entries(Operation operation, const SparseMatrix<T>& b,
                                         const WantedEntries& wanted, DenseView<T> x) {
  spent_ = {};
  if (b.rows() == 0) return spent_;
  for (index_t first = 0; first < x.cols; first += max_rhs_) {
    const index_t count = std::min(max_rhs_, x.cols - first);
    solve_block(operation, b, {wanted.columns.subspan(first, count), wanted.rows}, x.columns(first, count));
    const RankCounts whole = plan_.counts(count);
    spent_.whole_bytes += whole.entries * sizeof(T);
    spent_.whole_messages += static_cast<double>(whole.messages);
    spent_.whole_message_bytes += static_cast<double>(whole.scalars) * sizeof(T);
  }
  return spent_;
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template void RankInverse<T>::sum_counts(EntryReport&) const;                                              \
  template EntryTrace RankInverse<T>::solve_entries(Operation, const SparseMatrix<T>&, const WantedEntries&, \
                                                    DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
