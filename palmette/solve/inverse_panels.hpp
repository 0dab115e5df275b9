// Inside `solve`: a rank's blocks of a factor and of its selected inverse, as the recurrence reads and writes
// them, and what a rank has got of the others' blocks.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "palmette/solve/inverse_schedule.hpp"

namespace palmette::solve_detail {

/// Writes the bytes of a message, or only counts them.
class PieceWriter {
 public:
  explicit PieceWriter(std::byte* to) : to_(to) {}
  /// The next scalars, column by column. @returns no data if they are only counted
  template <class V>
  DenseView<V> next(index_t rows, index_t cols) {
    const DenseView<V> view{to_ == nullptr ? nullptr : reinterpret_cast<V*>(to_ + size_), rows, cols, rows};
    size_ += static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(V);
    return view;
  }
  template <class V>
  void put(DenseView<const V> from) {
    const DenseView<V> to = next<V>(from.rows, from.cols);
    if (to.data == nullptr) return;
    for (index_t j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
  }
  std::size_t size() const { return size_; }

 private:
  std::byte* to_;
  std::size_t size_ = 0;
};

/// The bytes that fill(writer) writes, which is called twice, first to count.
template <class Fill>
SharedBytes written(BytePool& pool, const Fill& fill) {
  PieceWriter size(nullptr);
  fill(size);
  SharedBytes bytes = pool.take(size.size());
  PieceWriter writer(bytes.writable().data());
  fill(writer);
  return bytes;
}

/// Takes them out in the same order.
class PieceReader {
 public:
  explicit PieceReader(const SharedBytes& bytes) : bytes_(bytes) {}
  template <class V>
  void get(DenseView<V> to) {
    const V* from = reinterpret_cast<const V*>(bytes_.data() + at_);
    for (index_t j = 0; j < to.cols; ++j, from += to.rows) std::copy_n(from, to.rows, to.column(j));
    at_ += static_cast<std::size_t>(to.rows) * static_cast<std::size_t>(to.cols) * sizeof(V);
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  SharedBytes bytes_;
  std::size_t at_ = 0;
};

/// Consecutive blocks of a rank's panel, or its diagonal block, and the rows of the matrix that they are.
template <class T>
struct PanelPart {
  DenseView<T> entries;
  std::span<const index_t> rows;  // empty: those of the supernode's columns
};

/// The rank's block of rows of `above` in the columns of s.
template <class T>
PanelPart<const T> panel_part(const RankFactor<T>& blocks, const PanelArray<T>& array, index_t s,
                              index_t above) {
  const SymbolicFactor& symbolic = *blocks.symbolic;
  const index_t panel = blocks.owned.panel_number(s);
  if (above == s) return {blocks.rows_of(array, panel, 0, symbolic.width(s)), {}};
  const std::span<const Block> all = symbolic.blocks_of(s);
  const auto block = std::lower_bound(all.begin(), all.end(), above, [](const Block& one, index_t supernode) {
    return one.row_supernode < supernode;
  });
  const offset_t number = symbolic.block_ptr[s] + (block - all.begin());
  const std::span<const OwnBlock> own = blocks.owned.blocks_of_panel(panel);
  const auto found =
      std::lower_bound(own.begin(), own.end(), number,
                       [](const OwnBlock& one, offset_t wanted) { return one.block < wanted; });
  return {blocks.rows_of(array, panel, found->first_row, block->count),
          symbolic.rows_below(s).subspan(block->first, block->count)};
}

/// Rows and columns of the matrix, some of one block.
struct KnownRows {
  index_t s, above;  ///< the supernodes that columns and rows belong to
  std::span<const index_t> rows, columns;
};

/// to ← these entries of the rank's blocks.
template <class T>
void copy_known(const RankFactor<T>& blocks, const PanelArray<T>& array, const KnownRows& which,
                DenseView<T> to) {
  const PanelPart<const T> part = panel_part(blocks, array, which.s, which.above);
  const index_t begin = blocks.symbolic->supernode_begin[which.s];
  auto at = part.rows.begin();
  for (index_t i = 0; i < to.rows; ++i) {
    index_t place = which.rows[i] - begin;
    if (!part.rows.empty()) {
      at = std::lower_bound(at, part.rows.end(), which.rows[i]);
      place = static_cast<index_t>(at - part.rows.begin());
    }
    for (index_t j = 0; j < to.cols; ++j) to(i, j) = part.entries(place, which.columns[j] - begin);
  }
}

/// The known columns of Z for the wanted rows below a supernode.
template <class T>
class KnownStrips {
 public:
  KnownStrips(const SymbolicFactor& symbolic, index_t s, const RowRange& wanted, bool is_lu)
      : blocks_(symbolic.blocks_of(s)), rows_(symbolic.num_rows_below(s)), wanted_(wanted) {
    are_all_ = wanted.count() == rows_;
    offset_t size = 0;
    for (const Block& block : blocks_) {
      start_.push_back(size);
      size += offset_t{across_rows(block).count()} * block.count;
      if (!are_all_) size += offset_t{rows_ - block.first} * own_columns(block).count();
    }
    entries_.resize(static_cast<std::size_t>(size));
    if (is_lu) right_.resize(static_cast<std::size_t>(size));
  }
  /// Take a piece out of a message.
  void get(const KnownPiece& piece, PieceReader& from) {
    const bool is_diagonal = &piece.rows == &piece.columns;
    for (std::vector<T>* array : {&entries_, &right_}) {
      if (array->empty() || (array == &right_ && is_diagonal)) continue;
      const RowRange across = across_rows(piece.columns);
      from.get(some_rows(across_of(array->data(), piece.of_columns),
                         std::max(0, piece.across.first - across.first), piece.across.count()));
      if (piece.down.count() > 0)
        from.get(some_rows(down_of(array->data(), piece.of_columns), piece.rows.first - piece.columns.first,
                           piece.rows.count));
    }
  }
  KnownColumns<T> known(index_t number) const {
    const Block& block = blocks_[number];
    const RowRange across = across_rows(block);
    const index_t behind = block.first + block.count, behind_from = std::max(behind, across.first);
    KnownColumns<T> known;
    known.block = block;
    known.across = across_of(entries_.data(), number);
    known.down = are_all_ ? known.across : down_of(entries_.data(), number);
    if (right_.empty()) return known;
    known.right_across = some_rows(across_of(right_.data(), number), behind_from - across.first,
                                   std::max(0, across.end - behind_from));
    known.right_down = some_rows(are_all_ ? across_of(right_.data(), number) : down_of(right_.data(), number),
                                 block.count, rows_ - behind);
    return known;
  }
  index_t num_blocks() const { return static_cast<index_t>(blocks_.size()); }

