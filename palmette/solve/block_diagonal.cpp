// D of LDLᵀ, inverted once and multiplied in each solve.
#include <cmath>

#include "palmette/solve/supernodal_triangle.hpp"

namespace palmette::solve_detail {

template <class T>
BlockDiagonal<T>::BlockDiagonal(bool hermitian, std::span<const T> d, std::span<const T> d_below)
    : hermitian_(hermitian), diagonal_(d.size()), below_(d.size(), T(0)) {
  for (std::size_t k = 0; k < d.size(); ++k) {
    if (d_below[k] == T(0)) {
      diagonal_[k] = T(1) / d[k];
      continue;
    }
    // [a c'; c b] with c' = c or its conjugate, divided through by |c| as LAPACK's xSYTRS and xHETRS do: no
    // overflow.
    const real_t<T> size = std::abs(d_below[k]);
    const T upper = d[k] / size, lower = d[k + 1] / size, c = d_below[k] / size;
    const T scaled_determinant = (upper * lower - c * (hermitian ? conjugate(c) : c)) * size;
    diagonal_[k] = lower / scaled_determinant;
    diagonal_[k + 1] = upper / scaled_determinant;
    below_[k] = -c / scaled_determinant;
    ++k;
  }
}

template <class T>
void BlockDiagonal<T>::solve(index_t first, index_t count, RhsRows<T> values) const {
  for (index_t row = 0; row < count; ++row) {
    const T below = below_[first + row];
    T* const x = values.row(row);
    if (below == T(0)) {
      for (index_t rhs = 0; rhs < values.stride; ++rhs) x[rhs] *= diagonal_[first + row];
      continue;
    }
    T* const next = values.row(row + 1);
    const T above = hermitian_ ? conjugate(below) : below;
    for (index_t rhs = 0; rhs < values.stride; ++rhs) {
      const T upper = x[rhs], lower = next[rhs];
      x[rhs] = diagonal_[first + row] * upper + above * lower;
      next[rhs] = below * upper + diagonal_[first + row + 1] * lower;
    }
    ++row;
  }
}

template <class T>
offset_t BlockDiagonal<T>::memory_bytes() const {
  return static_cast<offset_t>((diagonal_.size() + below_.size()) * sizeof(T));
}

#define PALMETTE_INSTANTIATE(T) template class BlockDiagonal<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
