// A factorization that a device takes part in: tasks that wait for the device are set aside, and their thread
// takes others.
#include <algorithm>

#include "palmette/factorize/program.hpp"

namespace palmette::factorize_detail {

template <class T>
void Program<T>::set_aside(SetAside<T> task) {
  const std::lock_guard lock(aside_mutex_);
  aside_.push_back(std::move(task));
}

template <class T>
std::optional<SetAside<T>> Program<T>::take_set_aside(bool may_wait) {
  const std::lock_guard lock(aside_mutex_);
  auto found = std::find_if(aside_.begin(), aside_.end(),
                            [](const SetAside<T>& one) { return one.ticket->done(); });
  if (found == aside_.end() && may_wait) found = aside_.begin();
  if (found == aside_.end()) return std::nullopt;
  SetAside<T> task = std::move(*found);
  aside_.erase(found);
  return task;
}

template <class T>
void Program<T>::resume(SetAside<T> aside, int thread) {
  const Task& task = tasks_.graph.tasks[aside.number];
  Scratch<T>& scratch = workspace_.scratch[thread];
  if (aside.update) {
    (void)aside.ticket->wait();
    if (!stopped(task.first) && !aside.update->advance(scratch, false)) {
      aside.ticket = aside.update->ticket();
      return set_aside(std::move(aside));
    }
  } else if (aside.diagonal) {
    complete_diagonal(task.first, *aside.diagonal, scratch, workspace_.tallies[aside.number]);
  } else {
    complete_rows(task.first, aside.ticket, scratch, true);
  }
  complete_task(aside.number, thread);
}

template <class T>
bool Program<T>::begin_with_device(index_t number, int thread) {
  const Task& task = tasks_.graph.tasks[number];
  Scratch<T>& scratch = workspace_.scratch[thread];
  const index_t s = task.first;
  SetAside<T> aside;
  aside.number = number;
  switch (task.kind) {
    case TaskKind::update:
      aside.update = std::make_unique<UpdateRun<T>>(work_, *offload_, s, in_place(s, chunk_rows(task)),
                                                    host_chunk_rows);
      if (aside.update->advance(scratch, false)) return false;
      aside.ticket = aside.update->ticket();
      break;
    case TaskKind::diagonal:
      if (!offload_->plan().diagonal_on_device[s]) {
        factor_on_host(s, scratch, workspace_.tallies[number]);
        return false;
      }
      aside.diagonal = offload_->factor_diagonal(s);
      aside.ticket = aside.diagonal->ticket;
      break;
    case TaskKind::panel:
      if (!offload_->plan().rows_on_device[s]) {
        finish_rows_on_host(s, chunk_rows(task), scratch, true);
        return false;
      }
      aside.ticket = offload_->finish_rows(s, cuts_of_rows(s, host_chunk_rows));
      break;
    default: run_subtree_with_device(task, scratch, workspace_.tallies[number]); return false;
  }
  set_aside(std::move(aside));
  return true;
}

/// One supernode after the other, each step waiting for the last: other threads go on meanwhile.
template <class T>
void Program<T>::run_subtree_with_device(const Task& task, Scratch<T>& scratch, PivotTally& tally) {
  for (index_t s = task.first; s < task.last && !stopped(s); ++s) {
    const RowRange all{0, work_.panel_rows(s)};
    UpdateRun<T>(work_, *offload_, s, in_place(s, all), 0).advance(scratch, true);
    if (offload_->plan().diagonal_on_device[s])
      complete_diagonal(s, *offload_->factor_diagonal(s), scratch, tally);
    else
      factor_on_host(s, scratch, tally);
    if (stopped(s + 1)) return;
    if (offload_->plan().rows_on_device[s])
      complete_rows(s, offload_->finish_rows(s, cuts_of_rows(s, 0)), scratch, false);
    else
      finish_rows_on_host(s, all, scratch, false);
  }
}

template <class T>
void Program<T>::factor_on_host(index_t s, Scratch<T>& scratch, PivotTally& tally) {
  const BadPivot bad = finish_diagonal(work_, scratch, s, tally);
  if (bad.supernode >= 0) record(bad);
  const DenseCall call = offload_->sizes().potrf(s);
  scratch.counts.host[call.operation].add(offload_->sizes().flops(call));
}

template <class T>
void Program<T>::complete_diagonal(index_t s, const DeviceDiagonal<T>& result, Scratch<T>& scratch,
                                   PivotTally& tally) {
  const bool computed = result.ticket->wait();
  if (!computed) ++scratch.counts.fallbacks;
  // The host says what is wrong with a pivot: the block is still as it was.
  if (!computed || result.failed >= 0) return factor_on_host(s, scratch, tally);
  const DenseView<T> block = work_.diagonal_block(s);
  for (index_t column = 0; column < block.cols; ++column)
    std::copy_n(result.values.data() + static_cast<std::size_t>(column) * block.cols, block.rows,
                block.column(column));
  finish_factored_diagonal(work_, s, tally);
}

/// Ends of the host's pieces of the rows below the diagonal block, counted from there.
template <class T>
std::vector<index_t> Program<T>::cuts_of_rows(index_t s, index_t host_rows) const {
  const index_t width = work_.symbolic.width(s), end = work_.panel_rows(s);
  std::vector<index_t> cuts;
  for (index_t at = host_rows; host_rows > 0 && at < end; at += host_rows)
    if (at > width) cuts.push_back(at - width);
  if (end > width) cuts.push_back(end - width);
  return cuts;
}

template <class T>
void Program<T>::finish_rows_on_host(index_t s, RowRange range, Scratch<T>& scratch, bool in_chunks) {
  const index_t step = in_chunks ? host_chunk_rows : range.end - range.first;
  for (index_t first = range.first; first < range.end; first += step)
    finish_rows(work_, scratch, s, {first, std::min(first + step, range.end)});
  DenseCall call = offload_->sizes().trsm(s);
  call.m = range.end - std::max(range.first, work_.symbolic.width(s));
  if (call.m <= 0) return;
  for (int panel = 0; panel < offload_->sizes().panels(); ++panel)
    scratch.counts.host[call.operation].add(offload_->sizes().flops(call));
}

template <class T>
void Program<T>::complete_rows(index_t s, const DeviceTicket& ticket, Scratch<T>& scratch, bool in_chunks) {
  if (ticket->wait()) return;
  ++scratch.counts.fallbacks;
  finish_rows_on_host(s, {0, work_.panel_rows(s)}, scratch, in_chunks);
}

template <class T>
OffloadCounts Program<T>::host_counts() const {
  OffloadCounts sum;
  for (const Scratch<T>& scratch : workspace_.scratch) sum.add(scratch.counts);
  return sum;
}

#define PALMETTE_INSTANTIATE(T)                                                                             \
  template void Program<T>::set_aside(SetAside<T>);                                                         \
  template std::optional<SetAside<T>> Program<T>::take_set_aside(bool);                                     \
  template void Program<T>::resume(SetAside<T>, int);                                                       \
  template bool Program<T>::begin_with_device(index_t, int);                                                \
  template OffloadCounts Program<T>::host_counts() const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
