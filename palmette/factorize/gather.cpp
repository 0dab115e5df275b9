// One product for each descendant and slab of rows, subtracted where its rows and columns belong; the next
// descendant's operands are prefetched meanwhile.
#include "palmette/factorize/gather.hpp"

#include <algorithm>

namespace palmette::factorize_detail {
namespace {

/// Smaller operands are not fetched ahead: most of them are of descendants nearby, whose panels have just
/// been computed, and asking for their columns one by one takes longer than reading them.
constexpr offset_t least_fetched_bytes = 4096;

/// The part of one descendant's panel that updates one panel: its rows [first, end) times its rows of the
/// block.
struct Source {
  index_t supernode = -1;
  Block block{};
  index_t first = 0;  ///< places in the descendant's row list
  index_t end = 0;
};

template <class T>
class Gatherer {
 public:
  Gatherer(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& sums,
           std::span<const Updater> updaters)
      : work_(work), scratch_(scratch), target_(s), updaters_(updaters), sums_(sums), range_(sums.range),
        is_whole_(range_.first == 0 && range_.end == work.panel_rows(s)) {}

  void run() {
    Source source = next_source();
    while (source.first < source.end) {
      next_ = next_source();
      subtract_all(source);
      source = next_;
    }
  }

 private:
  /// The next source that has rows in the range; none: one without rows.
  Source next_source() {
    while (place_ < updaters_.size()) {
      if (!is_whole_) fetch_ahead();
      const Updater& updater = updaters_[place_++];
      const RowRange rows = rows_within(work_.symbolic, target_, range_, updater);
      if (rows.first < rows.end)
        return {updater.source, work_.symbolic.blocks[updater.block], rows.first, rows.end};
    }
    return {};
  }

  /// Blocks and lists of rows of later updaters lie anywhere in memory, and the lists are searched.
  PALMETTE_INLINE void fetch_ahead() const {
    if (place_ + 8 < updaters_.size())
      __builtin_prefetch(&work_.symbolic.blocks[updaters_[place_ + 8].block]);
    if (place_ + 4 >= updaters_.size()) return;
    const Updater& updater = updaters_[place_ + 4];
    const std::span<const index_t> rows = work_.symbolic.rows_below(updater.source);
    const index_t first = work_.symbolic.blocks[updater.block].first;
    __builtin_prefetch(rows.data() + first);
    __builtin_prefetch(rows.data() + first + (static_cast<index_t>(rows.size()) - first) / 2);
  }

  /// Rows [first, end) below the diagonal block of a source's panel.
  DenseView<const T> below(PanelArray<T>& panels, index_t supernode, index_t first, index_t end) const {
    const index_t width = work_.symbolic.width(supernode);
    return work_.rows_of(panels, supernode, {width + first, width + end});
  }
  DenseView<const T> factors_of(PanelArray<T>& panels, const Source& source) const {
    return below(panels, source.supernode, source.block.first, source.block.first + source.block.count);
  }

  /// The block's rows of L (LLᵀ) or of L·D (LDLᵀ).
  DenseView<const T> scaled_factors(const Source& source) {
    const DenseView<const T> rows = factors_of(work_.factor.lower, source);
    if (work_.kind() == FactorKind::llt) return rows;
    const DenseView<T> scaled{scratch_.scaled.data(), rows.rows, rows.cols, rows.rows};
    multiply_by_pairs<T>(work_.pairs(source.supernode), rows, scaled);
    return scaled;
  }

  void subtract_all(const Source& source) {
    const std::span<const index_t> rows = work_.symbolic.rows_below(source.supernode);
    for (index_t column = 0; column < source.block.count; ++column)
      scratch_.target_column[column] = scratch_.local_row[rows[source.block.first + column]];
    if (work_.kind() != FactorKind::lu)
      return subtract(source, work_.factor.lower, scaled_factors(source), sums_.lower, operands_of_next());
    Source beyond = source;
    beyond.first = std::min(std::max(source.first, source.block.first + source.block.count), source.end);
    const DenseView<const T> rows_beyond =
        below(work_.factor.upper, source.supernode, beyond.first, beyond.end);
    const DenseView<const T> lower_factors = factors_of(work_.factor.lower, source);
    const NextOperands<T> next = operands_of_next();
    subtract(source, work_.factor.lower, factors_of(work_.factor.upper, source), sums_.lower,
             rows_beyond.rows > 0 ? NextOperands<T>{rows_beyond, lower_factors} : next);
    subtract(beyond, work_.factor.upper, lower_factors, sums_.upper, next);
  }

