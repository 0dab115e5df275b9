// One product for each descendant and slab of rows, then subtracted where its rows and columns belong.
#include "palmette/factorize/gather.hpp"

#include <algorithm>

namespace palmette::factorizing {
namespace {

/// The part of one descendant's panel that updates one panel: its rows [first, end) times its rows of the block.
struct Source {
  index_t supernode;
  Block block;
  index_t first;  ///< places in the descendant's row list
  index_t end;
};

template <class T>
class Gatherer {
 public:
  Gatherer(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& sums)
      : work_(work), scratch_(scratch), target_(s), sums_(sums), range_(sums.range) {}

  void run() {
    const SymbolicFactor& symbolic = work_.symbolic;
    for (const Updater& updater : symbolic.updaters_of(target_)) {
      const Block& block = symbolic.blocks[updater.block];
      const Source source = clip(updater.source, block);
      if (source.first == source.end) continue;
      if (work_.kind() == FactorKind::lu) {
        subtract(source, work_.factor.lower, factors_of(work_.factor.upper, source), sums_.lower);
        Source beyond = source;
        beyond.first = std::min(std::max(source.first, block.first + block.count), source.end);
        subtract(beyond, work_.factor.upper, factors_of(work_.factor.lower, source), sums_.upper);
      } else {
        subtract(source, work_.factor.lower, scaled_factors(source), sums_.lower);
      }
    }
  }

 private:
  /// Row of the permuted matrix that stands at local row `local` of the target's panel; n past its end.
  index_t global_row(index_t local) const {
    const SymbolicFactor& symbolic = work_.symbolic;
    const index_t width = symbolic.width(target_);
    if (local < width) return symbolic.supernode_begin[target_] + local;
    return local < work_.panel_rows(target_) ? symbolic.rows_below(target_)[local - width] : symbolic.n;
  }

  /// The source's rows that fall into the range; both row lists ascend.
  Source clip(index_t supernode, const Block& block) const {
    const std::span<const index_t> rows = work_.symbolic.rows_below(supernode);
    Source source{supernode, block, block.first, static_cast<index_t>(rows.size())};
    if (range_.first > 0)
      source.first = static_cast<index_t>(
          std::lower_bound(rows.begin() + block.first, rows.end(), global_row(range_.first)) - rows.begin());
    if (range_.end < work_.panel_rows(target_))
      source.end = static_cast<index_t>(
          std::lower_bound(rows.begin() + source.first, rows.end(), global_row(range_.end)) - rows.begin());
    return source;
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

  void subtract(const Source& source, PanelArray<T>& left, DenseView<const T> right, DenseView<T> into) {
    const std::span<const index_t> rows = work_.symbolic.rows_below(source.supernode);
    const std::span<const index_t> columns = rows.subspan(static_cast<std::size_t>(source.block.first),
                                                          static_cast<std::size_t>(source.block.count));
    const bool columns_adjoin = columns.back() - columns.front() == source.block.count - 1;
    for (index_t first = source.first; first < source.end; first += slab_rows) {
      const index_t end = std::min(source.end, first + slab_rows);
      const DenseView<const T> slab = below(left, source.supernode, first, end);
      const index_t top = scratch_.local_row[rows[first]], bottom = scratch_.local_row[rows[end - 1]];
      if (columns_adjoin && bottom - top == end - first - 1) {
        const DenseView<T> place{into.column(scratch_.local_row[columns.front()]) + top - range_.first, slab.rows, right.rows,
                                 into.ld};
        subtract_rows<T>(work_.adjoint(), slab, right, place);
        continue;
      }
      const DenseView<T> product{scratch_.product.data(), slab.rows, right.rows, slab.rows};
      multiply_rows<T>(work_.adjoint(), slab, right, product);
      scatter(product, rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(slab.rows)), columns, into);
    }
  }

  /// Subtract a product at the local rows and columns of the target.
  void scatter(DenseView<const T> product, std::span<const index_t> rows, std::span<const index_t> columns,
               DenseView<T> into) {
    index_t* const target_row = scratch_.target_row.data();
    for (index_t row = 0; row < product.rows; ++row) target_row[row] = scratch_.local_row[rows[row]] - range_.first;
    for (index_t column = 0; column < product.cols; ++column) {
      T* const target = into.column(scratch_.local_row[columns[column]]);
      const T* const value = product.column(column);
      for (index_t row = 0; row < product.rows; ++row) target[target_row[row]] -= value[row];
    }
  }

  const Work<T>& work_;
  Scratch<T>& scratch_;
  index_t target_;
  Target<T> sums_;
  RowRange range_;
};

}  // namespace

template <class T>
void gather_updates(const Work<T>& work, Scratch<T>& scratch, index_t s, const Target<T>& target) {
  Gatherer<T>(work, scratch, s, target).run();
}

#define PALMETTE_INSTANTIATE(T) template void gather_updates<T>(const Work<T>&, Scratch<T>&, index_t, const Target<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorizing
