// Inverting diagonal blocks, and solving with them. A product with an inverse has no chain of dependent divisions: that
// is what makes narrow supernodes fast. Where the inverse would grow too much, the block is solved with instead.
// Source of the bound: Higham, Accuracy and Stability of Numerical Algorithms (2002), §14.2.
#include "palmette/solve/supernodal_triangle.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solve/narrow_kernels.hpp"

namespace palmette::sweep {
namespace {

/// Rows of a triangular block that are multiplied at once: what lies beyond the diagonal of a strip is not read.
constexpr index_t strip_rows = 32;

template <class T>
double norm_one_of_lower(DenseView<const T> block, bool unit) {
  double norm = 0;
  for (index_t column = 0; column < block.cols; ++column) {
    double sum = unit ? 1.0 : std::abs(block(column, column));
    for (index_t row = column + 1; row < block.rows; ++row) sum += std::abs(block(row, column));
    if (!(sum <= norm)) norm = sum;  // a NaN stays
  }
  return norm;
}

/// out ← M·x or Mᵀ·x for lower triangular M, in strips.
template <class T>
void multiply_lower(DenseView<const T> m, DenseView<const T> x, DenseView<T> out) {
  for (index_t row = 0; row < m.rows; row += strip_rows) {
    const index_t end = m.rows - row < strip_rows + strip_rows / 2 ? m.rows : row + strip_rows;
    panel_multiply<T>({m.data + row, end - row, end, m.ld}, {x.data, end, x.cols, x.ld},
                      {out.data + row, end - row, out.cols, out.ld});
    if (end == m.rows) break;
  }
}

template <class T>
void multiply_lower_transposed(bool adjoint, DenseView<const T> m, DenseView<const T> x, DenseView<T> out) {
  for (index_t column = 0; column < m.cols; column += strip_rows) {
    const index_t end = m.cols - column < strip_rows + strip_rows / 2 ? m.cols : column + strip_rows;
    panel_multiply_transposed<T>(adjoint, {m.data + column + column * m.ld, m.rows - column, end - column, m.ld},
                                 {x.data + column, x.rows - column, x.cols, x.ld},
                                 {out.data + column, end - column, out.cols, out.ld});
    if (end == m.cols) break;
  }
}

template <class T>
void copy(DenseView<const T> from, DenseView<T> to) {
  for (index_t column = 0; column < from.cols; ++column)
    std::copy_n(from.column(column), from.rows, to.column(column));
}

/// to(k, :) ← from(place[k], :)
template <class T>
void gather(const index_t* place, DenseView<const T> from, DenseView<T> to) {
  if (place == nullptr) return copy(from, to);
  for (index_t column = 0; column < from.cols; ++column)
    for (index_t k = 0; k < from.rows; ++k) to(k, column) = from(place[k], column);
}

/// to(place[k], :) ← from(k, :)
template <class T>
void scatter(const index_t* place, DenseView<const T> from, DenseView<T> to) {
  if (place == nullptr) return copy(from, to);
  for (index_t column = 0; column < from.cols; ++column)
    for (index_t k = 0; k < from.rows; ++k) to(place[k], column) = from(k, column);
}

}  // namespace

template <class T>
SupernodalTriangle<T>::SupernodalTriangle(const SweepStructure& structure, const TriangleSource<T>& source,
                                          const PlanOptions& options)
    : structure_(structure), source_(source) {
  const SymbolicFactor& symbolic = structure.symbolic();
  const index_t count = symbolic.num_supernodes();
  inverted_.assign(static_cast<std::size_t>(count), 0);
  has_places_.assign(static_cast<std::size_t>(count), 0);
  if (options.invert_diagonal_blocks) inverse_ = PanelArray<T>(structure.block_offset(count));
  // An inverse is good for so many digits only as the precision has.
  const double limit = std::min(options.inverse_growth_limit, 0.1 / unit_roundoff<T>);
  for (index_t s = 0; s < count; ++s) {
    if (source.place != nullptr)
      for (index_t k = 0; k < symbolic.width(s); ++k)
        if (source.place[symbolic.supernode_begin[s] + k] != k) has_places_[s] = 1;
    if (!options.invert_diagonal_blocks) continue;
    inverted_[s] = invert(s, limit);
    if (!inverted_[s]) ++guarded_count_;
  }
}

template <class T>
DenseView<const T> SupernodalTriangle<T>::stored_block(index_t s) const {
  const SymbolicFactor& symbolic = structure_.symbolic();
  const index_t width = symbolic.width(s);
  return {source_.diagonal + symbolic.panel_offset[s], width, width, symbolic.leading_dimension(s)};
}

template <class T>
bool SupernodalTriangle<T>::invert(index_t s, double growth_limit) {
  const DenseView<const T> stored = stored_block(s);
  const index_t width = stored.rows;
  const DenseView<T> block{inverse_.data() + structure_.block_offset(s), width, width, width};
  for (index_t column = 0; column < width; ++column) {
    for (index_t row = column; row < width; ++row)
      block(row, column) = source_.diagonal_is_upper ? stored(column, row) : stored(row, column);
    if (source_.unit_diagonal) block(column, column) = T(1);
  }
  const double norm = norm_one_of_lower<T>(block, false);
  if (invert_triangle<T>(true, false, block) >= 0) return false;
  return norm_one_of_lower<T>(block, false) * norm <= growth_limit;
}

template <class T>
void SupernodalTriangle<T>::triangular_solve(bool transposed, bool adjoint, index_t s, DenseView<T> x) const {
  blas::TriangularSolve how;
  how.triangle = source_.diagonal_is_upper ? blas::Triangle::upper : blas::Triangle::lower;
  how.diagonal = source_.unit_diagonal ? blas::Diagonal::unit : blas::Diagonal::stored;
  if (transposed != source_.diagonal_is_upper) how.op = adjoint ? blas::Transpose::adjoint : blas::Transpose::transpose;
  if (adjoint && transposed && source_.diagonal_is_upper)
    throw UsageError("an adjoint sweep is for factors with one panel array, not for LU");
  blas::trsm<T>(how, stored_block(s), x);
}

template <class T>
void SupernodalTriangle<T>::solve_diagonal(index_t s, DenseView<T> t, DenseView<T> spare) const {
  gather<T>(places(s), t, spare);
  if (inverted_[s]) return multiply_lower<T>(inverse(s), spare, t);
  triangular_solve(false, false, s, spare);
  copy<T>(spare, t);
}

template <class T>
void SupernodalTriangle<T>::solve_diagonal_transposed(bool adjoint, index_t s, DenseView<T> t, DenseView<T> spare) const {
  if (inverted_[s]) {
    multiply_lower_transposed<T>(adjoint, inverse(s), t, spare);
  } else {
    triangular_solve(true, adjoint, s, t);
    copy<T>(t, spare);
  }
  scatter<T>(places(s), spare, t);
}

template <class T>
void SupernodalTriangle<T>::prefetch_supernode(index_t s) const {
  const DenseView<const T> panel = below(s);
  prefetch(panel.data, panel.ld * panel.cols * static_cast<offset_t>(sizeof(T)));
  if (inverted_[s])
    prefetch(inverse_.data() + structure_.block_offset(s), offset_t{panel.cols} * panel.cols * static_cast<offset_t>(sizeof(T)));
}

template <class T>
offset_t SupernodalTriangle<T>::memory_bytes() const {
  return inverse_.bytes() + static_cast<offset_t>(inverted_.size() + has_places_.size());
}

template <class T>
offset_t SupernodalTriangle<T>::predicted_bytes(const SweepStructure& structure, offset_t scalar_bytes) {
  const index_t count = structure.symbolic().num_supernodes();
  return structure.block_offset(count) * scalar_bytes + 2 * offset_t{count};
}

template <class T>
BlockDiagonal<T>::BlockDiagonal(bool hermitian, std::span<const T> d, std::span<const T> d_below)
    : hermitian_(hermitian), diagonal_(d.size()), below_(d.size(), T(0)) {
  for (std::size_t k = 0; k < d.size(); ++k) {
    if (d_below[k] == T(0)) {
      diagonal_[k] = T(1) / d[k];
      continue;
    }
    // [a c'; c b] with c' = c or its conjugate, divided through by |c| as LAPACK's xSYTRS and xHETRS do: no overflow.
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
void BlockDiagonal<T>::solve(index_t first, DenseView<T> values) const {
  for (index_t column = 0; column < values.cols; ++column) {
    T* const x = values.column(column);
    for (index_t row = 0; row < values.rows; ++row) {
      const T below = below_[first + row];
      if (below == T(0)) {
        x[row] *= diagonal_[first + row];
        continue;
      }
      const T upper = x[row], lower = x[row + 1];
      x[row] = diagonal_[first + row] * upper + (hermitian_ ? conjugate(below) : below) * lower;
      x[row + 1] = below * upper + diagonal_[first + row + 1] * lower;
      ++row;
    }
  }
}

template <class T>
offset_t BlockDiagonal<T>::memory_bytes() const {
  return static_cast<offset_t>((diagonal_.size() + below_.size()) * sizeof(T));
}

#define PALMETTE_INSTANTIATE(T)         \
  template class SupernodalTriangle<T>; \
  template class BlockDiagonal<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::sweep
