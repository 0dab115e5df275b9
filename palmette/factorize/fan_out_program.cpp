// A panel takes its updates in ascending order of their source, then is finished and sent.
#include "palmette/factorize/fan_out_program.hpp"

#include <algorithm>

namespace palmette::factorize_detail {

namespace {

RowRange rows_of(const Block& block) { return {block.first, block.first + block.count}; }

}  // namespace

template <class T>
FanOutProgram<T>::FanOutProgram(const RankWork<T>& work, const RankFactorizeOptions& options,
                                const Placement& placement, Transport& transport)
    : work_(work),
      fan_(work.fan),
      placement_(placement),
      messages_(work_, options.delivery, transport),
      waits_(work.fan, work.symbolic, placement),
      panels_(fan_.owned.panel.size()),
      tallies_(fan_.owned.panel.size()),
      left_(fan_.owned.num_panels()) {
  for (int thread = 0; thread < options.threads; ++thread) scratch_.emplace_back(work.symbolic, options.kind);
  last_.resize(scratch_.size());
}

template <class T>
void FanOutProgram<T>::start() {
  if (work_.factor.kind == FactorKind::lu) work_.assemble_upper();
  waits_.start();
}

template <class T>
void FanOutProgram<T>::on_message(const Message& message) {
  if (messages_.fetches(message)) return;
  const BlockNumbers& numbers = messages_.numbers();
  const offset_t number = messages_.number_of(message);
  if (numbers.is_diagonal(number))
    waits_.diagonal_came(fan_.panel_of[number - numbers.num_blocks], message.payload);
  else
    waits_.block_came(fan_.used_place(number), message.payload);
}

template <class T>
bool FanOutProgram<T>::run_one_task(int thread) {
  const index_t p = waits_.take();
  if (p == -1) return false;
  const DoneWork done = run_panel(p, scratch_[thread]);
  last_[thread] = {"panel",
                   SweepPhase::none,
                   fan_.owned.panel[p],
                   {0, (is_complex_v<T> ? 4 : 1) * done.flops, done.products, 0,
                    done.flops > 0 ? done.flops_by_length / done.flops : 1}};
  return true;
}

template <class T>
PivotTally FanOutProgram<T>::tally() const {
  PivotTally sum;
  for (const PivotTally& part : tallies_) sum.append(part);
  return sum;
}

template <class T>
typename FanOutProgram<T>::DoneWork FanOutProgram<T>::run_panel(index_t p, RankScratch<T>& scratch) {
  Panel& panel = panels_[p];
  DoneWork done;
  if (!panel.without_content) work_.map_rows(p, scratch);
  if (!panel.assembled) work_.assemble_lower(p, scratch);
  panel.assembled = true;
  PanelWaits::Next next = waits_.next(p);
  for (; next.go == PanelWaits::Go::step; next = waits_.next(p)) {
    take_step(p, next.step, scratch, done);
    waits_.step_was_taken(p, next.step);
  }
  work_.forget_rows(p, scratch);
  if (next.go == PanelWaits::Go::finish) finish_panel(p, scratch, done);
  return done;
}

template <class T>
void FanOutProgram<T>::take_step(index_t p, offset_t step, RankScratch<T>& scratch, DoneWork& done) {
  Panel& panel = panels_[p];
  const UpdateStep& what = fan_.steps[step];
  if (what.own_panel != -1) return take_own_step(p, what, scratch, done);
  const index_t target = work_.supernode(p);
  FinishedBlock<T> right, left;
  // The right factor is the first or the last of the blocks that the step needs.
  const offset_t begin = fan_.need_ptr[step], end = fan_.need_ptr[step + 1];
  if (!find(fan_.needs[begin] == what.right ? begin : end - 1, what.source, right))
    panel.without_content = true;
  for (offset_t need = begin; need < end; ++need) {
    const Block& block = work_.symbolic.blocks[fan_.needs[need]];
    if (placement_.owner(block.row_supernode, target) != fan_.owned.rank)
      continue;  // needed only as right factor
    if (!find(need, what.source, left)) panel.without_content = true;
    if (panel.without_content) continue;
    work_.subtract({p, what.source, rows_of(block), work_.symbolic.blocks[what.right]}, left, right, scratch);
    count_product(block, what, done);
  }
}

/// A step whose source is an own panel of all rows.
template <class T>
void FanOutProgram<T>::take_own_step(index_t p, const UpdateStep& what, RankScratch<T>& scratch,
                                     DoneWork& done) {
  Panel& panel = panels_[p];
  if (panels_[what.own_panel].without_content) panel.without_content = true;
  if (panel.without_content) return;
  const SymbolicFactor& symbolic = work_.symbolic;
  const index_t target = work_.supernode(p);
  const Block& factors = symbolic.blocks[what.right];
  const FinishedBlock<T> right = work_.own_rows(what.own_panel, rows_of(factors));
  const auto subtract = [&](RowRange rows) {
    work_.subtract({p, what.source, rows, factors}, work_.own_rows(what.own_panel, rows), right, scratch);
  };
  // Rows of all blocks at once, where they lie together on both sides.
  const bool together = fan_.owned.by_parts[what.own_panel] == 0 && fan_.owned.by_parts[p] == 0;
  if (together) subtract({factors.first, symbolic.num_rows_below(what.source)});
  for (offset_t at = what.right; at < symbolic.block_ptr[what.source + 1]; ++at) {
    const Block& block = symbolic.blocks[at];
    if (placement_.owner(block.row_supernode, target) != fan_.owned.rank) continue;
    if (!together) subtract(rows_of(block));
    count_product(block, what, done);
  }
}

/// Block by block, also where blocks are multiplied together: machines' descriptions are about such products.
template <class T>
void FanOutProgram<T>::count_product(const Block& left, const UpdateStep& what, DoneWork& done) const {
  const double triangles = work_.factor.kind == FactorKind::lu ? 2 : 1;
  const index_t width = work_.symbolic.width(what.source), columns = work_.symbolic.blocks[what.right].count;
  done.add(triangles * 2.0 * left.count * width * columns, std::min({left.count, width, columns}));
}

template <class T>
bool FanOutProgram<T>::find(offset_t need, index_t source, FinishedBlock<T>& found) const {
  const Block& shape = work_.symbolic.blocks[fan_.needs[need]];
  const offset_t own = fan_.used_own[fan_.need_place[need]];
  if (own == -1) {
    const PanelWaits::Arrived block = waits_.block(need);
    if (!block.without_content) found = messages_.read_block(shape, source, *block.bytes);
    return !block.without_content;
  }
  const index_t p = fan_.panel_of[source];
  if (panels_[p].without_content) return false;
  found = work_.finished_rows(p, fan_.owned.own[own].first_row, shape.count);
  return true;
}

template <class T>
void FanOutProgram<T>::finish_panel(index_t p, RankScratch<T>& scratch, DoneWork& done) {
  Panel& panel = panels_[p];
  if (work_.supernode(p) >= fan_.num_eliminated) {
    waits_.panel_is_finished(p, panel.without_content);
    left_.fetch_sub(1, std::memory_order_release);
    return;
  }
  const index_t width = work_.symbolic.width(work_.supernode(p));
  const DenseView<T> block = diagonal_of(p);
  const RowRange below = work_.below(p);
  if (!panel.without_content) finish_below(p, block, scratch);
  messages_.send_blocks(p, panel.without_content);
  waits_.panel_is_finished(p, panel.without_content);
  left_.fetch_sub(1, std::memory_order_release);
  done.add(static_cast<double>(width) * width *
               (below.end - below.first + (work_.owns_diagonal(p) ? width / 3.0 : 0)),
           width);
}

template <class T>
DenseView<T> FanOutProgram<T>::diagonal_of(index_t p) {
  Panel& panel = panels_[p];
  if (work_.owns_diagonal(p)) {
    const DenseView<T> block =
        work_.factor.rows_of(work_.factor.lower, p, 0, work_.symbolic.width(work_.supernode(p)));
    make_diagonal(p, block);
    messages_.send_diagonal(p, block, panel.without_content);
    return block;
  }
  if (waits_.diagonal(p).size() > 0) return messages_.read_diagonal(p, waits_.diagonal(p));
  panel.without_content = true;
  return {};
}

template <class T>
void FanOutProgram<T>::make_diagonal(index_t p, DenseView<T> block) {
  Panel& panel = panels_[p];
  if (panel.without_content) return;
  const BadPivot bad = finish_diagonal(work_.parts(p, block), tallies_[p]);
  if (bad.supernode < 0) return;
  panel.without_content = true;
  const std::lock_guard lock(mutex_);
  if (failure_.supernode < 0 || bad.supernode < failure_.supernode) failure_ = bad;
}

/// With BLAS the bits of a row depend on how many rows are computed with it. A panel that lies on one rank
/// for any grid is finished as a whole, other panels block by block: no grid cuts a block.
template <class T>
void FanOutProgram<T>::finish_below(index_t p, DenseView<T> block, RankScratch<T>& scratch) {
  const PanelParts<T> parts = work_.parts(p, block);
  const auto finish = [&](index_t first, index_t rows) {
    DenseView<T> upper;
    if (work_.factor.kind == FactorKind::lu)
      upper = work_.factor.rows_of(work_.factor.upper, p, first, rows);
    finish_rows(parts, work_.factor.rows_of(work_.factor.lower, p, first, rows), upper, scratch.product);
  };
  const RowRange below = work_.below(p);
  if (below.first == below.end) return;
  if (placement_.lies_whole(work_.supernode(p))) return finish(below.first, below.end - below.first);
  for (const OwnBlock& own : fan_.owned.blocks_of_panel(p))
    finish(own.first_row, work_.symbolic.blocks[own.block].count);
}

#define PALMETTE_INSTANTIATE(T) template class FanOutProgram<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
