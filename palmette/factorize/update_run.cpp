// Asks for products up to a limit of memory, and takes them in order.
#include "palmette/factorize/update_run.hpp"

#include <algorithm>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/gather.hpp"

namespace palmette::factorize_detail {
namespace {

/// Products that one run may have under way, in bytes: some milliseconds of a bus.
constexpr offset_t most_asked_bytes = offset_t(64) << 20;

template <class T>
void count_update(const Work<T>& work, const Block& block, RowRange rows, index_t k, OffloadCounts& counts) {
  const OffloadSizes sizes{work.symbolic, work.kind(), ScalarTraits<T>::type};
  const double count = block.count, all = rows.end - rows.first;
  const auto add = [&](const DenseCall& call) {
    if (call.flops() > 0) counts.host[call.operation].add(sizes.flops(call));
  };
  const double width = k;
  const index_t end = block.first + block.count;
  const bool symmetric = work.kind() == FactorKind::llt && rows.first == block.first && rows.end >= end;
  if (symmetric) add({DenseOperation::syrk, count, count, width});
  add({DenseOperation::gemm, symmetric ? all - count : all, count, width});
  if (work.kind() != FactorKind::lu) return;
  const double beyond = rows.end - std::min(std::max(rows.first, end), rows.end);
  add({DenseOperation::gemm, beyond, count, width});
}

}  // namespace

template <class T>
UpdateRun<T>::UpdateRun(const Work<T>& work, Offload<T>& offload, index_t s, const Target<T>& target,
                        index_t host_rows)
    : work_(work), offload_(offload), supernode_(s), target_(target),
      updaters_(work.symbolic.updaters_of(s)) {
  const RowRange range = target.range;
  const index_t step = host_rows > 0 ? host_rows : range.end - range.first;
  for (index_t first = range.first; first < range.end; first += step)
    host_ranges_.push_back({first, std::min(first + step, range.end)});
}

template <class T>
bool UpdateRun<T>::on_device(const Updater& updater) const {
  return offload_.plan().update_on_device[updater.block] != 0;
}

template <class T>
Target<T> UpdateRun<T>::part_of_target(RowRange range) const {
  const index_t skipped = range.first - target_.range.first, rows = range.end - range.first;
  const auto part = [&](DenseView<T> view) {
    return view.data == nullptr ? view : DenseView<T>{view.data + skipped, rows, view.cols, view.ld};
  };
  return {range, part(target_.lower), part(target_.upper)};
}

template <class T>
std::vector<RowRange> UpdateRun<T>::pieces(const Updater& updater) const {
  std::vector<RowRange> found;
  for (const RowRange& range : host_ranges_) {
    const RowRange rows = rows_within(work_.symbolic, supernode_, range, updater);
    if (rows.first < rows.end) found.push_back(rows);
  }
  return found;
}

template <class T>
void UpdateRun<T>::ask_ahead() {
  next_to_ask_ = std::max(next_to_ask_, next_);
  for (; next_to_ask_ < updaters_.size(); ++next_to_ask_) {
    if (!asked_.empty() && asked_bytes_ >= most_asked_bytes) return;
    const Updater& updater = updaters_[next_to_ask_];
    if (!on_device(updater)) continue;
    std::vector<RowRange> rows = pieces(updater);
    if (rows.empty()) continue;
    asked_.push_back({next_to_ask_, offload_.update(updater.source, block_of(updater), std::move(rows))});
    asked_bytes_ += asked_.back().product->bytes();
  }
}

template <class T>
bool UpdateRun<T>::advance(Scratch<T>& scratch, bool may_wait) {
  ask_ahead();
  scratch.map(work_.symbolic, supernode_);
  if (!assembled_) {
    for (const RowRange& range : host_ranges_)
      assemble_lower(work_, scratch, supernode_, part_of_target(range));
    assembled_ = true;
  }
  for (; next_ < updaters_.size(); ++next_) {
    const Updater& updater = updaters_[next_];
    if (asked_.empty() || asked_.front().number != next_) {
      compute_on_host(updater, scratch);
      continue;
    }
    const DeviceUpdate<T>& product = *asked_.front().product;
    if (!may_wait && !product.ticket->done()) return false;
    if (product.ticket->wait()) {
      subtract(updater, product, scratch);
    } else {
      compute_on_host(updater, scratch);
      ++scratch.counts.fallbacks;
    }
    asked_bytes_ -= product.bytes();
    asked_.pop_front();
    ask_ahead();
  }
  return true;
}

template <class T>
void UpdateRun<T>::compute_on_host(const Updater& updater, Scratch<T>& scratch) {
  for (const RowRange& range : host_ranges_)
    gather_update(work_, scratch, supernode_, part_of_target(range), updater);
  const RowRange rows = rows_within(work_.symbolic, supernode_, target_.range, updater);
  if (rows.first < rows.end)
    count_update(work_, block_of(updater), rows, work_.symbolic.width(updater.source), scratch.counts);
}

template <class T>
void UpdateRun<T>::subtract(const Updater& updater, const DeviceUpdate<T>& product, Scratch<T>& scratch) {
  const std::span<const index_t> rows = work_.symbolic.rows_below(updater.source);
  const Block& block = block_of(updater);
  const auto subtract_into = [&](DenseView<T> into, const std::vector<T>& values, index_t first,
                                 bool starts_symmetric) {
    const index_t count = product.rows.end - first;
    for (index_t column = 0; column < block.count; ++column) {
      T* const target = into.column(scratch.local_row[rows[block.first + column]]);
      const T* const value = values.data() + static_cast<std::size_t>(column) * count;
      for (index_t row = starts_symmetric ? column : 0; row < count; ++row)
        target[scratch.local_row[rows[first + row]] - target_.range.first] -= value[row];
    }
  };
  subtract_into(target_.lower, product.lower, product.rows.first, product.starts_symmetric);
  if (!product.upper.empty()) subtract_into(target_.upper, product.upper, product.beyond, false);
}

#define PALMETTE_INSTANTIATE(T) template class UpdateRun<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
