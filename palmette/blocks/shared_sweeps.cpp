// How a panel is cut between its owner and helpers, whose number decides about the cut and never about bits.
#include "palmette/blocks/shared_sweeps.hpp"

namespace palmette::panel_sweep {
namespace {

/// A multiple of block_columns, or all that is left.
index_t some_columns(offset_t wanted, index_t least, index_t left) {
  const offset_t columns = std::max<offset_t>(least, wanted / block_columns * block_columns);
  return columns + block_columns > left ? left : static_cast<index_t>(columns);
}

}  // namespace

template <class T>
ForwardShare<T>::ForwardShare(const WholePanel<T>& panel, T* v, index_t first, int helpers)
    : panel_(panel), v_(v), first_(first), solved_(first) {
  // As much in the triangle as for each helper in the rectangle, if the block is so wide.
  const index_t rows = panel.entries.rows - first;
  last_ = first + some_columns(offset_t{2} * rows / (2 + helpers), 128, panel.entries.cols - first);
  const index_t below = panel.entries.rows - last_;
  cut(std::clamp<index_t>(below / shortest_strip, below > 0 ? 1 : 0,
                          std::min<index_t>(most_strips, 2 * (helpers + 1))));
}

template <class T>
void ForwardShare<T>::cut(index_t strips) {
  strips_ = strips;
  index_t begin = last_;
  for (index_t k = 0; k < strips; ++k) {
    const index_t rows = (panel_.entries.rows - begin) / (strips - k) / group<T> * group<T>;
    strip_[k].begin = begin;
    begin = strip_[k].end = k + 1 == strips ? panel_.entries.rows : begin + rows;
    strip_[k].next.store(first_, std::memory_order_relaxed);
  }
}

template <class T>
void ForwardShare<T>::help() {
  // From the end, since the owner comes from the other side.
  for (index_t k = strips_ - 1; k >= 0; --k) advance(strip_[k]);
}

template <class T>
void ForwardShare<T>::advance(Strip& strip) {
  if (strip.next.load(std::memory_order_relaxed) >= solved_.load(std::memory_order_relaxed)) return;
  if (strip.is_taken.exchange(true, std::memory_order_acquire)) return;
  const index_t begin = strip.next.load(std::memory_order_relaxed);
  const index_t end = solved_.load(std::memory_order_acquire);
  const PanelRows<T> at{panel_, v_, strip.end};
  for (index_t column = begin; column < end; column += streams<T>)
    subtract_columns(at.template part<streams<T>>(column, strip.begin, strip.end), v_ + column,
                     v_ + strip.begin);
  strip.next.store(end, std::memory_order_release);
  strip.is_taken.store(false, std::memory_order_release);
}

template <class T>
bool ForwardShare<T>::is_done() const {
  return std::all_of(strip_, strip_ + strips_, [this](const Strip& strip) {
    return strip.next.load(std::memory_order_acquire) == last_;
  });
}

template <class T>
index_t ForwardShare<T>::run() {
  const PanelRows<T> at{panel_, v_, last_};
  for (index_t column = first_; column < last_;) {
    const index_t end = std::min(last_, column + block_columns);
    for (; column < end; column += group<T>) group_forward(at, column);
    solved_.store(column, std::memory_order_release);
  }
  while (!is_done())
    for (index_t k = 0; k < strips_; ++k) advance(strip_[k]);
  return last_;
}

template <class T>
BackwardShare<T>::BackwardShare(bool adjoint, const WholePanel<T>& panel, T* v, index_t last, int helpers)
    : adjoint_(adjoint), panel_(panel), v_(v), last_(last), known_(first_known(panel, last)) {
  const offset_t rows = panel.entries.rows - known_, few = panel.entries.cols % group<T>;
  const index_t most = most_blocks * block_columns;
  const index_t left = std::min(most, last - static_cast<index_t>(few));
  first_ = last - some_columns(std::min<offset_t>(2 * rows / helpers, most), 128, left);
  blocks_ = (last_ - first_ + block_columns - 1) / block_columns;
}

template <class T>
bool BackwardShare<T>::take() {
  if (next_.load(std::memory_order_relaxed) >= blocks_) return false;
  const index_t block = next_.fetch_add(1, std::memory_order_relaxed);
  if (block >= blocks_) return false;
  const PanelRows<T> at{panel_, v_, panel_.entries.rows};
  for (index_t column = end_of(block); column > begin_of(block); column -= group<T>)
    subtract_range_products(adjoint_, at, {column - group<T>, column}, known_, v_ + column - group<T>);
  done_[block].store(true, std::memory_order_release);
  return true;
}

template <class T>
index_t BackwardShare<T>::run() {
  const PanelRows<T> at{panel_, v_, known_};
  for (index_t block = 0; block < blocks_; ++block) {
    while (!done_[block].load(std::memory_order_acquire))
      if (!take()) processor_pause();
    for (index_t column = end_of(block); column > begin_of(block); column -= group<T>)
      group_backward(adjoint_, at, column - group<T>);
  }
  return first_;
}

#define PALMETTE_INSTANTIATE(T)    \
  template class ForwardShare<T>; \
  template class BackwardShare<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::panel_sweep
