// P·A = L·U of one diagonal block: recursive halves by columns down to strips that plain loops finish.
#include <cmath>
#include <numeric>

#include "palmette/blocks/column_kernels.hpp"
#include "palmette/blocks/dense_factor.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

/// Strips up to this width are factored column by column.
constexpr index_t strip_width = 16;

template <class T>
class PartialPivoting {
 public:
  PartialPivoting(real_t<T> tiny, DenseView<T> block, std::span<index_t> place)
      : tiny_(tiny), a_(block), place_(place), width_(block.cols) {
    std::iota(place.begin(), place.end(), index_t(0));
  }

  BlockPivots run() {
    factor_columns(0, width_);
    return std::move(pivots_);
  }

 private:
  DenseView<T> part(index_t row, index_t column, index_t rows, index_t cols) const {
    return {a_.data + row + column * a_.ld, rows, cols, a_.ld};
  }

  /// Factor columns [first, end); all columns before them are finished and applied. Rows are exchanged across
  /// the whole block at once, so nothing has to be exchanged later.
  void factor_columns(index_t first, index_t end) {
    if (end - first <= strip_width) return factor_strip(first, end);
    const index_t middle = first + ((end - first) / 2 + 7) / 8 * 8, rest = end - middle,
                  half = middle - first;
    factor_columns(first, middle);
    solve_panel_columns<T>({blas::Triangle::lower, blas::Transpose::no, blas::Diagonal::unit},
                           part(first, first, half, half), part(first, middle, half, rest));
    subtract_plain<T>(part(middle, first, width_ - middle, half), part(first, middle, half, rest),
                      part(middle, middle, width_ - middle, rest));
    factor_columns(middle, end);
  }

  /// Left-looking: the strip's earlier columns update column j, then its pivot is chosen.
  void factor_strip(index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      T* const column = a_.column(j);
      for (index_t row = first + 1; row < j; ++row)
        for (index_t k = first; k < row; ++k) column[row] -= a_(row, k) * column[k];
      const DenseView<const T> finished = part(j, first, width_ - j, j - first);
      const auto coefficient = [&](index_t k, int) { return -column[first + k]; };
      if (j > first) kernels::multiply_columns<T, 1>(true, finished, coefficient, column + j, a_.ld);
      bring_pivot(j);
      divide_by_pivot(j);
    }
  }

  void bring_pivot(index_t j) {
    const T* const column = a_.column(j);
    index_t best = j;
    for (index_t row = j + 1; row < width_; ++row)
      if (cheap_modulus(column[row]) > cheap_modulus(column[best])) best = row;
    if (best == j) return;
    std::swap(place_[j], place_[best]);
    pivots_.odd_permutation = !pivots_.odd_permutation;
    for (index_t k = 0; k < width_; ++k) std::swap(a_(j, k), a_(best, k));
  }

  void divide_by_pivot(index_t j) {
    T* const column = a_.column(j);
    const real_t<T> modulus = std::abs(column[j]);
    pivots_.count(modulus);
    if (modulus < tiny_) {
      const std::complex<double> before(column[j]);
      column[j] = modulus > 0 ? column[j] * (tiny_ / modulus) : T(tiny_);
      pivots_.replaced(j, std::complex<double>(column[j]) - before, modulus == 0);
    }
    const T inverse = T(1) / column[j];
    for (index_t row = j + 1; row < width_; ++row) column[row] *= inverse;
  }

  real_t<T> tiny_;
  DenseView<T> a_;
  std::span<index_t> place_;
  index_t width_;
  BlockPivots pivots_;
};

}  // namespace

template <class T>
BlockPivots factor_lu(real_t<T> tiny, DenseView<T> block, std::span<index_t> place) {
  return PartialPivoting<T>(tiny, block, place).run();
}

#define PALMETTE_INSTANTIATE(T) \
  template BlockPivots factor_lu<T>(real_t<T>, DenseView<T>, std::span<index_t>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