 private:
  RowRange across_rows(const Block& block) const { return common({block.first, rows_}, wanted_); }
  RowRange own_columns(const Block& block) const { return common(rows_of(block), wanted_); }
  template <class E>
  DenseView<E> across_of(E* entries, index_t number) const {
    const index_t rows = across_rows(blocks_[number]).count();
    return {entries + start_[number], rows, blocks_[number].count, rows};
  }
  template <class E>
  DenseView<E> down_of(E* entries, index_t number) const {
    const Block& block = blocks_[number];
    const index_t rows = rows_ - block.first;
    const offset_t before = offset_t{across_rows(block).count()} * block.count;
    return {entries + start_[number] + before, rows, own_columns(block).count(), rows};
  }

  std::span<const Block> blocks_;
  index_t rows_;
  RowRange wanted_;
  bool are_all_;
  std::vector<offset_t> start_;  // by block: across, and behind it down
  std::vector<T> entries_, right_;
};

/// What run_inverse_task works with in a subtree that one rank has.
template <class T>
class LonelyPanels {
 public:
  static constexpr bool assembles = true;

  /// @param above  known columns for the rows below the root
  LonelyPanels(const RankFactor<T>& factor, const BlockDiagonal<T>& diagonal, RankFactor<T>& result,
               index_t root, const KnownStrips<T>& above)
      : factor_(factor),
        symbolic_(*factor.symbolic),
        divisor_(diagonal),
        result_(result),
        root_(root),
        above_(above) {}

