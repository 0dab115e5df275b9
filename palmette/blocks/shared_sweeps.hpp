// Inside `blocks`: sweeps over a wide panel that waiting threads help with. The owner solves a triangle of
// some columns; the rectangle below it is done by whoever comes.
#pragma once

#include "palmette/blocks/panel_sweep_kernels.hpp"

namespace palmette::panel_sweep {

/// Columns that are finished before others are told; a share of a backward rectangle.
constexpr index_t block_columns = 32;

/// A triangle of columns [first, last), and the rectangle of the same columns in the rows from `last` on,
/// cut into strips of rows: a strip subtracts column after column as soon as the triangle has solved them.
template <class T>
class ForwardShare final : public SharedWork {
 public:
  ForwardShare(const WholePanel<T>& panel, T* v, index_t first, int helpers);
  void help() override;
  /// By the owner: everything that nobody else does. @returns the first column behind
  index_t run();

  /// Whether the columns from `first` on are worth sharing.
  static bool is_worth(const WholePanel<T>& panel, index_t first) {
    return offset_t{panel.entries.cols - first} * (panel.entries.rows - first) >= least_shared_entries;
  }

 private:
  static constexpr index_t most_strips = 16, shortest_strip = 256;
  struct alignas(64) Strip {
    index_t begin, end;
    std::atomic<bool> is_taken{false};
    std::atomic<index_t> next{0};  // column
  };
  void cut(index_t strips);
  void advance(Strip& strip);
  bool is_done() const;

  const WholePanel<T>& panel_;
  T* const v_;
  index_t first_, last_;
  index_t strips_ = 0;
  std::atomic<index_t> solved_;
  Strip strip_[most_strips];
};

/// Columns [first, last), from the last on: their products with the rows from `known` on, which are solved,
/// are shared block by block; the owner does the rest.
template <class T>
class BackwardShare final : public SharedWork {
 public:
  BackwardShare(bool adjoint, const WholePanel<T>& panel, T* v, index_t last, int helpers);
  void help() override { take(); }
  /// By the owner. @returns the first column
  index_t run();

  static bool is_worth(const WholePanel<T>& panel, index_t last) {
    const index_t rows = panel.entries.rows - first_known(panel, last);
    return rows >= piece_rows && offset_t{last} * rows >= least_shared_entries;
  }

 private:
  static constexpr index_t most_blocks = 128;
  /// The first row of a piece behind which all rows are solved once the columns from `last` on are.
  static index_t first_known(const WholePanel<T>& panel, index_t last) {
    return std::min(panel.entries.rows, begin_of_piece(panel, last + piece_rows - 1));
  }
  index_t end_of(index_t block) const { return last_ - block * block_columns; }
  index_t begin_of(index_t block) const { return std::max(first_, end_of(block) - block_columns); }
  bool take();

  const bool adjoint_;
  const WholePanel<T>& panel_;
  T* const v_;
  index_t first_, last_;
  index_t known_;
  index_t blocks_;
  std::atomic<index_t> next_{0};  // block that nobody has taken
  std::atomic<bool> done_[most_blocks] = {};
};

}  // namespace palmette::panel_sweep
