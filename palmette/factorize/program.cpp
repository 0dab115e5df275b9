// The tasks of a factorization and what each of them does.
#include "palmette/factorize/program.hpp"

#include <algorithm>
#include <limits>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/gather.hpp"

namespace palmette::factorize_detail {
namespace {

/// Progress is reported in steps of at least this fraction.
constexpr double progress_step = 0.01;

template <class T>
void copy(DenseView<T> from, DenseView<T> to) {
  for (index_t column = 0; column < from.cols; ++column)
    std::copy_n(from.column(column), from.rows, to.column(column));
}

}  // namespace

template <class T>
Program<T>::Program(const Work<T>& work, Workspace<T>& workspace, const ProgressCallback& progress,
                    Offload<T>* offload)
    : work_(work), workspace_(workspace), tasks_(workspace.tasks), progress_(progress),
      cost_total_(tasks_.graph.total_cost()), first_bad_(std::numeric_limits<index_t>::max()),
      offload_(offload) {
  workspace_.reset();
}

template <class T>
void Program<T>::complete_task(index_t number, int thread) {
  workspace_.ready.finish(number);
  report(thread, tasks_.graph.tasks[number].cost);
}

template <class T>
bool Program<T>::run_one_task(int thread) {
  const auto resumed = [&](bool may_wait) {
    std::optional<SetAside<T>> aside;
    if (offload_ != nullptr) aside = take_set_aside(may_wait);
    if (aside) resume(std::move(*aside), thread);
    return aside.has_value();
  };
  if (resumed(false)) return true;
  const index_t number = workspace_.ready.take();
  if (number < 0) return resumed(true);
  const Task& task = tasks_.graph.tasks[number];
  if (!stopped(task.first)) {
    if (offload_ == nullptr) run(task, thread, workspace_.tallies[number]);
    else if (begin_with_device(number, thread)) return true;
  }
  complete_task(number, thread);
  return true;
}

template <class T>
void Program<T>::run(const Task& task, int thread, PivotTally& tally) {
  Scratch<T>& scratch = workspace_.scratch[thread];
  if (task.kind == TaskKind::subtree) return run_subtree(task, thread, tally);
  if (task.kind == TaskKind::update) return update_chunk(task.first, chunk_rows(task), scratch);
  if (!work_.is_eliminated(task.first)) return;
  if (task.kind == TaskKind::panel) return finish_rows(work_, scratch, task.first, chunk_rows(task));
  const BadPivot bad = finish_diagonal(work_, scratch, task.first, tally);
  if (bad.supernode >= 0) record(bad);
}

template <class T>
void Program<T>::run_subtree(const Task& task, int thread, PivotTally& tally) {
  Scratch<T>& scratch = workspace_.scratch[thread];
  for (index_t s = task.first; s < task.last && !stopped(s); ++s) {
    const RowRange all{0, work_.panel_rows(s)};
    update_rows(s, in_place(s, all), scratch);
    if (!work_.is_eliminated(s)) continue;
    const BadPivot bad = finish_diagonal(work_, scratch, s, tally);
    if (bad.supernode >= 0) return record(bad);
    finish_rows(work_, scratch, s, all);
  }
}

template <class T>
Target<T> Program<T>::in_place(index_t s, RowRange range) const {
  Target<T> target{range, work_.rows_of(work_.factor.lower, s, range), {}};
  if (work_.kind() == FactorKind::lu) target.upper = work_.rows_of(work_.factor.upper, s, range);
  return target;
}

template <class T>
void Program<T>::update_rows(index_t s, const Target<T>& target, Scratch<T>& scratch) {
  scratch.map(work_.symbolic, s);
  assemble_lower(work_, scratch, s, target);
  gather_updates(work_, scratch, s, target);
}

template <class T>
void Program<T>::update_chunk(index_t s, RowRange range, Scratch<T>& scratch) {
  const Target<T> panel = in_place(s, range);
  const index_t rows = range.end - range.first, width = panel.lower.cols;
  Target<T> staged{range, {scratch.staged.data(), rows, width, scratch.staged_rows}, {}};
  if (work_.kind() == FactorKind::lu) {
    staged.upper = {staged.lower.data + staged.lower.ld * width, rows, width, staged.lower.ld};
    copy(panel.upper, staged.upper);
  }
  update_rows(s, staged, scratch);
  copy(staged.lower, panel.lower);
  if (work_.kind() == FactorKind::lu) copy(staged.upper, panel.upper);
}

template <class T>
RowRange Program<T>::chunk_rows(const Task& task) const {
  const index_t first = task.chunk * tasks_.chunks.chunk_rows;
  return {first, std::min(work_.panel_rows(task.first), first + tasks_.chunks.chunk_rows)};
}

template <class T>
void Program<T>::record(const BadPivot& bad) {
  const std::lock_guard lock(failure_mutex_);
  if (failure_.supernode >= 0 && failure_.supernode < bad.supernode) return;
  failure_ = bad;
  first_bad_.store(bad.supernode, std::memory_order_relaxed);
}

template <class T>
void Program<T>::report(int thread, double cost) {
  if (!progress_) return;
  const double done = cost_done_.fetch_add(cost, std::memory_order_relaxed) + cost;
  if (thread != 0 || cost_total_ <= 0) return;
  const double fraction = std::min(1.0, done / cost_total_);
  if (fraction < reported_ + progress_step) return;
  reported_ = fraction;
  progress_("factorize", fraction);
}

template <class T>
PivotTally Program<T>::tally() const {
  PivotTally sum;
  for (const PivotTally& part : workspace_.tallies) sum.append(part);
  return sum;
}

#define PALMETTE_INSTANTIATE(T) template class Program<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