  DenseView<const T> diagonal(index_t s) const {
    return factor_.rows_of(factor_.lower, panel(s), 0, symbolic_.width(s));
  }
  DenseView<const T> below(bool upper, index_t s, InverseWorkspace<T>& room) const {
    const PanelArray<T>& array = upper ? factor_.upper : factor_.lower;
    const index_t rows = symbolic_.num_rows_below(s);
    if (!lies_in_parts(s)) return factor_.rows_of(array, panel(s), symbolic_.width(s), rows);
    const DenseView<T> whole{room.panel.data(), rows, symbolic_.width(s), rows};
    for_parts(s, [&](const OwnBlock& own, const Block& block) {
      const DenseView<const T> from = factor_.rows_of(array, panel(s), own.first_row, block.count);
      for (index_t j = 0; j < from.cols; ++j)
        std::copy_n(from.column(j), from.rows, whole.column(j) + block.first);
    });
    return whole;
  }
  const index_t* place(index_t s) const {
    return factor_.place.empty() ? nullptr : factor_.place.data() + symbolic_.supernode_begin[s];
  }
  void gather(index_t s, const Block& block, InverseWorkspace<T>& room) const {
    const bool is_lu = factor_.kind == FactorKind::lu;
    const auto rows = symbolic_.rows_below(s).subspan(block.first);
    const auto columns = rows.first(block.count);
    const auto all = static_cast<index_t>(rows.size()), further = all - block.count;
    const DenseView<T> z{room.strip.data(), all, block.count, all},
        right{room.other_strip.data(), further, block.count, further};
    if (block.row_supernode > root_) return gather_above(block, rows, z, right, room.place);
    for (const Block& other : symbolic_.blocks_of(s)) {
      if (other.first < block.first) continue;
      const index_t from = other.first - block.first;
      const KnownRows which{block.row_supernode, other.row_supernode, rows.subspan(from, other.count),
                            columns};
      copy_known(result_, result_.lower, which, some_rows(z, from, other.count));
      if (is_lu && from > 0)
        copy_known(result_, result_.upper, which, some_rows(right, from - block.count, other.count));
    }
  }
  void divide(index_t s, DenseView<T> m) const {
    if (factor_.kind != FactorKind::ldlt) return;
    for (index_t j = 0; j < m.cols; ++j)
      divisor_.solve(symbolic_.supernode_begin[s], m.rows, {m.column(j), 1});
  }
  DenseView<T> target(bool upper, const InverseTask& task, InverseWorkspace<T>& room) const {
    const index_t s = task.supernode, rows = symbolic_.num_rows_below(s);
    if (lies_in_parts(s)) return {(upper ? room.other_result : room.result).data(), rows, task.count, rows};
    PanelArray<T>& array = upper ? result_.upper : result_.lower;
    return result_.rows_of(array, panel(s), symbolic_.width(s), rows).columns(task.first, task.count);
  }
  void keep(const InverseTask& task, DenseView<const T> y, DenseView<const T> w) const {
    const index_t s = task.supernode;
    if (!lies_in_parts(s)) return;
    for_parts(s, [&](const OwnBlock& own, const Block& block) {
      for (PanelArray<T>* array : {&result_.lower, &result_.upper}) {
        if (array->size() == 0) continue;
        const DenseView<const T> from = some_rows(array == &result_.lower ? y : w, block.first, block.count);
        const DenseView<T> to = result_.rows_of(*array, panel(s), own.first_row, block.count);
        for (index_t j = 0; j < from.cols; ++j)
          std::copy_n(from.column(j), from.rows, to.column(task.first + j));
      }
    });
  }
  void keep_diagonal(const InverseKernels<T>& kernels, const InverseTask& task, DenseView<const T> m) const {
    const DenseView<T> to = result_.rows_of(result_.lower, panel(task.supernode), 0, m.rows);
    kernels.put_in_order(m, place(task.supernode), to.columns(task.first, task.count));
  }

 private:
  index_t panel(index_t s) const { return factor_.owned.panel_number(s); }
  bool lies_in_parts(index_t s) const { return factor_.owned.by_parts[panel(s)] != 0; }
  template <class Use>
  void for_parts(index_t s, const Use& use) const {
    for (const OwnBlock& own : factor_.owned.blocks_of_panel(panel(s))) use(own, symbolic_.blocks[own.block]);
  }
  /// Of columns above the root: rows and columns among those below the root.
  void gather_above(const Block& block, std::span<const index_t> rows, DenseView<T> z, DenseView<T> right,
                    std::vector<index_t>& place) const {
    const std::span<const Block> blocks = symbolic_.blocks_of(root_);
    const auto same =
        std::lower_bound(blocks.begin(), blocks.end(), block.row_supernode,
                         [](const Block& one, index_t supernode) { return one.row_supernode < supernode; });
    const auto behind = symbolic_.rows_below(root_).subspan(same->first);
    auto at = behind.begin();
    place.clear();
    for (const index_t row : rows) {
      at = std::lower_bound(at, behind.end(), row);
      place.push_back(static_cast<index_t>(at - behind.begin()));
    }
    const KnownColumns<T> known = above_.known(static_cast<index_t>(same - blocks.begin()));
    for (index_t j = 0; j < z.cols; ++j) {
      for (index_t i = 0; i < z.rows; ++i) z(i, j) = known.across(place[i], place[j]);
      for (index_t i = 0; factor_.kind == FactorKind::lu && i < right.rows; ++i)
        right(i, j) = known.right_across(place[i + z.cols] - same->count, place[j]);
    }
  }

  const RankFactor<T>& factor_;
  const SymbolicFactor& symbolic_;
  const BlockDiagonal<T>& divisor_;
  RankFactor<T>& result_;
  index_t root_;
  const KnownStrips<T>& above_;
};

}  // namespace palmette::solve_detail
