// Inside `solve`: right-hand sides turned from columns into rows and back: W rows × W columns at a time, in
// registers, so that each cache line of a column is touched once for any number of columns.
#pragma once

#include "palmette/solve/row_kernels.hpp"

namespace palmette::solve_detail {

/// W × W blocks of scalars whose register holds at least two.
template <class T>
struct RhsBlock : lanes::RegisterBlock<T> {
  using Base = lanes::RegisterBlock<T>;
  using Base::width, Base::line;
  using L = typename Base::L;
  using Vector = typename Base::Vector;
  static constexpr bool in_registers = width > 1;

  /// line[k] ← right-hand sides first, first + 1, … of row + k, or their conjugates; zero where there are no
  /// more.
  void read_columns(DenseView<const T> from, index_t row, index_t first, bool conjugated = false) {
    for (int k = 0; k < width; ++k) {
      line[k] = first + k < from.cols ? L::load(from.column(first + k) + row) : Vector{};
      if (conjugated && first + k < from.cols) line[k] = L::conjugated(line[k]);
    }
    this->turn();
  }
  /// Right-hand sides first, first + 1, … of row + k ← line[k], as far as there are any.
  void write_columns(DenseView<T> to, index_t row, index_t first) {
    this->turn();
    for (int k = 0; k < width && first + k < to.cols; ++k) L::store(line[k], to.column(first + k) + row);
  }
};

/// to[k·NumRhs + rhs] ← from(first + k, rhs) · scale[k] for k < rows; zeros where `from` has no more
/// columns. scale null: ones.
template <class T, int NumRhs>
inline void rhs_into_rows(DenseView<const T> from, index_t first, index_t rows, const T* scale, T* to) {
  using Block = RhsBlock<T>;
  index_t row = 0;
  // Complex scales are applied one by one, since each row must have the bits of `product`.
  const bool turned = !is_complex_v<T> || scale == nullptr;
  if constexpr (Block::in_registers && NumRhs % Block::width == 0)
    for (; turned && row + Block::width <= rows; row += Block::width)
      for (index_t rhs = 0; rhs < NumRhs; rhs += Block::width) {
        Block block;
        block.read_columns(from, first + row, rhs);
        for (int k = 0; k < Block::width; ++k) {
          if constexpr (!is_complex_v<T>)
            if (scale != nullptr) block.line[k] *= scale[row + k];
          Block::L::store(block.line[k], to + (row + k) * NumRhs + rhs);
        }
      }
  for (; row < rows; ++row)
    for (index_t rhs = 0; rhs < NumRhs; ++rhs) {
      const T value = rhs < from.cols ? from(first + row, rhs) : T(0);
      to[row * NumRhs + rhs] = scale != nullptr ? product(value, scale[row]) : value;
    }
}

/// to(first + k, rhs) ← from[k·NumRhs + rhs] for k < rows and the columns of `to`.
template <class T, int NumRhs>
inline void rows_into_rhs(const T* from, index_t rows, DenseView<T> to, index_t first) {
  using Block = RhsBlock<T>;
  index_t row = 0;
  if constexpr (Block::in_registers && NumRhs % Block::width == 0)
    for (; row + Block::width <= rows; row += Block::width)
      for (index_t rhs = 0; rhs < to.cols; rhs += Block::width) {
        Block block;
        for (int k = 0; k < Block::width; ++k)
          block.line[k] = Block::L::load(from + (row + k) * NumRhs + rhs);
        block.write_columns(to, first + row, rhs);
      }
  for (; row < rows; ++row)
    for (index_t rhs = 0; rhs < to.cols; ++rhs) to(first + row, rhs) = from[row * NumRhs + rhs];
}

}  // namespace palmette::solve_detail
