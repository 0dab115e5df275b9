// Work for the device's thread: copies, allocations with eviction, and the dense operations between them.
#include "palmette/factorize/offload.hpp"

#include <algorithm>

#include "palmette/factorize/host_dense.hpp"

namespace palmette::factorize_detail {
namespace {

/// Where the host cuts the rows from `from` on: at the ends of pieces, and within them after slab_rows rows.
std::vector<index_t> slab_ends(const std::vector<RowRange>& pieces, index_t from) {
  std::vector<index_t> ends;
  for (const RowRange& piece : pieces)
    for (index_t at = std::max(piece.first, from); at < piece.end;) {
      at = std::min(at + slab_rows, piece.end);
      ends.push_back(at - from);
    }
  return ends;
}

/// A device that lacks its libraries computes nothing, unless it must: then making them says why.
OffloadWhen mode_here(const OffloadOptions& options) {
  const bool unable =
      options.mode == OffloadWhen::automatic && !why_no_dense_operations(*options.device).empty();
  return unable ? OffloadWhen::never : options.mode;
}

}  // namespace

template <class T>
Offload<T>::Offload(const Work<T>& work, const OffloadOptions& options)
    : work_(work),
      device_(options.device),
      model_(options.model ? *options.model : estimated_offload_model()),
      plan_(plan_offload(work.symbolic, work.kind(), ScalarTraits<T>::type, model_, mode_here(options))),
      queue_(std::make_unique<DeviceQueue>()) {}

template <class T>
Offload<T>::~Offload() {
  (void)finish();
}

template <class T>
OffloadCounts Offload<T>::finish() {
  // The libraries' handles and the panels belong to the thread that made them.
  if (queue_) queue_->submit([this] { kept_.clear(), operations_.reset(); });
  queue_.reset();
  return counts_;
}

template <class T>
DenseLibrary<T>& Offload<T>::operations() {
  if (!operations_) operations_ = make_dense_operations<T>(device_, host_dense<T>());
  return *operations_;
}

template <class T>
DenseView<const T> Offload<T>::rows(const DeviceArray<T>& panel, index_t s, index_t first,
                                    index_t end) const {
  return {panel.data() + first, end - first, work_.symbolic.width(s), work_.symbolic.leading_dimension(s)};
}

template <class T>
bool Offload<T>::release_oldest(index_t needed) {
  const auto oldest = std::find_if(ages_.begin(), ages_.end(), [&](index_t s) { return s != needed; });
  if (oldest == ages_.end()) return false;
  kept_.erase(*oldest);
  ages_.erase(oldest);
  ++counts_.panels_evicted;
  return true;
}

template <class T>
DeviceArray<T> Offload<T>::allocate(std::size_t entries, index_t needed) {
  while (true) {
    try {
      return DeviceArray<T>(device_, entries);
    } catch (const MemoryError&) {
      if (!release_oldest(needed)) throw;
    }
  }
}

template <class T>
void Offload<T>::copy_in(const DeviceArray<T>& to, const T* from) {
  device_->copy_in(to.data(), from, to.bytes());
  ++counts_.copies_in;
  counts_.bytes_in += static_cast<double>(to.bytes());
}

template <class T>
void Offload<T>::copy_out(T* to, const DeviceArray<T>& from) {
  device_->copy_out(to, from.data(), from.bytes());
  ++counts_.copies_out;
  counts_.bytes_out += static_cast<double>(from.bytes());
}

template <class T>
DeviceArray<T> Offload<T>::uploaded(index_t s, const T* panel) {
  const offset_t ld = work_.symbolic.leading_dimension(s);
  const auto entries = static_cast<std::size_t>(ld * work_.symbolic.width(s));
  DeviceArray<T> array = allocate(entries, s);
  copy_in(array, panel);
  return array;
}

/// L·D, block by block, as the host computes it.
template <class T>
void Offload<T>::upload_scaled(index_t s, const DeviceArray<T>& to) {
  const offset_t ld = work_.symbolic.leading_dimension(s);
  std::vector<T> scaled(to.size());
  for (const Block& block : work_.symbolic.blocks_of(s)) {
    const index_t first = work_.symbolic.width(s) + block.first;
    multiply_by_pairs<T>(work_.pairs(s), work_.rows_of(work_.factor.lower, s, {first, first + block.count}),
                         {scaled.data() + first, block.count, work_.symbolic.width(s), ld});
  }
  copy_in(to, scaled.data());
}

template <class T>
auto Offload<T>::insert(index_t s, DeviceArray<T> left, DeviceArray<T> right) -> const Kept& {
  ages_.push_back(s);
  ++counts_.panels_kept;
  return kept_.emplace(s, Kept{std::move(left), std::move(right), std::prev(ages_.end())}).first->second;
}

template <class T>
auto Offload<T>::keep(index_t s) -> const Kept& {
  if (const auto found = kept_.find(s); found != kept_.end()) {
    ages_.splice(ages_.end(), ages_, found->second.age);
    return found->second;
  }
  const offset_t offset = work_.symbolic.panel_offset[s];
  DeviceArray<T> left = uploaded(s, work_.factor.lower.data() + offset), right;
  if (work_.kind() == FactorKind::lu) right = uploaded(s, work_.factor.upper.data() + offset);
  if (work_.kind() == FactorKind::ldlt) {
    right = allocate(left.size(), s);
    upload_scaled(s, right);
  }
  return insert(s, std::move(left), std::move(right));
}

template <class T>
void Offload<T>::product(index_t source, const DeviceProduct<T>& what, RowCuts cuts, std::vector<T>& result) {
  DeviceProduct<T> call = what;
  const DeviceArray<T> c = allocate(result.size(), source);
  call.c = {c.data(), what.a.rows, what.b.rows, what.a.rows};
  operations().multiply_rows(call, cuts);
  copy_out(result.data(), c);
  const double rows = what.a.rows, columns = what.b.rows, k = what.a.cols;
  const double above = what.starts_symmetric ? columns : 0;
  if (above > 0) count({DenseOperation::syrk, above, above, k});
  if (rows > above) count({DenseOperation::gemm, rows - above, columns, k});
}

template <class T>
void Offload<T>::compute(index_t source, const Block& block, DeviceUpdate<T>& result,
                         const std::vector<RowRange>& pieces) {
  const Kept& panel = keep(source);
  const index_t width = work_.symbolic.width(source), first = width + block.first;
  const RowRange range{width + result.rows.first, width + result.rows.end};
  const auto right_rows = [&](const DeviceArray<T>& array) {
    return rows(array, source, first, first + block.count);
  };
  const DeviceArray<T>& right = work_.kind() == FactorKind::llt ? panel.left : panel.right;
  product(source,
          {work_.adjoint(), rows(panel.left, source, range.first, range.end), right_rows(right), {},
           result.starts_symmetric},
          slab_ends(pieces, result.rows.first), result.lower);
  if (result.upper.empty()) return;
  product(source,
          {work_.adjoint(), rows(panel.right, source, width + result.beyond, range.end),
           right_rows(panel.left), {}, false},
          slab_ends(pieces, result.beyond), result.upper);
}

template <class T>
std::unique_ptr<DeviceUpdate<T>> Offload<T>::update(index_t source, const Block& block,
                                                    std::vector<RowRange> pieces) {
  auto result = std::make_unique<DeviceUpdate<T>>();
  const RowRange rows{pieces.front().first, pieces.back().end};
  result->rows = rows;
  const auto columns = static_cast<std::size_t>(block.count);
  result->lower.resize(static_cast<std::size_t>(rows.end - rows.first) * columns);
  result->starts_symmetric = work_.kind() == FactorKind::llt && rows.first == block.first &&
                             rows.end >= block.first + block.count;
  if (work_.kind() == FactorKind::lu) {
    result->beyond = std::min(std::max(rows.first, block.first + block.count), rows.end);
    result->upper.resize(static_cast<std::size_t>(rows.end - result->beyond) * columns);
  }
  result->ticket = queue_->submit([this, source, block, pieces = std::move(pieces), &to = *result] {
    compute(source, block, to, pieces);
  });
  return result;
}

template <class T>
std::unique_ptr<DeviceDiagonal<T>> Offload<T>::factor_diagonal(index_t s) {
  auto result = std::make_unique<DeviceDiagonal<T>>();
  const DenseView<T> block = work_.diagonal_block(s);
  for (index_t column = 0; column < block.cols; ++column)
    result->values.insert(result->values.end(), block.column(column), block.column(column) + block.rows);
  result->ticket = queue_->submit([this, s, width = block.cols, &to = *result] {
    const DeviceArray<T> array = allocate(to.values.size(), s);
    copy_in(array, to.values.data());
    to.failed = operations().factor_llt({array.data(), width, width, width});
    if (to.failed < 0) copy_out(to.values.data(), array);
    count(sizes().potrf(s));
  });
  return result;
}

template <class T>
void Offload<T>::compute_rows(index_t s, RowCuts cuts) {
  T* const panel = work_.factor.lower.data() + work_.symbolic.panel_offset[s];
  DeviceArray<T> array = uploaded(s, panel);
  const index_t width = work_.symbolic.width(s);
  const offset_t ld = work_.symbolic.leading_dimension(s);
  operations().divide_rows({{.transposed = true, .adjoint = work_.adjoint()},
                            rows(array, s, 0, width),
                            {array.data() + width, work_.symbolic.num_rows_below(s), width, ld}},
                           cuts);
  copy_out(panel, array);
  count(sizes().trsm(s));
  insert(s, std::move(array), {});
}

template <class T>
DeviceTicket Offload<T>::finish_rows(index_t s, std::vector<index_t> cuts) {
  return queue_->submit([this, s, cuts = std::move(cuts)] { compute_rows(s, cuts); });
}

#define PALMETTE_INSTANTIATE(T) template class Offload<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