  void subtract(const Source& source, PanelArray<T>& left, DenseView<const T> right, DenseView<T> into,
                const NextOperands<T>& following) {
    const std::span<const index_t> rows = work_.symbolic.rows_below(source.supernode);
    for (index_t first = source.first; first < source.end; first += slab_rows) {
      const index_t end = std::min(source.end, first + slab_rows);
      const DenseView<const T> slab = below(left, source.supernode, first, end);
      index_t* const target_row = scratch_.target_row.data();
      for (index_t row = first; row < end; ++row)
        target_row[row - first] = scratch_.local_row[rows[row]] - range_.first;
      NextOperands<T> next = following;
      if (end < source.end) next = {below(left, source.supernode, end, source.end), {}};
      const ProductPlaces places{target_row, scratch_.target_column.data()};
      const index_t shift = work_.kind() == FactorKind::lu ? PlacedProduct<T>::all_rows
                                                           : first - source.block.first;
      subtract_placed<T>({work_.adjoint(), slab, right, places, next, scratch_.product.data(), shift}, into);
    }
  }

  NextOperands<T> operands_of_next() {
    if (next_.first == next_.end) return {};
    const DenseView<const T> rows = below(work_.factor.lower, next_.supernode, next_.first, next_.end);
    if (work_.kind() == FactorKind::lu) return if_large({rows, factors_of(work_.factor.upper, next_)});
    // The block's rows are the first of these, unless the range begins further down.
    if (next_.first == next_.block.first) return if_large({rows, {}});
    return if_large({rows, factors_of(work_.factor.lower, next_)});
  }
  static NextOperands<T> if_large(const NextOperands<T>& next) {
    const offset_t bytes = offset_t{next.a.rows} * next.a.cols * static_cast<offset_t>(sizeof(T));
    return bytes < least_fetched_bytes ? NextOperands<T>() : next;
  }

  const Work<T>& work_;
  Scratch<T>& scratch_;
  index_t target_;
  std::span<const Updater> updaters_;
  std::size_t place_ = 0;  ///< of the updater that is looked at next
  Source next_{};  ///< what follows the current source
  Target<T> sums_;
  RowRange range_;
  bool is_whole_;  ///< panel: no list of rows is searched
};

}  // namespace

RowRange rows_within(const SymbolicFactor& symbolic, index_t s, RowRange range, const Updater& updater) {
  const std::span<const index_t> rows = symbolic.rows_below(updater.source);
  const index_t width = symbolic.width(s), panel_rows = static_cast<index_t>(symbolic.leading_dimension(s));
  // The row of the permuted matrix at a local row of the panel.
  const auto global_row = [&](index_t local) {
    return local < width ? symbolic.supernode_begin[s] + local : symbolic.rows_below(s)[local - width];
  };
  const auto place_of = [&](index_t first, index_t local) {
    return static_cast<index_t>(std::lower_bound(rows.begin() + first, rows.end(), global_row(local)) -
                                rows.begin());
  };
  RowRange within{symbolic.blocks[updater.block].first, static_cast<index_t>(rows.size())};
  if (range.first > 0) within.first = place_of(within.first, range.first);
  if (range.end < panel_rows) within.end = place_of(within.first, range.end);
  return within;
}

template <class T>
void gather_updates(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target) {
  std::span<const Updater> updaters = work.symbolic.updaters_of(s);
  // Sources ascend: those that are not eliminated come last.
  while (!updaters.empty() && !work.is_eliminated(updaters.back().source))
    updaters = updaters.first(updaters.size() - 1);
  Gatherer<T>(work, scratch, s, target, updaters).run();
}

template <class T>
void gather_update(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target,
                   const Updater& updater) {
  Gatherer<T>(work, scratch, s, target, {&updater, 1}).run();
}

#define PALMETTE_INSTANTIATE(T)                                                            \
  template void gather_updates<T>(const Work<T>&, Scratch<T>&, index_t, const Target<T>&); \
  template void gather_update<T>(const Work<T>&, Scratch<T>&, index_t, const Target<T>&, const Updater&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
